// SPDX-License-Identifier: MIT
#include "probes/base/private_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace midscope {

namespace fs = std::filesystem;

PrivateFolder::PrivateFolder(const fs::path& parent, const std::string& name) {
  std::string path = (parent / (name + "XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw Failure(parent.string(),
                  std::string("no folder can be created in it: ") + std::strerror(errno));
  }
  path_ = path;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace midscope
