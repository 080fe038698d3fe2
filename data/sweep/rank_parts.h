// SPDX-License-Identifier: MIT
// The files of the processes ("ranks") that share a sweep with the file run.h5: each process writes
// a separate part, run.h5.rank0, run.h5.rank1, ..., with a journal while it runs. When all have
// finished, run.h5 is written as a virtual file (sweep_virtual.h) that refers to the large arrays
// of the parts. The parts never change after that: the ranks of a later job use the next numbers.
// Parts that run.h5 does not refer to are removed.
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

// The file of a sweep that several processes share, and what is written to it.
struct SharedSweep {
  std::string path;
  std::string plan_json;
  Provenance provenance;  // used if a part's process ended before writing one
  std::function<std::vector<Record>(const SweepMerge& merge)> summaries;
};

// Summary of the parts (run.h5.rankN) that earlier jobs wrote.
struct EarlierParts {
  int64_t next = 0;            // number N for the next part
  std::set<int64_t> finished;  // samples that the parts contain
};

// Merges the journal of each existing part into the file of the part. A run.h5 that a single
// process wrote becomes a part, too (it is kept until JoinRankParts replaces it). Throws Error as
// SweepMerge does, and Error (failure) if the sweep's plan and a part's plan differ in more than
// the number of samples.
EarlierParts SettleRankParts(const SharedSweep& sweep);

// Writes run.h5 as a virtual file over the parts, which must not have journals. Throws Error as
// SweepMerge does.
void JoinRankParts(const SharedSweep& sweep);

// Copies run.h5 and the parts, including the journals of a killed job, into a complete run.h5, so
// that one process can continue the sweep. No effect without parts. Throws Error as SettleRankParts
// does.
void FoldRankParts(const SharedSweep& sweep);

}  // namespace midscope
