// SPDX-License-Identifier: MIT
#include "data/sweep/view_records.h"

#include "data/store/sample_rows.h"

namespace midscope {
namespace {

bool IsLarge(const Record& record, const Array& array, int64_t largest_elements) {
  if (array.axes.empty() || array.axes.front() != kSampleAxis) return false;
  double elements = 1;
  for (const std::string& axis : array.axes) {
    elements *= static_cast<double>(record.FindAxis(axis)->size);
  }
  return elements > static_cast<double>(largest_elements);
}

Record OneSample(const RunReader& reader, const std::string& name, const Axis& samples,
                 int64_t row) {
  Record sample = reader.ReadSample(name, row);
  sample.name = name + "_sample";
  sample.attributes["sample"] = SampleNumber(samples, row).value_or(row);
  return sample;
}

}  // namespace

bool DropLarge(Record& record, int64_t largest_elements) {
  const size_t dropped = std::erase_if(
      record.arrays, [&](const Array& array) { return IsLarge(record, array, largest_elements); });
  if (!record.FindArray(record.signal)) record.signal.clear();
  return dropped > 0;
}

RunFile ReadForViewing(const std::string& address, int64_t row, int64_t largest_elements) {
  const RunAddress parsed = ParseRunAddress(address);
  if (parsed.inside.find('/') != std::string::npos) return ReadRecords(address);
  const RunReader reader(parsed.path);
  RunFile file{{}, reader.provenance(), reader.plan_json()};
  std::vector<std::string> names = reader.record_names();
  if (!parsed.inside.empty()) names = {parsed.inside};
  for (const std::string& name : names) {
    Record record = reader.Describe(name);
    const bool has_large = DropLarge(record, largest_elements);
    for (Array& array : record.arrays) array = reader.ReadArray(name, array.name);
    file.records.push_back(record);
    if (has_large) {
      file.records.push_back(OneSample(reader, name, *record.FindAxis(kSampleAxis), row));
    }
  }
  return file;
}

}  // namespace midscope
