// SPDX-License-Identifier: MIT
#include "data/store/run_store.h"

#include <filesystem>
#include <set>
#include <stdexcept>

#include "core/base/error.h"
#include "data/store/record_group.h"
#include "data/store/run_file_writer.h"

namespace midscope {

void WriteRecords(const std::string& path, const std::vector<Record>& records,
                  const Provenance& provenance, const WriteOptions& options) {
  std::set<std::string> names;
  for (const Record& record : records) {
    CheckStorable(record);
    if (!names.insert(record.name).second) {
      throw std::logic_error("store: two records are named '" + record.name + "'");
    }
  }
  std::error_code ignored;
  if (!options.overwrite && std::filesystem::exists(path, ignored)) {
    throw UsageError(path, "exists already", "Give another name, or ask for it to be overwritten");
  }
  const std::vector<std::string> groups = GroupNames(records);
  RunFileFrame frame{"", options.plan_json, options.overwrite};
  for (size_t i = 0; i < records.size() && frame.default_record.empty(); ++i) {
    if (!PlottableSignal(records[i]).empty()) frame.default_record = groups[i];
  }
  WriteRunFile(path, provenance, frame, [&](hid_t entry, const std::function<void()>& check) {
    for (size_t i = 0; i < records.size(); ++i) {
      RecordGroupWriter writer(entry, groups[i], records[i], options.gzip_level);
      for (const Array& array : records[i].arrays) {
        writer.Write(array.name, array.data);
        check();
      }
    }
  });
}

}  // namespace midscope
