// SPDX-License-Identifier: MIT
// Selects the table to export from a file's records.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope::cli {

// The array of that name ("NAME" or "RECORD/NAME"), as a record with its axes; the first where
// several records have one, `also` names the others. Throws Error (usage) with the existing names
// if it is absent.
struct PickedArray {
  Record record;
  std::vector<std::string> also;  // "RECORD/NAME"
};
PickedArray PickArray(const std::vector<Record>& records, const std::string& name);

// All arrays in one record. Equal axes are shared. An axis or array whose name is taken by another
// one is named RECORD.NAME.
Record MergeRecords(const std::vector<Record>& records);

}  // namespace midscope::cli
