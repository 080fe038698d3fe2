// SPDX-License-Identifier: MIT
// The samples of a file that a sweep wrote.
#pragma once

#include "data/store/record_reader.h"
#include "probes/sweep/sweep.h"

namespace midscope {

// Whether a `sweep` of this program wrote the file, with samples in it.
bool IsStoredSweep(const RunReader& reader);

// The samples' outcomes, without large arrays, the failures and the tests. Throws Error (failure)
// for a damaged file.
SweepResult ReadStoredResult(const RunReader& reader);

// Those of a file's summaries that AnalyseSweep takes tests from.
std::vector<Record> ReadTests(const RunReader& reader);

}  // namespace midscope
