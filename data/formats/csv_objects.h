// SPDX-License-Identifier: MIT
// Reads CSV files (RFC 4180) whose first line names the columns. Internal to data/.
#pragma once

#include <functional>
#include <string>

#include "core/base/json_fields.h"

namespace midscope {

// Calls `item` for each record of the file, as an object with a field for each column. A cell is a
// string, except that a cell whose text is a JSON list, or an integer, has that value, and that an
// empty cell is absent. Columns named NAME_1, NAME_2, ... become one list NAME of the texts of
// their cells that are not empty, ordered by number. Cells in double quotes may contain commas and
// line ends. fields.thing() is "FILE, line 3", the line in which the record begins.
//
// Throws Error (failure) that names the file, and the line if one is at fault: the file can't be
// read, exceeds 1 GiB, is not UTF-8, has no record, a quote is not closed, a record has another
// number of cells than the first line, or a column is named twice or both
// as NAME and as NAME_1.
void ForEachCsvObject(const std::string& path,
                      const std::function<void(const JsonFields& fields)>& item);

}  // namespace midscope
