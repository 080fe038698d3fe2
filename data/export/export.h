// SPDX-License-Identifier: MIT
// Exports records for other programs: CSV, JSON and control vectors.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/formats/control_vector_file.h"

namespace midscope {

// Writes a record as CSV. If it has two or more arrays and all have the same single axis, writes a
// table: header "AXIS,ARRAY...", one row per index. Otherwise uses the long form, one row per
// element: header "array,AXIS...,value" with all axes that arrays of the record use. The cell of an
// axis contains the axis label of the element, or the axis value if the axis has no labels; it is
// empty if the array lacks the axis. Cells are quoted as in RFC 4180. NaN is an empty cell. Numbers
// are written in the shortest form that parses to the same value.
void WriteCsv(const Record& record, std::ostream& out);

// Writes {"provenance": {...}, "records": [{"name", "attributes", "signal", "axes": [...],
// "arrays": [{"name", "axes", "shape", "unit", "description", "data": nested lists}]}]}. NaN and
// infinities become null. `more`: text of further members of that object: `"rows": [...]`.
void WriteJson(const std::vector<Record>& records, const Provenance& provenance, std::ostream& out,
               const std::string& more = "");

// Returns the control vector in the record's only array, [layer, channel]; further axes of size 1
// are ignored. The row of layer N is added after block N, counted as in
// core/formats/control_vector_file.h; layer 0 is omitted, because llama.cpp accepts no direction
// there. Throws Error (usage) if the array has another shape, is not floating-point or contains a
// number that is not finite.
ControlVector ControlVectorOf(const Record& record, const std::string& model_hint);

}  // namespace midscope
