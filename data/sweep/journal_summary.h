// SPDX-License-Identifier: MIT
// The contents of a sweep's journal (sweep_store.h), read without locking or changing it.
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
  int64_t torn_bytes = 0;  // of an incomplete last entry
};

// Throws Error (failure) for a file that is not a journal or has unreadable entries.
JournalSummary SummariseJournal(const std::string& path);

}  // namespace midscope
