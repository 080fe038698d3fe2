// SPDX-License-Identifier: MIT
// Reads CSV files (RFC 4180) whose first line names the columns. Internal to data/.
#pragma once

#include <functional>
#include <string>

#include "core/base/json_fields.h"

namespace midscope {

// Calls `item` for each record of the file, as an object with a field for each column. A cell
// becomes a string; a cell whose text is a JSON list or an integer becomes that list or integer; an
// empty cell is omitted from the object. Columns named NAME_1, NAME_2, ... become one field NAME:
// the list of the texts of the non-empty cells, ordered by number. Cells in double quotes may
// contain commas and line ends. fields.thing() returns "FILE, line 3", where the record begins.
//
// Throws Error (failure), which names the file and, where possible, the line, if the file can't be
// read, exceeds 1 GiB, is not UTF-8, has no record, a quote is not closed, a record and the first
// line differ in their number of cells, or a column is named twice or both as NAME and as NAME_1.
void ForEachCsvObject(const std::string& path,
                      const std::function<void(const JsonFields& fields)>& item);

}  // namespace midscope
