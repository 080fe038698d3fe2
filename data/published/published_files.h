// SPDX-License-Identifier: MIT
// Returns the contents of the files in data/published, by file name. Internal to data/.
#pragma once

#include <map>
#include <string>

namespace midscope {

const std::map<std::string, std::string>& PublishedFiles();

}  // namespace midscope
