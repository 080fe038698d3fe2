// SPDX-License-Identifier: MIT
// Words of the benchmarks' arguments.
#pragma once

#include <string>

#include "core/compute/arithmetic.h"
#include "kernels/types.h"

namespace midscope {

// "stored" or "expanded"; anything else is auto.
inline WeightStorage StorageOf(const std::string& word) {
  if (word == "stored") return WeightStorage::kStored;
  return word == "expanded" ? WeightStorage::kExpanded : WeightStorage::kAuto;
}

// "bfloat16" or "float16"; anything else is float32.
inline kernels::Dtype DtypeOf(const std::string& word) {
  if (word == "bfloat16") return kernels::Dtype::kBFloat16;
  return word == "float16" ? kernels::Dtype::kFloat16 : kernels::Dtype::kFloat32;
}

}  // namespace midscope
