// SPDX-License-Identifier: MIT
// Reads the hub's listing of a model or a data set, and chooses the files that Midscope needs. The
// listing is untrusted: names and digests become parts of paths, so they are checked first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hashes.h"
#include "core/base/job.h"

namespace midscope {

// The kind of a repository on the hub. A model and a data set may have the same name ORG/NAME.
enum class HubKind { kModel, kData };

struct HubFile {
  std::string name;  // relative to the repository's folder: "config.json", "gguf/model.gguf"
  int64_t bytes = 0;
  std::string hash;  // hexadecimal
  ContentHashKind hash_kind = ContentHashKind::kSha256;
};

// Returns the commit, 40 hexadecimal digits, from the hub's description of a revision ({"sha":
// ...}). Throws Error.
std::string ReadCommit(std::string_view json, const std::string& thing);

// Adds the files of a page of the hub's tree: [{"type": "file", "path", "size", "oid", "lfs":
// {"oid", "size"}}, ...]. Throws Error if the text has another form, for a name outside the folder
// or a duplicate name, and for an invalid digest.
void AddTreePage(std::string_view json, const std::string& thing, std::vector<HubFile>* files);

// Returns the URL of the next page (rel="next") from a Link header; "" if there is none.
std::string NextPage(std::string_view link_header);

struct HubChoice {
  std::vector<HubFile> files;
  // The index file, whose shards must be fetched too; "" if the weights have no shards.
  std::string index;
};

// Chooses the files of a model. Without patterns: the configuration, the tokenizer with its chat
// template, and the weights: the safetensors, else pytorch_model*.bin, else the only GGUF model.
// With patterns (`*` matches anything, including `/`): the files that match any of them. For a
// split GGUF model, all shards are chosen. Other pickled files are never chosen, which is logged.
// Throws Error (usage) if no file is chosen, or if there are several GGUF models (lists their
// names).
HubChoice ChooseFiles(const std::vector<HubFile>& files, const std::vector<std::string>& include,
                      const std::string& thing, const JobContext& context);

// Chooses the files of a data set. Without patterns: the formats that tasks read, JSON lines, JSON,
// CSV and plain text (.jsonl, .jsonl.gz, .json, .csv, .txt), but no descriptions of the data set.
// Throws Error (usage) if there are none; its remedy covers Parquet files (it names the script that
// converts them) and archives.
HubChoice ChooseDataFiles(const std::vector<HubFile>& files,
                          const std::vector<std::string>& include, const std::string& thing,
                          const JobContext& context);

// Returns the files with these names. Throws Error if one does not exist.
std::vector<HubFile> FindFiles(const std::vector<HubFile>& files,
                               const std::vector<std::string>& names, const std::string& thing);

// Returns "540.1 MB" or "12 bytes".
std::string BytesText(int64_t bytes);

}  // namespace midscope
