// SPDX-License-Identifier: MIT
#include "core/hub/hub_listing.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/formats/folder_weights.h"
#include "core/formats/gguf_file.h"

namespace midscope {
namespace {

constexpr int64_t kMaxFileBytes = int64_t{1} << 50;
constexpr size_t kMaxFiles = 10'000;
// Files that the readers of model folders and tokenizers need in addition to the weights.
constexpr std::array<std::string_view, 10> kSmallFiles = {
    "config.json",       "generation_config.json", "tokenizer.json",
    "tokenizer.model",   "tokenizer_config.json",  "special_tokens_map.json",
    "added_tokens.json", "chat_template.jinja",    "chat_template.json",
    "tekken.json"};

// Whether the name is a relative path of ordinary names that stays inside its folder.
bool IsSafeName(const std::string& name) {
  if (name.empty() || name.size() > 1024 || FindInvalidUtf8(name)) return false;
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '\\'; };
  if (std::any_of(name.begin(), name.end(), control)) return false;
  size_t begin = 0;
  while (begin <= name.size()) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    begin = end + 1;
  }
  return true;
}

int64_t ReadSize(const JsonFields& fields) {
  const nlohmann::json& size = fields.Need("size");
  const bool whole = size.is_number_unsigned() && size.get<uint64_t>() <= kMaxFileBytes;
  if (!whole) fields.Fail("has an invalid size");
  return size.get<int64_t>();
}

HubFile ReadFile(const JsonFields& fields) {
  HubFile file;
  file.name = fields.Text("path");
  if (!IsSafeName(file.name)) {
    throw Failure(fields.thing(),
                  "it lists a file named " + Quote(file.name, 120) +
                      ", which could lead out of the model's folder",
                  "Nothing is fetched from this server");
  }
  file.bytes = ReadSize(fields);
  file.hash_kind = ContentHashKind::kGitBlob;
  if (fields.Find("lfs") != nullptr) {
    const JsonFields lfs = fields.Inside("lfs");
    file.hash_kind = ContentHashKind::kSha256;
    file.hash = lfs.Text("oid");
    if (lfs.Find("size") != nullptr) file.bytes = ReadSize(lfs);
  } else {
    file.hash = fields.Text("oid");
  }
  if (!IsContentHash(file.hash, file.hash_kind)) {
    throw Failure(fields.thing(), "it gives " + Quote(file.hash, 80) + " as the digest of " +
                                      Quote(file.name, 120) + ", which is none");
  }
  return file;
}

bool Matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

bool IsPickled(const HubFile& file) {
  return IsPickleName(std::filesystem::path(file.name).filename().string());
}

const HubFile* Find(const std::vector<HubFile>& files, std::string_view name) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const HubFile& f) { return f.name == name; });
  return found == files.end() ? nullptr : &*found;
}

// Returns "a.gguf (12.0 MB), b.gguf (3.4 GB)" for at most twenty files.
std::string ListText(const std::vector<HubFile>& files) {
  constexpr size_t kShown = 20;
  std::string text;
  for (size_t i = 0; i < std::min(files.size(), kShown); ++i) {
    text +=
        (i > 0 ? ", " : "") + DisplayText(files[i].name) + " (" + BytesText(files[i].bytes) + ")";
  }
  if (files.size() > kShown) text += fmt::format(" and {} more", files.size() - kShown);
  return text;
}

void LogPickles(const std::vector<HubFile>& pickles, const JobContext& context) {
  if (pickles.empty()) return;
  context.Warn(
      "not fetched, because Python's pickle format can run any program when other software opens "
      "it, and Midscope reads only pytorch_model*.bin: " +
      ListText(pickles));
}

constexpr const char* kConvert =
    "Look for the same model with safetensors, pytorch_model.bin or as GGUF, or convert it where "
    "you trust it";

