// SPDX-License-Identifier: MIT
// Reads a results file whose records have an axis `sample` (a sweep, a batch of probes) one sample
// at a time. Only that sample's part of large arrays is read, so that files may have any size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"

namespace midscope {

// The part of a file to read, as indices along the axes sample, setting and place.
struct SampleChoice {
  int64_t sample = 0;
  int64_t setting = 0;
  int64_t place = 0;
  bool operator==(const SampleChoice&) const = default;
};

class SampleView {
 public:
  // Opens the file or record at an address (RunAddress). Throws as ReadRecords does. Use it from
  // one thread at a time; only samples(), settings() and places() may be called from any thread.
  explicit SampleView(const std::string& address);

  // The axes of the file that SampleChoice indexes; of size 0 if the file lacks the axis.
  const Axis& samples() const { return samples_; }
  const Axis& settings() const { return settings_; }
  const Axis& places() const { return places_; }

  // Reads the file without the large arrays that Read() returns. Records with axis `sample` keep
  // only arrays without axes except sample, setting and place, of at most kLargestViewed elements.
  RunFile Overview() const;

  // Reads the part of one sample, as records for the window (probes/engine/engine.h). For a sweep:
  // `outcome` [setting, place], `last_query_attention` [layer, head, key] and a record `prompt`
  // that has only the position of the gold piece. For a batch of probes: the file's records at the
  // chosen place, without padding; arrays with only the axes sample and place keep all places.
  // Attributes: sample (its number), place, and intervention if known. Throws Error (failure).
  std::vector<Record> Read(const SampleChoice& choice) const;

 private:
  void AddAxes(const Record& frame);

  std::string address_;
  RunReader reader_;
  std::vector<std::string> names_;    // names of the records that the address covers
  std::vector<std::string> sampled_;  // names of the records with axis `sample`
  Axis samples_;
  Axis settings_;
  Axis places_;
};

// The declarations below read records for viewing, quickly for files of any size.

// Maximum elements of an array with axis `sample` to read it for all samples, not only for one.
inline constexpr int64_t kLargestViewed = int64_t{1} << 22;

// Removes arrays with axis `sample` and more than `largest_elements` elements from the record;
// returns whether there were any.
bool DropLarge(Record& record, int64_t largest_elements);

// Reads records as ReadRecords, but omits arrays with axis `sample` and more than
// `largest_elements` elements. After a record with such an array, adds record RECORD_sample with
// the sample at index `row`: without axis `sample` and padding; attribute `sample` is its number.
RunFile ReadForViewing(const std::string& address, int64_t row = 0,
                       int64_t largest_elements = kLargestViewed);

}  // namespace midscope
