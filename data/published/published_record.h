// SPDX-License-Identifier: MIT
// Makes a record of the lines of a published table, for plots, tables and results files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"
#include "data/published/published_tables.h"

namespace midscope {

inline constexpr const char* kPublishedRecord = "published_reference";

// Returns the tables that have accuracy by place for a task of the same kind ("kv:pairs=10": every
// table with a kv task), in the order of PublishedTables().
std::vector<const PublishedTable*> PublishedTablesFor(std::string_view task);

// Converts place `place` among `from` pieces to a rank among `to` pieces: at the same relative
// distance between the first and the last. Returns `place` itself if `from` or `to` is unknown (0)
// or 1.
double SamePlace(int64_t place, int64_t from, int64_t to);

// Returns record published_reference with lines of one table, for a run with `pieces` pieces (0:
// unknown). Axis `line` has the rows' labels. Arrays: accuracy (share of samples, 0 to 1; NaN for
// none), published_place (1-based, among the published pieces), place (converted by SamePlace to
// the run's pieces), note (known errors; "" for none) [line, point]; setting (term of an
// intervention; "" if this program has none for it), pieces (of the published task), samples (per
// number; 0: not stated) [line]. Attributes: table, title, source; task and task_pieces of the run.
// Lines with fewer places are padded with NaN, -1 and "".
Record PublishedRecord(const std::vector<PublishedLine>& lines, std::string_view task,
                       int64_t pieces);

}  // namespace midscope
