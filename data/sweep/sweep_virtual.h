// SPDX-License-Identifier: MIT
// Merges the files of several sweeps without copying large arrays: HDF5's virtual data sets refer
// to them.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_merge.h"

namespace midscope {

// Writes the same file as merge.Write(), but leaves those arrays of the samples in the inputs that
// have text, a ragged axis or more than kLargestWrittenBytes per sample. The inputs must be in the
// folder of `path`; to read the file, they must be present and unchanged (RunReader checks them).
// Returns whether any array stays in the inputs. Throws Error: (usage) if an input has samples in
// its journal or is itself a virtual file, (failure) if another program has changed an input.
bool WriteVirtualSweep(const std::string& path, const SweepMerge& merge,
                       const Provenance& provenance, const std::vector<Record>& extra);

}  // namespace midscope
