// SPDX-License-Identifier: MIT
// From the records of a file to the one table that an export is.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope::cli {

// The array of that name ("NAME" or "RECORD/NAME"), as a record with its axes: the first, where
// several records have one; `also` names the others. Throws Error (usage), with the names that
// there are, where it is absent.
struct PickedArray {
  Record record;
  std::vector<std::string> also;  // "RECORD/NAME"
};
PickedArray PickArray(const std::vector<Record>& records, const std::string& name);

// All arrays in one record. Axes that are the same are shared. An axis or array whose name stands
// already for another axis or array is called RECORD.NAME.
Record MergeRecords(const std::vector<Record>& records);

}  // namespace midscope::cli
