// SPDX-License-Identifier: MIT
// A file of results as RunReader asks it: read by HDF5 in this process (hdf5_run.h) or in another
// one (reader_process.h). Internal to data/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_parts.h"

namespace midscope {

// What a file says about itself.
struct RunContents {
  Provenance provenance;
  std::string plan_json;
  std::vector<FilePart> parts;       // of a virtual file
  std::vector<std::string> records;  // their names, in the order in which they were written
  std::vector<std::string> groups;   // of each record, the name of its group in /entry
};

// Which box of an array is read: as many begins and sizes as it has axes.
struct IndexBox {
  std::vector<int64_t> begin;
  std::vector<int64_t> sizes;
};

// All functions throw Error (failure) that names the file.
class RunSource {
 public:
  virtual ~RunSource() = default;

  virtual RunContents Contents() = 0;
  // The record with its axes and attributes; its arrays without their data.
  virtual Record Frame(size_t record) = 0;
  // `array`: as Frame() gave it. The box lies inside it and is not empty.
  virtual ArrayData Values(size_t record, const Array& array, const IndexBox& box) = 0;
};

}  // namespace midscope
