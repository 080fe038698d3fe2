// SPDX-License-Identifier: MIT
#include "core/formats/text_writer.h"

#include <fstream>
#include <system_error>

#include "core/base/error.h"

namespace midscope {

void MakeFolder(const std::filesystem::path& folder, const std::string& remedy) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Failure(folder.string(), "the folder cannot be made: " + failed.message(), remedy);
}

void WriteTextAt(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path partial = path.string() + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(partial, path, failed);
  if (file && !failed) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw Failure(path.string(), "it cannot be written",
                "Check the folder's permissions and the free space");
}

}  // namespace midscope
