// SPDX-License-Identifier: MIT
// Merges several files of sweeps without copying large arrays: HDF5's virtual data sets refer to
// them.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_merge.h"

namespace midscope {

// Writes the same as merge.Write(), except those arrays of the samples that are text, over a ragged
// axis or over kLargestWrittenBytes per sample: they stay in the inputs, which must be in the
// folder of `path`. Readers of such a file need the unchanged inputs (RunReader checks them).
// Returns whether any array stays in the inputs. Throws Error: (usage) for an input that can't be
// referred to, because some of its samples are in its journal or it is a virtual file itself,
// (failure) for one that another program has changed.
bool WriteVirtualSweep(const std::string& path, const SweepMerge& merge,
                       const Provenance& provenance, const std::vector<Record>& extra);

}  // namespace midscope
