// SPDX-License-Identifier: MIT
// A file whose records stand over samples (a sweep, a batch of probes), looked at one sample at a
// time: only that sample's part of the large arrays is read, whatever the file's size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/record_reader.h"

namespace midscope {

// Which part of a file is looked at, as indices along its axes.
struct SampleChoice {
  int64_t sample = 0;
  int64_t setting = 0;
  int64_t place = 0;
  bool operator==(const SampleChoice&) const = default;
};

class SampleView {
 public:
  // Throws as ReadRecords does. Like those of its RunReader, calls may come from any one thread;
  // samples(), settings() and places() from every one.
  explicit SampleView(const std::string& address);

  // Axes to choose along; of size 0 where there is nothing to choose.
  const Axis& samples() const { return samples_; }
  const Axis& settings() const { return settings_; }
  const Axis& places() const { return places_; }

  // The file without what Read gives: of records over samples only what is by sample, setting and
  // place, and of that nothing beyond kLargestViewed elements.
  RunFile Overview() const;

  // The sample's part, by record as a window knows them (probes/engine/engine.h). Of a sweep:
  // `outcome` [setting, place], `last_query_attention` [layer, head, key] and a `prompt` that tells
  // no more than where the gold piece stands. Of a batch: its records at the chosen place, padding
  // removed, what is by place alone kept for all places. Attributes: sample (its number), place,
  // intervention where one can be told. Throws Error (failure).
  std::vector<Record> Read(const SampleChoice& choice) const;

 private:
  void AddAxes(const Record& frame);

  std::string address_;
  RunReader reader_;
  std::vector<std::string> names_;    // of the records that the address names
  std::vector<std::string> sampled_;  // those of them that stand over samples
  Axis samples_;
  Axis settings_;
  Axis places_;
};

}  // namespace midscope
