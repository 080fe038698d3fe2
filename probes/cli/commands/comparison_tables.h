// SPDX-License-Identifier: MIT
// Formats the comparison of results files (file_comparison.h), for `compare` and `report`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/store/record_reader.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {

inline constexpr size_t kMostLetters = 26;
// Returns the letter that names a file in the tables: "A" for file 0, to "Z".
std::string FileLetter(size_t file);

// Returns a table of the fields of plan and provenance in which the files differ.
Printout DifferentFieldsTable(const std::vector<RunReader>& readers);

// Returns a table of the outcome of all files by setting and gold place, and the names of files
// with other tasks. `places`: the places to compare; "": all (CompareOutcomes). Throws Error
// (usage) if a file lacks a chosen place.
Printout ComparedOutcomesTable(const std::vector<RunReader>& readers, const std::string& places);

}  // namespace midscope::cli
