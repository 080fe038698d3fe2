// SPDX-License-Identifier: MIT
// The word of a benchmark's arguments for how weights are kept.
#pragma once

#include <string>

#include "core/compute/weight_storage.h"

namespace midscope {

// "stored" or "expanded"; anything else is auto.
inline WeightStorage StorageOf(const std::string& word) {
  if (word == "stored") return WeightStorage::kStored;
  return word == "expanded" ? WeightStorage::kExpanded : WeightStorage::kAuto;
}

}  // namespace midscope
