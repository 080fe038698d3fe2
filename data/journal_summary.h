// SPDX-License-Identifier: MIT
// What waits in the journal of a sweep (sweep_store.h), told without locking or changing it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace midscope {

struct JournalSummary {
  std::string plan_json;       // "" where it holds none
  std::set<int64_t> finished;  // samples
  std::set<int64_t> failed;
  int64_t torn_bytes = 0;  // at its end, of an entry that was not written whole
};

// Whether a file begins as a journal does.
bool IsJournal(const std::string& path);

// The file that the journal of this name belongs to: its name without ".journal".
std::string FileOfJournal(const std::string& path);

// Throws Error (failure) for a file that is no journal or holds entries that can't be read.
JournalSummary SummariseJournal(const std::string& path);

}  // namespace midscope
