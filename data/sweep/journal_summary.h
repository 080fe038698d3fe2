// SPDX-License-Identifier: MIT
// What waits in the journal of a sweep (sweep_store.h), told without locking or changing it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "data/store/unfinished_files.h"

namespace midscope {

struct JournalSummary {
  std::string plan_json;       // "" where it holds none
  std::set<int64_t> finished;  // samples
  std::set<int64_t> failed;
  int64_t torn_bytes = 0;  // at its end, of an entry that was not written whole
};

// Throws Error (failure) for a file that is no journal or holds entries that can't be read.
JournalSummary SummariseJournal(const std::string& path);

}  // namespace midscope
