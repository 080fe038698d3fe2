// SPDX-License-Identifier: MIT
// Stores a record as an HDF5 group of schema 1 (run_store.h). Only this file defines how axes,
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

// Names of HDF5 attributes that schema 1 defines for groups and data sets.
inline constexpr const char* kRecordNameAttribute = "record_name";
inline constexpr const char* kRoleAttribute = "midscope_role";  // "axis", "label", "array"
inline constexpr const char* kAxisNamesAttribute = "axis_names";
inline constexpr const char* kImpliedAttribute = "implied";  // axis values are 0, 1, ...
inline constexpr const char* kKindAttribute = "kind";        // "boolean", for data stored as uint8
inline constexpr const char* kLabelSuffix = "_label";
// Attributes of /entry in a virtual file, with one element per part (file_parts.h).
inline constexpr const char* kPartsAttribute = "parts";
inline constexpr const char* kPartSealsAttribute = "part_checksums";

// For arrays whose data are in other files: the source data sets, keyed by array name.
using VirtualArrays = std::map<std::string, std::vector<hdf5::VirtualSource>>;

// Writes a record in steps: first axes and attributes, then arrays, whole or row by row.
class RecordGroupWriter {
 public:
  // Creates the group `entry`/`group_name` with the axes and attributes of `frame` and its arrays,
  // still empty; array data in `frame` only define element types. Arrays named in `row_arrays` get
  // chunks of one index of their first axis, the others chunks of about 1 MiB. Arrays in
  // `elsewhere` refer to other files and must not be written.
  RecordGroupWriter(hid_t entry, const std::string& group_name, const Record& frame, int gzip_level,
                    const std::vector<std::string>& row_arrays = {},
                    const VirtualArrays& elsewhere = {});

  void Write(const std::string& array, const ArrayData& data);
  // Writes `data` to index `row` of the array's first axis. `sizes`: sizes of the other axes in
  // `data`; elements of the row beyond them keep the fill value (padding).
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

// Returns the record as a reader of the file gets it: hdf5::StorableText applied to all texts.
Record StorableRecord(Record record);

// Whether an attribute name of a record's group is reserved by the schema.
bool IsSchemaAttribute(const std::string& name);

// Returns the name of the array that a NeXus viewer shows first: the record's signal if it has
// numbers and an axis, otherwise the first such array; "" if there is none.
std::string PlottableSignal(const Record& record);

// Returns the HDF5 group names for the records of one file: the record's name, or NAME_record if
// any record has an array of that name, so that array names are unique.
std::vector<std::string> GroupNames(const std::vector<Record>& records);

}  // namespace midscope
