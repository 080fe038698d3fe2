// SPDX-License-Identifier: MIT
// The interface through which RunReader reads a results file: with HDF5 in this process
// (hdf5_run.h) or in a separate one (reader_process.h). Internal to data/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_parts.h"

namespace midscope {

// The description of a file, without its records' contents.
struct RunContents {
  Provenance provenance;
  std::string plan_json;
  std::vector<FilePart> parts;       // parts of a virtual file; otherwise empty
  std::vector<std::string> records;  // record names, in the order of writing
  std::vector<std::string> groups;   // for each record, the name of its group in /entry
};

// A part of an array: one begin and one size per axis.
struct IndexBox {
  std::vector<int64_t> begin;
  std::vector<int64_t> sizes;
};

// An open results file. All functions may throw Error (failure), which names the file.
class RunSource {
 public:
  virtual ~RunSource() = default;

  virtual RunContents Contents() = 0;
  // Returns the record's axes and attributes, and its arrays without data.
  virtual Record Frame(size_t record) = 0;
  // Reads the box `box` of an array that Frame() returned. The box must be inside it and not empty.
  virtual ArrayData Values(size_t record, const Array& array, const IndexBox& box) = 0;
};

}  // namespace midscope
