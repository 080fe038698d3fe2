// SPDX-License-Identifier: MIT
// Rotary tables with their numbers computed, for tests.
#pragma once

#include <memory>

#include "core/compute/rotary_cache.h"

namespace midscope::test {

inline std::shared_ptr<const RotaryCache::Table> FilledTable(RotaryCache& cache,
                                                             const RotaryAngles& angles,
                                                             int64_t rows) {
  auto table = cache.Reserve(angles, rows);
  table->Fill(kernels::SerialExecutor());
  return table;
}

}  // namespace midscope::test
