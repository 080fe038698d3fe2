// SPDX-License-Identifier: MIT
#include "core/hub/model_cache.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "core/base/environment.h"
#include "core/base/error.h"

namespace midscope {
namespace {

bool IsPlain(const std::string& part) {
  if (part.empty() || part.size() > 96 || part.starts_with('.') || part.starts_with('-')) {
    return false;
  }
  return std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

// Returns the commit of a fetched revision: the first line of refs/REVISION. Empty if the file does
// not exist or the line is not a plain name (it becomes part of a path).
std::string CommitOf(const std::filesystem::path& repository, const std::string& revision) {
  std::ifstream file(repository / "refs" / revision);
  std::string commit(128, '\0');
  file.read(commit.data(), static_cast<std::streamsize>(commit.size()));
  commit.resize(static_cast<size_t>(file.gcount()));
  commit = commit.substr(0, commit.find_first_of("\r\n"));
  return IsPlain(commit) ? commit : "";
}

// Returns the folder of a snapshot; an empty path if there is none.
std::filesystem::path FindSnapshot(const std::filesystem::path& repository,
                                   const std::string& revision) {
  std::error_code error;
  const std::filesystem::path snapshots = repository / "snapshots";
  for (const std::string& commit : {CommitOf(repository, revision), revision}) {
    if (IsPlain(commit) && std::filesystem::is_directory(snapshots / commit, error)) {
      return snapshots / commit;
    }
  }
  return {};
}

}  // namespace

std::filesystem::path HuggingFaceCache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const std::string cache = Environment(name); !cache.empty()) return cache;
  }
  if (const std::string home = Environment("HF_HOME"); !home.empty()) {
    return std::filesystem::path(home) / "hub";
  }
  return UserCacheFolder() / "huggingface" / "hub";
}

bool IsModelName(const std::string& model) {
  const size_t slash = model.find('/');
  if (slash == std::string::npos) return false;
  return IsPlain(model.substr(0, slash)) && IsPlain(model.substr(slash + 1));
}

bool IsRevisionName(const std::string& revision) {
  size_t begin = 0;
  while (begin <= revision.size()) {
    const size_t end = std::min(revision.find('/', begin), revision.size());
    if (!IsPlain(revision.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

bool IsCachedModelName(const std::string& model) {
  const size_t at = model.find('@');
  if (at == std::string::npos) return IsModelName(model);
  return IsModelName(model.substr(0, at)) && IsRevisionName(model.substr(at + 1));
}

std::optional<std::filesystem::path> FindCachedModel(const std::string& name) {
  if (!IsCachedModelName(name)) return std::nullopt;
  const std::string model = name.substr(0, name.find('@'));
  const size_t slash = model.find('/');
  const std::filesystem::path repository =
      HuggingFaceCache() / ("models--" + model.substr(0, slash) + "--" + model.substr(slash + 1));
  std::error_code error;
  if (!std::filesystem::is_directory(repository, error)) return std::nullopt;
  const std::filesystem::path snapshots = repository / "snapshots";
  const std::string revision = model.size() < name.size() ? name.substr(model.size() + 1) : "main";
  if (const auto snapshot = FindSnapshot(repository, revision); !snapshot.empty()) return snapshot;
  if (model.size() < name.size()) {
    throw Failure(name, repository.string() + " has no snapshot of that revision",
                  "Fetch it: midscope fetch " + model + " --revision " + revision);
  }
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(snapshots, error)) {
    if (entry.is_directory(error)) found.push_back(entry.path());
  }
  if (found.size() == 1) return found[0];
  throw Failure(model,
                repository.string() + (found.empty() ? " holds no snapshot of it"
                                                     : " holds several snapshots of it and does "
                                                       "not state which is main"),
                "Name the snapshot's folder, or fetch the model again: midscope fetch " + model);
}

}  // namespace midscope
