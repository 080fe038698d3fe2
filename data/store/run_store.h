// SPDX-License-Identifier: MIT
// Writes records to an HDF5 file of schema 1, which NeXus viewers (silx, h5web), h5py and netCDF4
// readers (xarray) can read:
//
// clang-format off
//   /                          NXroot; schema_name "midscope", schema_version 1, default "entry"
//   /entry                     NXentry; default: the first record; plan_json in a sweep
//   /entry/provenance          one attribute per field of Provenance
//   /entry/RECORD              NXdata; signal, axes, AXIS_indices; the record's attributes
//   /entry/RECORD/AXIS         dimension scale: the axis' values (or 0, 1, ...), unit, long_name
//   /entry/RECORD/AXIS_label   one string per index, where the axis has labels
//   /entry/RECORD/ARRAY        chunked, shuffled, gzip; unit, description; scales attached
// clang-format on
//
// Metadata have the format of HDF5 1.10, which includes checksums; a checksum of the whole file
// follows the HDF5 data (file_seal.h).
//
// Booleans are uint8 with kind = "boolean", strings variable-length UTF-8. If a record has the same
// name as an array in the file, its group is called NAME_record, so that array names are unique.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

inline constexpr int kRunSchemaVersion = 1;

struct WriteOptions {
  bool overwrite = false;
  int gzip_level = 4;     // 0: no compression
  std::string plan_json;  // the plan of a sweep; "" for other files
};

// Throws std::logic_error if the record fails its Check(), a name can't be a link in HDF5, an
// attribute is one of the schema's, or an array has the name of an axis' labels.
void CheckStorable(const Record& record);

// Writes to a temporary file beside `path`, flushes it to the disk and renames it, so that `path`
// is never partly written. Throws Error: (usage) if the file exists and `overwrite` is false,
// (failure) if writing fails; then the temporary file is removed and an existing file unchanged.
// Throws std::logic_error in the same cases as CheckStorable, and if two records have the same
// name.
void WriteRecords(const std::string& path, const std::vector<Record>& records,
                  const Provenance& provenance, const WriteOptions& options = {});

}  // namespace midscope
