// SPDX-License-Identifier: MIT
// Lines of a published table as a record, for plots, tables and results files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"
#include "data/published/published_tables.h"

namespace midscope {

inline constexpr const char* kPublishedRecord = "published_reference";

// The tables that have accuracy by place for a task of that kind ("kv:pairs=10": all with kv), in
// the order of PublishedTables().
std::vector<const PublishedTable*> PublishedTablesFor(std::string_view task);

// The rank among `to` pieces for place `place` of `from` pieces: at the same share of the way from
// the first to the last. `place` itself where a number is unknown (0) or one.
double SamePlace(int64_t place, int64_t from, int64_t to);

// Record published_reference of lines of one table, for a run of `pieces` pieces (0: unknown). Axis
// line has the rows' labels. Arrays: accuracy (share of samples, 0 to 1; NaN for none),
// published_place (1-based, among the published pieces), place (SamePlace among the run's), note
// (known errors; "" for none) [line, point]; setting (term of an intervention, "" for none in this
// program), pieces (of the published task), samples (per number; 0: not stated) [line]. Attributes:
// table, title, source, task and task_pieces (the run's). Lines with fewer places are padded (NaN,
// -1, "").
Record PublishedRecord(const std::vector<PublishedLine>& lines, std::string_view task,
                       int64_t pieces);

}  // namespace midscope
