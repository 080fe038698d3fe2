// SPDX-License-Identifier: MIT
// Several files of sweeps as one that copies nothing large: HDF5's virtual data sets point into
// them.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_merge.h"

namespace midscope {

// Writes what merge.Write() would, but for those arrays of the samples that are of text, over a
// ragged axis or over kLargestWrittenBytes a sample: they stay in the inputs, which must lie in the
// folder of `path`. Readers of such a file need the inputs as they are now (RunReader
// looks). Returns whether anything stays in the inputs. Throws Error: (usage) for an input that
// can't be pointed into, as samples of it wait in its journal or it is a virtual file itself,
// (failure) for one that another program has changed.
bool WriteVirtualSweep(const std::string& path, const SweepMerge& merge,
                       const Provenance& provenance, const std::vector<Record>& extra);

}  // namespace midscope
