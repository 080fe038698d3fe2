// SPDX-License-Identifier: MIT
// One record as an HDF5 group in schema 1 (run_store.h): the only file that defines how axes,
// labels, arrays and NeXus attributes are stored. Internal to data/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/hdf5_handles.h"
#include "data/store/hdf5_values.h"
#include "data/store/virtual_layout.h"

namespace midscope {

// Attributes of the schema that state an object's kind.
inline constexpr const char* kRecordNameAttribute = "record_name";
inline constexpr const char* kRoleAttribute = "midscope_role";  // "axis", "label", "array"
inline constexpr const char* kAxisNamesAttribute = "axis_names";
inline constexpr const char* kImpliedAttribute = "implied";  // an axis' values are 0, 1, ...
inline constexpr const char* kKindAttribute = "kind";        // "boolean" on uint8
inline constexpr const char* kLabelSuffix = "_label";
// Attributes of /entry of a virtual file, one value per part (file_parts.h).
inline constexpr const char* kPartsAttribute = "parts";
inline constexpr const char* kPartSealsAttribute = "part_checksums";

// Arrays that are stored in other files, by name.
using VirtualArrays = std::map<std::string, std::vector<hdf5::VirtualSource>>;

// Writes a record in pieces: first its frame, then each array's data whole or row by row.
class RecordGroupWriter {
 public:
  // Creates `entry`/`group_name` with the axes and attributes of `frame`, and each of its arrays,
  // empty; data in `frame` only define the type. Arrays named in `row_arrays` have one row of their
  // first axis per chunk; the others chunks of about 1 MiB. Those in `elsewhere` refer to other
  // files and must not be written.
  RecordGroupWriter(hid_t entry, const std::string& group_name, const Record& frame, int gzip_level,
                    const std::vector<std::string>& row_arrays = {},
                    const VirtualArrays& elsewhere = {});

  void Write(const std::string& array, const ArrayData& data);
  // `sizes`: of the row, one fewer than the array's axes. Short rows keep their padding.
  void WriteRow(const std::string& array, int64_t row, const ArrayData& data,
                const std::vector<int64_t>& sizes);

 private:
  void CreateAxis(const Axis& axis, int gzip_level);
  void CreateArray(const Record& frame, const Array& array, hdf5::Handle data_set);
  void MarkAsPlot(const Record& frame);

  hdf5::Handle group_;
  std::map<std::string, hdf5::Handle> axes_;
  std::map<std::string, hdf5::Handle> arrays_;
};

// The record with all its texts as hdf5::StorableText returns them, so that it reads back the same.
Record StorableRecord(Record record);

// Whether an attribute of a record's group is the schema's own, not the record's.
bool IsSchemaAttribute(const std::string& name);

// The array that a NeXus viewer shows first: the record's signal, else the first array of numbers
// over an axis; "" for none.
std::string PlottableSignal(const Record& record);

// Group names for records in one file: the record's name, or NAME_record where an array of any of
// them has that name, so that an array's name is unique.
std::vector<std::string> GroupNames(const std::vector<Record>& records);

}  // namespace midscope
