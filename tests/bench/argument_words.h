// SPDX-License-Identifier: MIT
// Parses words in the benchmarks' arguments.
#pragma once

#include <string>

#include "core/compute/arithmetic.h"
#include "kernels/types.h"

namespace midscope {

// Parses "stored" or "expanded"; any other word means auto.
inline WeightStorage StorageOf(const std::string& word) {
  if (word == "stored") return WeightStorage::kStored;
  return word == "expanded" ? WeightStorage::kExpanded : WeightStorage::kAuto;
}

// Parses "bfloat16" or "float16"; any other word means float32.
inline kernels::Dtype DtypeOf(const std::string& word) {
  if (word == "bfloat16") return kernels::Dtype::kBFloat16;
  return word == "float16" ? kernels::Dtype::kFloat16 : kernels::Dtype::kFloat32;
}

}  // namespace midscope
