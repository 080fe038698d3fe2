// SPDX-License-Identifier: MIT
// Reads a file whose records are over samples (a sweep, a batch of probes) one sample at a time.
// Only that sample's part of the large arrays is read, so that files may have any size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"

namespace midscope {

// The selected part of a file, as indices of its axes sample, setting and place.
struct SampleChoice {
  int64_t sample = 0;
  int64_t setting = 0;
  int64_t place = 0;
  bool operator==(const SampleChoice&) const = default;
};

class SampleView {
 public:
  // Throws in the same cases as ReadRecords. Use it from one thread at a time (as RunReader);
  // samples(), settings() and places() may be called from any thread.
  explicit SampleView(const std::string& address);

  // The axes that SampleChoice indexes; of size 0 if there is nothing to choose.
  const Axis& samples() const { return samples_; }
  const Axis& settings() const { return settings_; }
  const Axis& places() const { return places_; }

  // Reads the file without what Read() returns: of records over samples, only arrays with no other
  // axes than sample, setting and place, and at most kLargestViewed elements.
  RunFile Overview() const;

  // Reads the part of one sample, as records for the window (probes/engine/engine.h). For a sweep:
  // `outcome` [setting, place], `last_query_attention` [layer, head, key] and a record `prompt`
  // that has only the position of the gold piece. For a batch: its records at the chosen place,
  // without padding; arrays over sample and place only keep all places. Attributes: sample (its
  // number), place, and intervention if known. Throws Error (failure).
  std::vector<Record> Read(const SampleChoice& choice) const;

 private:
  void AddAxes(const Record& frame);

  std::string address_;
  RunReader reader_;
  std::vector<std::string> names_;    // names of the records in the address
  std::vector<std::string> sampled_;  // those of `names_` that are over samples
  Axis samples_;
  Axis settings_;
  Axis places_;
};

// Reads a file's records for viewing, quickly for files of any size.

// Arrays over `sample` with more elements than this are read one sample at a time.
inline constexpr int64_t kLargestViewed = int64_t{1} << 22;

// Removes arrays over `sample` with more than `largest_elements` elements; returns whether there
// were any.
bool DropLarge(Record& record, int64_t largest_elements);

// As ReadRecords, but leaves out arrays over `sample` with more than `largest_elements` elements. A
// record with such an array is followed by a record RECORD_sample with its sample at index `row`:
// without axis `sample`, without padding, and with the sample's number as attribute `sample`.
RunFile ReadForViewing(const std::string& address, int64_t row = 0,
                       int64_t largest_elements = kLargestViewed);

}  // namespace midscope
