// SPDX-License-Identifier: MIT
// The files of data/published as texts, by name. Internal to data/.
#pragma once

#include <map>
#include <string>

namespace midscope {

const std::map<std::string, std::string>& PublishedFiles();

}  // namespace midscope
