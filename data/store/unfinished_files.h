// SPDX-License-Identifier: MIT
// Names of the files beside a running sweep's file: its journal, and the parts of the processes
// ("ranks") that share the sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// A journal's first bytes, the size of its head (the mark and its writer's name, before the
// entries), and the suffix that it adds to the name of the sweep's file.
inline constexpr std::string_view kJournalMark = "MIDSJNL1";
inline constexpr size_t kJournalHeadBytes = 128;
inline constexpr const char* kJournalEnding = ".journal";

// Returns "run.h5.journal", the file of samples that are not yet in the file `path` of the sweep.
std::string JournalPath(const std::string& path);

// Whether the sweep `path` has a journal with entries, or another program's file of the journal's
// name. A process that was killed before its first sample leaves a journal without entries.
bool HasJournal(const std::string& path);

// Whether the file begins with kJournalMark.
bool IsJournal(const std::string& path);

// Whether these may be the first bytes of a journal, even of a truncated one: kJournalMark or a
// prefix of it.
bool BeginsJournal(std::string_view bytes);

// Returns the sweep's file for the journal `path`: the name without ".journal".
std::string FileOfJournal(const std::string& path);

// Returns "run.h5.rank3".
std::string RankPath(const std::string& path, int64_t number);

// Paths of the parts beside `path` that have a file or a journal, ordered by number.
std::vector<std::string> RankParts(const std::string& path);

// Numbers of these parts.
std::set<int64_t> RankNumbers(const std::string& path);

// Removes these parts and their journals.
void RemoveRankParts(const std::string& path);

}  // namespace midscope
