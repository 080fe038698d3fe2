// SPDX-License-Identifier: MIT
// What the processes ("ranks") that share a sweep keep beside its file run.h5: each a part of its
// own, run.h5.rank0, run.h5.rank1, ..., with a journal while it grows. When all are done, run.h5 is
// written over the parts (sweep_virtual.h), which copies no large array, and from then on they
// never change: the ranks of a job that goes on take the next numbers. Where nothing in run.h5 is
// left in the parts they are removed, and run.h5 stands alone.
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

// The file of a sweep, what is to be in it, and who asks.
struct SharedSweep {
  std::string path;
  std::string plan_json;
  Provenance provenance;  // for parts that were cut off before they had one
  std::function<std::vector<Record>(const SweepMerge& merge)> summaries;
};

// What earlier jobs left.
struct EarlierParts {
  int64_t next = 0;            // number of the next part
  std::set<int64_t> finished;  // samples
};

// Makes parts without journals of all that lies there, run.h5 itself included where one process
// wrote it (it stays in place until JoinRankParts replaces it). Throws Error: as SweepMerge does,
// and (failure) where the plan differs from theirs in more than the number of samples.
EarlierParts SettleRankParts(const SharedSweep& sweep);

// Writes run.h5 over the parts, which have no journals. Throws Error as SweepMerge does.
void JoinRankParts(const SharedSweep& sweep);

// Folds run.h5 and the parts into a run.h5 that stands alone, for one process to go on in; a killed
// job's journals too. Nothing happens where there are no parts. Throws as SettleRankParts does.
void FoldRankParts(const SharedSweep& sweep);

}  // namespace midscope
