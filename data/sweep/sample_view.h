// SPDX-License-Identifier: MIT
// A file whose records are over samples (a sweep, a batch of probes), read one sample at a time:
// only that sample's part of the large arrays is read, for files of any size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"

namespace midscope {

// The selected part of a file, as indices along its axes.
struct SampleChoice {
  int64_t sample = 0;
  int64_t setting = 0;
  int64_t place = 0;
  bool operator==(const SampleChoice&) const = default;
};

class SampleView {
 public:
  // Throws in the same cases as ReadRecords. Calls may come from any one thread (as its
  // RunReader's), but samples(), settings() and places() from any.
  explicit SampleView(const std::string& address);

  // Axes to choose along; of size 0 if there is no choice.
  const Axis& samples() const { return samples_; }
  const Axis& settings() const { return settings_; }
  const Axis& places() const { return places_; }

  // The file without Read's part: for records over samples only arrays over sample, setting and
  // place, of at most kLargestViewed elements.
  RunFile Overview() const;

  // The sample's part, as records of the window (probes/engine/engine.h). For a sweep: `outcome`
  // [setting, place], `last_query_attention` [layer, head, key] and a `prompt` with only the gold
  // piece's position. For a batch: its records at the chosen place, padding removed, arrays over
  // place kept for all places. Attributes: sample (its number), place, intervention if it is known.
  // Throws Error (failure).
  std::vector<Record> Read(const SampleChoice& choice) const;

 private:
  void AddAxes(const Record& frame);

  std::string address_;
  RunReader reader_;
  std::vector<std::string> names_;    // of the records that the address names
  std::vector<std::string> sampled_;  // those of them that are over samples
  Axis samples_;
  Axis settings_;
  Axis places_;
};

// A file's records for viewing: quick to read for files of any size.

// Arrays over samples with more elements than this are read one sample at a time.
inline constexpr int64_t kLargestViewed = int64_t{1} << 22;

// Removes arrays over samples that are larger from a record; returns whether there were any.
bool DropLarge(Record& record, int64_t largest_elements);

// As ReadRecords, but where a record has an array over `sample` that is larger than
// `largest_elements`, that array is left out, and the record is followed by RECORD_sample with
// sample `row` of it: its axes without `sample`, padding removed, attribute `sample` the sample's
// number.
RunFile ReadForViewing(const std::string& address, int64_t row = 0,
                       int64_t largest_elements = kLargestViewed);

}  // namespace midscope
