// SPDX-License-Identifier: MIT
// A temporary folder that only this user can read.
#pragma once

#include <filesystem>
#include <string>

namespace midscope {

// Makes the folder, and deletes it with its files when destroyed.
class PrivateFolder {
 public:
  // Makes a folder in `parent` whose name begins with `name`. Throws Error (failure) if it cannot
  // be created.
  explicit PrivateFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path(),
      const std::string& name = "midscope-");
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  // Returns the path of a file called `name` in the folder.
  std::string File(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  // Keeps the folder and its files when this object is destroyed.
  void Keep() { path_.clear(); }

 private:
  std::filesystem::path path_;
};

}  // namespace midscope
