// SPDX-License-Identifier: MIT
// The samples of a file that a sweep wrote.
#pragma once

#include "data/store/record_reader.h"
#include "probes/sweep/sweep.h"

namespace midscope {

// Whether a `sweep` of this program wrote the file, with samples in it.
bool IsStoredSweep(const RunReader& reader);

// The samples' outcomes, without large arrays, and the failures. Throws Error (failure) for a
// damaged file.
SweepResult ReadStoredResult(const RunReader& reader);

}  // namespace midscope
