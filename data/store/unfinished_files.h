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

// The first bytes of a journal; the size of its header (first bytes and name of the writing
// process), in bytes; and the suffix that the journal adds to the file name of the sweep.
inline constexpr std::string_view kJournalMark = "MIDSJNL1";
inline constexpr size_t kJournalHeadBytes = 128;
inline constexpr const char* kJournalEnding = ".journal";

// Returns "run.h5.journal" for "run.h5": the file of samples that are not yet in the sweep's file.
std::string JournalPath(const std::string& path);

// Whether the sweep's file `path` has a journal with entries (a process that was killed before its
// first sample leaves an empty one), or there is a foreign file of the journal's name.
bool HasJournal(const std::string& path);

// Whether the file begins with kJournalMark, and so is a sweep's journal.
bool IsJournal(const std::string& path);

// Whether `bytes` may be the first bytes of a journal, even of a truncated one: they are
// kJournalMark or a prefix of it.
bool BeginsJournal(std::string_view bytes);

// Returns the sweep's file for the journal `path`: the name without ".journal".
std::string FileOfJournal(const std::string& path);

// Returns the file name of part 3 of the sweep "run.h5": "run.h5.rank3".
std::string RankPath(const std::string& path, int64_t number);

// Returns the paths of all parts of the sweep `path` that have a file or a journal, by number.
std::vector<std::string> RankParts(const std::string& path);

// Returns the numbers of these parts: 3 for "run.h5.rank3".
std::set<int64_t> RankNumbers(const std::string& path);

// Removes all parts of the sweep `path` and their journals.
void RemoveRankParts(const std::string& path);

}  // namespace midscope
