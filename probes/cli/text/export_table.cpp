// SPDX-License-Identifier: MIT
#include "probes/cli/text/export_table.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace midscope::cli {
namespace {

bool SameAxis(const Axis& a, const Axis& b) {
  return a.size == b.size && a.labels == b.labels && a.values == b.values;
}

bool IsTaken(const Record& record, const std::string& name) {
  return record.FindAxis(name) || record.FindArray(name);
}

// Returns a record with a single array of `record` and the axes of that array.
Record OnlyArray(const Record& record, const Array& array) {
  Record picked;
  picked.name = record.name;
  picked.attributes = record.attributes;
  picked.arrays = {array};
  for (const std::string& axis : array.axes) picked.axes.push_back(*record.FindAxis(axis));
  picked.signal = array.name;
  return picked;
}

}  // namespace

PickedArray PickArray(const std::vector<Record>& records, const std::string& name) {
  PickedArray picked;
  std::vector<std::string> known;
  for (const Record& record : records) {
    for (const Array& array : record.arrays) {
      const std::string full = record.name + "/" + array.name;
      known.push_back(full);
      if (array.name != name && full != name) continue;
      if (picked.record.arrays.empty()) {
        picked.record = OnlyArray(record, array);
      } else {
        picked.also.push_back(full);
      }
    }
  }
  if (!picked.record.arrays.empty()) return picked;
  throw UsageError("array '" + name + "'", "the file has none of that name",
                   KnownWordsHint(name, known));
}

Record MergeRecords(const std::vector<Record>& records) {
  if (records.size() == 1) return records.front();
  Record merged;
  merged.name = "file";
  for (const Record& record : records) {
    const auto free_name = [&](const std::string& name) {
      if (!IsTaken(merged, name)) return name;
      std::string qualified = record.name + "." + name;
      while (IsTaken(merged, qualified)) qualified += "_";
      return qualified;
    };
    std::map<std::string, std::string> axis_names;
    for (const Axis& axis : record.axes) {
      const Axis* known = merged.FindAxis(axis.name);
      if (known && SameAxis(*known, axis)) {
        axis_names[axis.name] = axis.name;
        continue;
      }
      Axis renamed = axis;
      renamed.name = free_name(axis.name);
      axis_names[axis.name] = renamed.name;
      merged.axes.push_back(std::move(renamed));
    }
    for (Array array : record.arrays) {
      array.name = free_name(array.name);
      for (std::string& axis : array.axes) axis = axis_names.at(axis);
      merged.arrays.push_back(std::move(array));
    }
  }
  return merged;
}

}  // namespace midscope::cli
