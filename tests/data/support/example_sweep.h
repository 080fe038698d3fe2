// SPDX-License-Identifier: MIT
// Sweep files that several tests of the store use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sweep/sweep_store.h"
#include "tests/data/support/example_records.h"

namespace midscope {

// Writes a finished sweep of this plan with the given samples of the example.
inline void WriteSweep(const std::string& path, const std::string& plan,
                       const std::vector<int64_t>& samples) {
  SweepStore store = SweepStore::Create(path, plan, ExampleProvenance());
  for (const int64_t sample : samples) store.Append(sample, ExampleSample(sample));
  store.Finish();
}

}  // namespace midscope