// Returns the GGUF files that are a model, or the first shard of one.
std::vector<HubFile> GgufModels(const std::vector<HubFile>& files) {
  std::vector<HubFile> found;
  for (const HubFile& file : files) {
    if (file.name.ends_with(".gguf") && !IsLaterGgufShard(file.name)) found.push_back(file);
  }
  return found;
}

// Adds the other shards of each chosen shard of a split GGUF model.
void AddShards(const std::vector<HubFile>& files, const std::string& thing, HubChoice* choice) {
  const std::vector<HubFile> chosen = choice->files;
  for (const HubFile& file : chosen) {
    const auto name = ParseGgufShardName(file.name);
    if (!name) continue;
    for (int64_t shard = 1; shard <= name->count; ++shard) {
      const HubFile* found = Find(files, name->OfShard(shard));
      if (found == nullptr) {
        throw Failure(thing, "it lacks the file " + Quote(name->OfShard(shard), 120) +
                                 ", a shard of " + Quote(file.name, 120));
      }
      if (Find(choice->files, found->name) == nullptr) choice->files.push_back(*found);
    }
  }
}

// Adds the weights of a folder, or their index. Returns false if there are none.
bool AddWeights(const std::vector<HubFile>& files, HubChoice* choice) {
  for (const WeightNames& names : kWeightNames) {
    const HubFile* single = Find(files, names.single);
    const HubFile* index = single == nullptr ? Find(files, names.index) : nullptr;
    if (single == nullptr && index == nullptr) continue;
    choice->files.push_back(single != nullptr ? *single : *index);
    if (index != nullptr) choice->index = names.index;
    return true;
  }
  return false;
}

HubChoice ChooseByPattern(const std::vector<HubFile>& files,
                          const std::vector<std::string>& include, const std::string& thing,
                          const JobContext& context) {
  HubChoice choice;
  std::vector<HubFile> pickles;
  for (const HubFile& file : files) {
    if (Matches(include, file.name)) (IsPickled(file) ? pickles : choice.files).push_back(file);
  }
  if (!choice.files.empty()) {
    LogPickles(pickles, context);
    AddShards(files, thing, &choice);
    return choice;
  }
  if (!pickles.empty()) {
    throw UsageError("option --include",
                     "it matches only files in Python's pickle format other than "
                     "pytorch_model*.bin, which are never fetched: " +
                         ListText(pickles),
                     kConvert);
  }
  throw UsageError("option --include", "no file of " + thing + " matches",
                   "There are: " + ListText(files));
}

}  // namespace

std::string ReadCommit(std::string_view json, const std::string& thing) {
  const nlohmann::json parsed = ParseJson(json, thing);
  std::string commit = JsonFields(parsed, thing, "").Text("sha");
  if (IsContentHash(commit, ContentHashKind::kGitBlob)) return commit;
  throw Failure(thing, "it gives " + Quote(commit, 80) + " as the commit, which is none");
}

void AddTreePage(std::string_view json, const std::string& thing, std::vector<HubFile>* files) {
  const nlohmann::json parsed = ParseJson(json, thing);
  if (!parsed.is_array()) throw Failure(thing, "it is not a list of files");
  for (const nlohmann::json& entry : parsed) {
    const JsonFields fields(entry, thing, "");
    if (fields.Text("type") != "file") continue;
    HubFile file = ReadFile(fields);
    if (Find(*files, file.name) != nullptr) {
      throw Failure(thing, "it lists " + Quote(file.name, 120) + " twice");
    }
    files->push_back(std::move(file));
    if (files->size() > kMaxFiles) {
      throw Failure(thing, fmt::format("it lists more than {} files", kMaxFiles));
    }
  }
}

