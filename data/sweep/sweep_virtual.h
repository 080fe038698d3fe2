// SPDX-License-Identifier: MIT
// Merges the files of several sweeps without copying large arrays: the merged file refers to them
// (HDF5's virtual data sets).
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_merge.h"

namespace midscope {

// Writes the same file as merge.Write(), but only refers to those sample arrays in the input files
// that have text, a ragged axis or more than kLargestWrittenBytes per sample. The inputs must be in
// the folder of `path`; to read the file, they must be present and unchanged (RunReader checks
// them). Returns whether the file refers to any input. Throws Error: (usage) if an input has
// samples in its journal or is itself a virtual file, (failure) if another program has changed an
// input.
bool WriteVirtualSweep(const std::string& path, const SweepMerge& merge,
                       const Provenance& provenance, const std::vector<Record>& extra);

}  // namespace midscope
