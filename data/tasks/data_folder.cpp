// SPDX-License-Identifier: MIT
#include "data/tasks/data_folder.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"

namespace midscope {

namespace fs = std::filesystem;

std::vector<std::string> DataFiles(const std::string& path,
                                   const std::vector<std::string>& endings) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto entry = fs::directory_iterator(path, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool wanted = std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) {
      return name.ends_with(ending);
    });
    if (wanted) files.push_back(entry->path().string());
  }
  if (error) throw Failure(path, "cannot be read: " + error.message());
  if (files.empty()) throw Failure(path, "the folder must contain a file *" + endings.front());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::pair<size_t, size_t>> RoundRobin(const std::vector<size_t>& sizes) {
  const size_t most = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t item = 0; item < most; ++item) {
    for (size_t set = 0; set < sizes.size(); ++set) {
      if (item < sizes[set]) order.emplace_back(set, item);
    }
  }
  return order;
}

}  // namespace midscope
