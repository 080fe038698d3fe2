// SPDX-License-Identifier: MIT
// Reads what run_store.h and sweep_store.h wrote; whole records or one sample's part of them.
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
  std::string plan_json;  // of a sweep; "" for none
};

// "run.h5" or "run.h5::/entry/probe" or "run.h5::/entry/probe/last_logits" or "run.h5::probe".
struct RunAddress {
  std::string path;
  std::string inside;  // "" for the whole file
};
RunAddress ParseRunAddress(std::string_view address);

// Everything that the address names (one array: a record with that array and its axes), cut to
// `slices` (record_slice.h) in every record that has their axes; nothing else is read. Throws
// Error: (failure) for a file that is missing, truncated, corrupt, of another kind or of a later
// schema, (usage) for a slice that none of the records has.
RunFile ReadRecords(const std::string& address, const std::vector<std::string>& slices = {});

// The arrays to read, by name; empty: all.
using ArrayFilter = std::function<bool(const std::string& array)>;

// The process in which HDF5 reads a file. Files with a valid checksum of Midscope are read in this
// one. HDF5 may crash on all others: midscope-reader, a process with limits of memory and time,
// reads them. That includes files too large to compute their checksum (a GiB), unless kThisProcess
// is given.
enum class ReadBy { kWhatFits, kThisProcess };

// An open file, for reading parts of it. Movable, not copyable; calls may come from any one thread.
class RunReader {
 public:
  // `by`: kThisProcess for a file that this program wrote and continues.
  explicit RunReader(const std::string& path, ReadBy by = ReadBy::kWhatFits);
  ~RunReader();
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;

  const std::string& path() const;
  const Provenance& provenance() const;
  const std::string& plan_json() const;
  // Files in the folder of a virtual file (run_schema.h) that hold its large arrays. They are
  // checked when it is opened; every read checks that they still exist.
  std::vector<std::string> parts() const;
  // Names of the records, in the order in which they were written.
  const std::vector<std::string>& record_names() const;
  // Whether a record of that name is among them.
  bool Has(const std::string& record) const;
  // "/entry/GROUP", the record's path in the file. Throws Error (failure) for an unknown one.
  std::string GroupPath(const std::string& record) const;

  // The record's axes and attributes, and its arrays without data.
  Record Describe(const std::string& record) const;
  Record Read(const std::string& record) const;
  Array ReadArray(const std::string& record, const std::string& array) const;
  // As ReadArray, cut along those axes that `slices` name; nothing else is read.
  Array ReadPart(const std::string& record, const std::string& array,
                 const std::vector<AxisSlice>& slices) const;
  // Row `row` of the first axis, without reading the rest: [sample, layer, ...] becomes [layer,
  // ...].
  Array ReadRow(const std::string& record, const std::string& array, int64_t row) const;
  // All arrays over the record's `sample` axis, cut to row `row`: padding removed along ragged axes
  // (those with an array AXIS_count [sample]). Equals the record given to SweepStore::Append, with
  // only those arrays that are `wanted`.
  Record ReadSample(const std::string& record, int64_t row, const ArrayFilter& wanted = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace midscope
