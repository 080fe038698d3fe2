// SPDX-License-Identifier: MIT
// What a model hub says that a model consists of, and which of its files Midscope wants. All of it
// comes from outside: names and digests become parts of paths, and are checked before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/content_hash.h"
#include "core/base/job.h"

namespace midscope {

struct HubFile {
  std::string name;  // "config.json", "gguf/model.gguf": relative, leads nowhere else
  int64_t bytes = 0;
  std::string hash;  // hexadecimal
  ContentHashKind hash_kind = ContentHashKind::kSha256;
};

// The commit, 40 hexadecimal digits, in what the hub tells of a revision ({"sha": ...}). Throws
// Error.
std::string ReadCommit(std::string_view json, const std::string& thing);

// Adds the files of a page of the hub's tree: [{"type": "file", "path", "size", "oid", "lfs":
// {"oid", "size"}}, ...]. Throws Error: no such list; a name that leads elsewhere or stands twice;
// a digest that is none.
void AddTreePage(std::string_view json, const std::string& thing, std::vector<HubFile>* files);

// The target of rel="next" in a Link header; "" where there is none.
std::string NextPage(std::string_view link_header);

struct HubChoice {
  std::vector<HubFile> files;
  // Its shards are to be fetched, too, once it has been; "" where the weights are no shards.
  std::string index;
};

// Without patterns: the configuration, the tokenizer with its chat template, and the weights: the
// safetensors, else the only .gguf file. With patterns (`*` matches anything, also `/`): the files
// that match one of them. Pickled weights are never chosen, which the log says. Throws Error
// (usage) where there is nothing to choose, or several .gguf files: it names what there is.
HubChoice ChooseFiles(const std::vector<HubFile>& files, const std::vector<std::string>& include,
                      const std::string& thing, const JobContext& context);

// The files of these names. Throws Error for one that is not there.
std::vector<HubFile> FindFiles(const std::vector<HubFile>& files,
                               const std::vector<std::string>& names, const std::string& thing);

// "540.1 MB", "12 bytes".
std::string BytesText(int64_t bytes);

}  // namespace midscope
