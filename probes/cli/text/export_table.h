// SPDX-License-Identifier: MIT
// Selects the table to export from a file's records.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope::cli {

// An array selected by name ("NAME" or "RECORD/NAME"), as a record with the array's axes. If
// several records have an array of that name, it is the first one, and `also` names the others.
// PickArray throws Error (usage), which lists the existing names, if there is none.
struct PickedArray {
  Record record;
  std::vector<std::string> also;  // other matches, "RECORD/NAME"
};
PickedArray PickArray(const std::vector<Record>& records, const std::string& name);

// Merges all arrays into one record. Equal axes are shared. An axis or array whose name is already
// taken is renamed RECORD.NAME.
Record MergeRecords(const std::vector<Record>& records);

}  // namespace midscope::cli
