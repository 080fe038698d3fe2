// SPDX-License-Identifier: MIT
// Names of the files that a sweep keeps beside its own while it runs: its journal, and the parts of
// the processes ("ranks") that share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// A journal's first bytes, the bytes before its entries (the mark and its writer's name), and its
// suffix to the name of the sweep's file.
inline constexpr std::string_view kJournalMark = "MIDSJNL1";
inline constexpr size_t kJournalHeadBytes = 128;
inline constexpr const char* kJournalEnding = ".journal";

// "run.h5.journal", with samples that are not yet in the file of the sweep `path`.
std::string JournalPath(const std::string& path);

// Whether the sweep `path` has a journal with entries, or a foreign file under its name. A process
// that was killed before its first sample leaves a journal without entries.
bool HasJournal(const std::string& path);

// Whether a file has a journal's first bytes.
bool IsJournal(const std::string& path);

// Whether a journal that was cut off may have these first bytes: its mark, or a part of that.
bool BeginsJournal(std::string_view bytes);

// The file of the journal with this name: without ".journal".
std::string FileOfJournal(const std::string& path);

// "run.h5.rank3"
std::string RankPath(const std::string& path, int64_t number);

// The parts beside `path`, with a file or a journal, by their numbers.
std::vector<std::string> RankParts(const std::string& path);

// Their numbers.
std::set<int64_t> RankNumbers(const std::string& path);

// Removes the parts and their journals.
void RemoveRankParts(const std::string& path);

}  // namespace midscope
