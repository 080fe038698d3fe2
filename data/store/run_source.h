// SPDX-License-Identifier: MIT
// A results file for RunReader: read by HDF5 in this process (hdf5_run.h) or in another one
// (reader_process.h). Internal to data/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_parts.h"

namespace midscope {

// The description of a file.
struct RunContents {
  Provenance provenance;
  std::string plan_json;
  std::vector<FilePart> parts;       // of a virtual file
  std::vector<std::string> records;  // their names, in the order in which they were written
  std::vector<std::string> groups;   // of each record, the name of its group in /entry
};

// The box of an array to read: one begin and one size per axis.
struct IndexBox {
  std::vector<int64_t> begin;
  std::vector<int64_t> sizes;
};

// All functions throw Error (failure) that names the file.
class RunSource {
 public:
  virtual ~RunSource() = default;

  virtual RunContents Contents() = 0;
  // The record with its axes and attributes; its arrays without data.
  virtual Record Frame(size_t record) = 0;
  // `array`: from Frame(). The box must be inside it and not empty.
  virtual ArrayData Values(size_t record, const Array& array, const IndexBox& box) = 0;
};

}  // namespace midscope
