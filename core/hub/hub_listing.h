// SPDX-License-Identifier: MIT
// The hub's listing of a model or a data set, and the files of it that Midscope needs. All of it is
// untrusted: names and digests become parts of paths, and are checked first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hashes.h"
#include "core/base/job.h"

namespace midscope {

// The kind of repository ORG/NAME: models and data sets may have the same name.
enum class HubKind { kModel, kData };

struct HubFile {
  std::string name;  // "config.json", "gguf/model.gguf": relative, inside the folder
  int64_t bytes = 0;
  std::string hash;  // hexadecimal
  ContentHashKind hash_kind = ContentHashKind::kSha256;
};

// The commit, 40 hexadecimal digits, from the hub's description of a revision ({"sha": ...}).
// Throws Error.
std::string ReadCommit(std::string_view json, const std::string& thing);

// Adds the files of a page of the hub's tree: [{"type": "file", "path", "size", "oid", "lfs":
// {"oid", "size"}}, ...]. Throws Error: not such a list; a name outside the folder or a duplicate;
// an invalid digest.
void AddTreePage(std::string_view json, const std::string& thing, std::vector<HubFile>* files);

// The target of rel="next" in a Link header; "" where there is none.
std::string NextPage(std::string_view link_header);

struct HubChoice {
  std::vector<HubFile> files;
  // Index file: its shards must be fetched too, once it has been; "" where the weights have no
  // shards.
  std::string index;
};

// Without patterns: the configuration, the tokenizer with its chat template, and the weights: the
// safetensors, else pytorch_model*.bin, else the only GGUF model. With patterns (`*` matches
// anything, also `/`): the files that match one of them. For a split GGUF model, all shards are
// chosen. Other pickled files are never chosen, which is logged. Throws Error (usage) where there
// is nothing to choose, or several GGUF models, with their names.
HubChoice ChooseFiles(const std::vector<HubFile>& files, const std::vector<std::string>& include,
                      const std::string& thing, const JobContext& context);

// The files of a data set. Without patterns: the files that tasks read, JSON lines, JSON, CSV and
// plain text (.jsonl, .jsonl.gz, .json, .csv, .txt), but no description of the set. Throws Error
// (usage) where there are none: Parquet alone, with the script that converts it; zip archives.
HubChoice ChooseDataFiles(const std::vector<HubFile>& files,
                          const std::vector<std::string>& include, const std::string& thing,
                          const JobContext& context);

// The files of these names. Throws Error for one that does not exist.
std::vector<HubFile> FindFiles(const std::vector<HubFile>& files,
                               const std::vector<std::string>& names, const std::string& thing);

// "540.1 MB", "12 bytes".
std::string BytesText(int64_t bytes);

}  // namespace midscope
