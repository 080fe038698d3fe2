// SPDX-License-Identifier: MIT
// The files of the processes ("ranks") that share a sweep, beside its file run.h5: each writes a
// part of its own, run.h5.rank0, run.h5.rank1, ..., with a journal while it grows. When all are
// done, run.h5 is written over the parts (sweep_virtual.h), which copies no large array; from then
// on they never change: the ranks of a later job use the next numbers. Where run.h5 needs none of
// the parts, they are removed.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/unfinished_files.h"
#include "data/sweep/sweep_merge.h"

namespace midscope {

// The file of a sweep, its expected contents, and the calling process.
struct SharedSweep {
  std::string path;
  std::string plan_json;
  Provenance provenance;  // for parts that were cut off before they had one
  std::function<std::vector<Record>(const SweepMerge& merge)> summaries;
};

// The results of earlier jobs.
struct EarlierParts {
  int64_t next = 0;            // number of the next part
  std::set<int64_t> finished;  // samples
};

// Merges the journals of all existing parts, including run.h5 itself where one process wrote it (it
// is kept until JoinRankParts replaces it). Throws Error: as SweepMerge does, and (failure) if the
// plan differs from theirs in more than the number of samples.
EarlierParts SettleRankParts(const SharedSweep& sweep);

// Writes run.h5 over the parts, which have no journals. Throws Error in the same cases as
// SweepMerge.
void JoinRankParts(const SharedSweep& sweep);

// Copies run.h5 and the parts, including a killed job's journals, into a complete run.h5, for one
// process to continue. No effect without parts. Throws in the same cases as SettleRankParts.
void FoldRankParts(const SharedSweep& sweep);

}  // namespace midscope