std::string NextPage(std::string_view link_header) {
  // Parses a header such as <https://...>; rel="next", <https://...>; rel="last".
  while (true) {
    const size_t open = link_header.find('<');
    const size_t close = link_header.find('>', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return "";
    const size_t end = std::min(link_header.find('<', close), link_header.size());
    const std::string_view rest = link_header.substr(close, end - close);
    if (rest.find("rel=\"next\"") != std::string_view::npos) {
      return std::string(link_header.substr(open + 1, close - open - 1));
    }
    link_header.remove_prefix(end);
  }
}

HubChoice ChooseFiles(const std::vector<HubFile>& files, const std::vector<std::string>& include,
                      const std::string& thing, const JobContext& context) {
  if (!include.empty()) return ChooseByPattern(files, include, thing, context);
  HubChoice choice;
  for (const std::string_view name : kSmallFiles) {
    if (const HubFile* file = Find(files, name)) choice.files.push_back(*file);
  }
  std::vector<HubFile> pickles;
  for (const HubFile& file : files) {
    if (IsPickled(file)) pickles.push_back(file);
  }
  if (!AddWeights(files, &choice)) {
    const std::vector<HubFile> ggufs = GgufModels(files);
    if (ggufs.size() > 1) {
      throw UsageError(thing, "it has several GGUF files: " + ListText(ggufs),
                       "Name one with --include NAME");
    }
    if (ggufs.empty() && !pickles.empty()) {
      throw Failure(thing,
                    "its weights are in Python's pickle format under other names than "
                    "pytorch_model*.bin, which are never fetched: " +
                        ListText(pickles),
                    kConvert);
    }
    if (ggufs.empty()) {
      throw Failure(thing, "it has no weights as safetensors, pytorch_model.bin or GGUF",
                    files.empty() ? "It is empty" : "It has: " + ListText(files));
    }
    choice.files.push_back(ggufs.front());
    AddShards(files, thing, &choice);
  }
  LogPickles(pickles, context);
  return choice;
}

namespace {

bool EndsWithAny(const std::string& name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

// Whether the file is a description of the data set, according to the names that the hub uses.
bool DescribesData(const std::string& name) {
  return EndsWithAny(name, {"dataset_infos.json", "dataset_info.json", "dataset_dict.json",
                            "state.json", "croissant.json", "LICENSE.txt", "requirements.txt"});
}

constexpr const char* kConvertParquet =
    "Fetch what you need with --include, and run data/python/parquet_to_jsonl.py on the folder";

}  // namespace

HubChoice ChooseDataFiles(const std::vector<HubFile>& files,
                          const std::vector<std::string>& include, const std::string& thing,
                          const JobContext& context) {
  if (!include.empty()) return ChooseByPattern(files, include, thing, context);
  HubChoice choice;
  bool parquet = false;
  bool archive = false;
  for (const HubFile& file : files) {
    parquet = parquet || file.name.ends_with(".parquet");
    archive = archive || EndsWithAny(file.name, {".zip", ".tar.gz", ".tgz", ".tar"});
    const bool read = EndsWithAny(file.name, {".jsonl", ".jsonl.gz", ".json", ".csv", ".txt"});
    if (read && !DescribesData(file.name)) choice.files.push_back(file);
  }
  if (!choice.files.empty()) return choice;
  const std::string there = files.empty() ? "It is empty" : "It has: " + ListText(files);
  if (parquet) {
    throw UsageError(thing, "its data are Parquet alone, which no task reads",
                     std::string(kConvertParquet) + ". " + there);
  }
  if (archive) {
    throw UsageError(thing, "its data are archives alone, which no task reads",
                     "Fetch them with --include, and unpack what you need. " + there);
  }
  throw UsageError(thing, "it has no file .jsonl, .json, .csv or .txt", there);
}

std::vector<HubFile> FindFiles(const std::vector<HubFile>& files,
                               const std::vector<std::string>& names, const std::string& thing) {
  std::vector<HubFile> found;
  for (const std::string& name : names) {
    const HubFile* file = Find(files, name);
    if (file == nullptr) {
      throw Failure(thing, "its index names the file " + Quote(name, 120) + ", which it lacks");
    }
    found.push_back(*file);
  }
  return found;
}

std::string BytesText(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace midscope
