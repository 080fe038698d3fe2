// SPDX-License-Identifier: MIT
// Reads results files (written by run_store.h and sweep_store.h): whole records or single samples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/record.h"
#include "data/store/record_slice.h"

namespace midscope {

struct RunFile {
  std::vector<Record> records;
  Provenance provenance;
  std::string plan_json;    // the plan of a sweep; "" for other files
  std::string inside = {};  // record or array in the address (RunAddress); "": whole file
};

// The address of a file or of a record or array in it: "run.h5" or "run.h5::/entry/probe" or
// "run.h5::/entry/probe/last_logits" or "run.h5::probe".
struct RunAddress {
  std::string path;
  std::string inside;  // "" for the whole file
};
RunAddress ParseRunAddress(std::string_view address);

// Reads only the file, record or array (as a record with this array and its axes) that the address
// names. Each of `slices` (record_slice.h) cuts the records that have its axis. Throws Error:
// (failure) if the file is missing, truncated, corrupt, of another format or of a later schema,
// (usage) if no record has the axis of a slice.
RunFile ReadRecords(const std::string& address, const std::vector<std::string>& slices = {});

// Returns whether to read the array of this name. An empty function reads all.
using ArrayFilter = std::function<bool(const std::string& array)>;

// In which process HDF5 reads a file. kWhatFits: files with a valid seal (file_seal.h) are read in
// this process; others, on which HDF5 may crash, and files above 1 GiB, whose checksum takes too
// long, by a process with limits on memory and time. kThisProcess: files above 1 GiB are read in
// this process, too.
enum class ReadBy { kWhatFits, kThisProcess };

// An open file, for reading parts of it. Movable, not copyable; use it from one thread at a time.
class RunReader {
 public:
  // Opens a file. `by`: pass kThisProcess only for a file that this process wrote and continues.
  explicit RunReader(const std::string& path, ReadBy by = ReadBy::kWhatFits);
  ~RunReader();
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;

  const std::string& path() const;
  const Provenance& provenance() const;
  const std::string& plan_json() const;
  // Names of the files that hold the large arrays of a virtual file (run_schema.h), in the same
  // folder. They are checked on opening; every read checks that they still exist.
  std::vector<std::string> parts() const;
  // Names of the records, in the order in which they were written.
  const std::vector<std::string>& record_names() const;
  // Whether the file has a record named `record`.
  bool Has(const std::string& record) const;
  // Returns the record's path in the file, "/entry/GROUP". Throws Error (failure) if the file has
  // no record of this name.
  std::string GroupPath(const std::string& record) const;

  // Returns the record's axes and attributes, and its arrays without data.
  Record Describe(const std::string& record) const;
  Record Read(const std::string& record) const;
  Array ReadArray(const std::string& record, const std::string& array) const;
  // Reads the part of an array that `slices` select.
  Array ReadPart(const std::string& record, const std::string& array,
                 const std::vector<AxisSlice>& slices) const;
  // Reads index `row` of the array's first axis: [sample, layer, ...] becomes [layer, ...].
  Array ReadRow(const std::string& record, const std::string& array, int64_t row) const;
  // Reads index `row` of the `sample` axis, from all arrays with this axis, and removes the padding
  // of ragged axes (axes with an array AXIS_count [sample]). The result equals the record passed to
  // SweepStore::Append, but has only the `wanted` arrays.
  Record ReadSample(const std::string& record, int64_t row, const ArrayFilter& wanted = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Parses an address as ParseRunAddress, but "run.h5::ARRAY" becomes "run.h5::RECORD/ARRAY" if no
// record is named ARRAY and one record of the file (open in `reader`) has an array of this name.
// Throws Error (failure) if several have it.
RunAddress FindRunAddress(std::string_view address, const RunReader& reader);

}  // namespace midscope
