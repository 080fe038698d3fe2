// SPDX-License-Identifier: MIT
// Reads back what run_store.h and sweep_store.h wrote; whole records or one sample's part of them.
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
// `slices` (record_slice.h) in every record that has their axes; of the rest no more is read.
// Throws Error: (failure) for a file that is missing, cut off, corrupt, of another kind or of a
// later schema, (usage) for a slice that none of the records has.
RunFile ReadRecords(const std::string& address, const std::vector<std::string>& slices = {});

// Which arrays are to be read, by name; empty: all.
using ArrayFilter = std::function<bool(const std::string& array)>;

// Where HDF5 reads a file. Files with an intact checksum of ours are read in this process. All
// others HDF5 may crash on: midscope-reader, a process with limits of memory and time, reads them.
// Those too large for their checksum to be computed (a GiB) are among them, unless kThisProcess is
// asked for.
enum class ReadBy { kWhatFits, kThisProcess };

// An open file, for reading parts of it. Moves, does not copy; calls may come from any one thread.
class RunReader {
 public:
  // `by`: kThisProcess for a file that this program wrote and goes on with.
  explicit RunReader(const std::string& path, ReadBy by = ReadBy::kWhatFits);
  ~RunReader();
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;

  const std::string& path() const;
  const Provenance& provenance() const;
  const std::string& plan_json() const;
  // Of a virtual file (run_schema.h), the files in its folder that hold its large arrays.
  // They were found as they should be when this was opened; every reading looks whether they are
  // still there.
  std::vector<std::string> parts() const;
  // Names of the records, in the order in which they were written.
  const std::vector<std::string>& record_names() const;
  // Whether a record of that name is among them.
  bool Has(const std::string& record) const;
  // "/entry/GROUP", where the record lies in the file. Throws Error (failure) for an unknown one.
  std::string GroupPath(const std::string& record) const;

  // The record's axes and attributes, and its arrays without their data.
  Record Describe(const std::string& record) const;
  Record Read(const std::string& record) const;
  Array ReadArray(const std::string& record, const std::string& array) const;
  // The same, cut along those of its axes that `slices` name; no more than that is read.
  Array ReadPart(const std::string& record, const std::string& array,
                 const std::vector<AxisSlice>& slices) const;
  // Row `row` of the first axis, without reading the rest: [sample, layer, ...] gives [layer, ...].
  Array ReadRow(const std::string& record, const std::string& array, int64_t row) const;
  // All arrays over the record's `sample` axis, cut to row `row`: padding removed along ragged axes
  // (those with an array AXIS_count [sample]). Gives back what was handed to SweepStore::Append, of
  // the arrays those that are `wanted`.
  Record ReadSample(const std::string& record, int64_t row, const ArrayFilter& wanted = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace midscope
