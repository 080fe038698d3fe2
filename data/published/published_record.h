// SPDX-License-Identifier: MIT
// Converts lines of a published table (accuracy by gold position) to a record, for plots and files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"
#include "data/published/published_tables.h"

namespace midscope {

inline constexpr const char* kPublishedRecord = "published_reference";

// Returns the tables with accuracy by gold position for a task of the same kind as `task` (for
// "kv:pairs=10": every table with a kv task), in the order of PublishedTables().
std::vector<const PublishedTable*> PublishedTablesFor(std::string_view task);

// Converts the 1-based rank `place` among `from` text pieces to a rank among `to` pieces at the
// same relative distance from the first and the last piece. Returns `place` itself if `from` or
// `to` is unknown (0) or 1.
double SamePlace(int64_t place, int64_t from, int64_t to);

// Returns record published_reference with lines of one published table, for a run of `task` with
// `pieces` text pieces (0: unknown). Labels of axis `line`: the table's row labels. Arrays:
// accuracy (share of samples, 0 to 1; NaN for none), published_place (1-based, among the published
// pieces), place (converted by SamePlace to the run's pieces), note (known errors; "": none) [line,
// point]; setting (name of the row's intervention; "" if Midscope lacks it), pieces (of the
// published task), samples (behind each accuracy; 0: not stated) [line]. Attributes: table, title,
// source; task and task_pieces of the run. Lines with fewer places are padded with NaN, -1 and "".
Record PublishedRecord(const std::vector<PublishedLine>& lines, std::string_view task,
                       int64_t pieces);

}  // namespace midscope
