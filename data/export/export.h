// SPDX-License-Identifier: MIT
// Records as text for other programs: CSV and JSON.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// A record of several arrays that are all over one and the same axis is a table: header
// "AXIS,ARRAY...", one row per index. Every other record is in long form, one row per element:
// header "array,AXIS...,value" with all axes of the record that its arrays use; a cell is the label
// where the axis has labels, its value otherwise, and empty if the array lacks the axis. Quoted as
// in RFC 4180. NaN is an empty cell. Numbers in the shortest form that parses to the same value.
void WriteCsv(const Record& record, std::ostream& out);

// {"provenance": {...}, "records": [{"name", "attributes", "signal", "axes": [...], "arrays":
// [{"name", "axes", "shape", "unit", "description", "data": nested lists}]}]}. NaN and infinities
// are null.
void WriteJson(const std::vector<Record>& records, const Provenance& provenance, std::ostream& out);

}  // namespace midscope
