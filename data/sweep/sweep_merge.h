// SPDX-License-Identifier: MIT
// Merges several files of sweeps: disjoint samples of one plan (from the ranks of a cluster job),
// or other settings of the same samples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_store.h"

namespace midscope {

// The treatment of a sample that several inputs hold.
enum class RepeatedSamples { kRefuse, kTakeFirst };

class SweepMerge {
 public:
  // Opens the inputs, each with the journal beside it. Plans must be equal except for the number of
  // samples (then samples are joined), or except for their settings (then settings are joined in
  // the order of the inputs). Throws Error: (usage) for inputs that do not match, with the
  // difference; (failure) for one that can't be read.
  explicit SweepMerge(const std::vector<std::string>& inputs,
                      RepeatedSamples repeated = RepeatedSamples::kRefuse);

  const std::string& plan_json() const { return plan_json_; }
  // Provenance of the first input that has one.
  const Provenance& provenance() const { return provenance_; }
  bool joins_settings() const { return joins_settings_; }
  const std::vector<SweepStore>& inputs() const { return inputs_; }
  // The input that a sample is taken from; where settings are joined, the first of them.
  const SweepStore& HolderOf(int64_t sample) const { return inputs_[holders_.at(sample)]; }
  std::vector<int64_t> samples() const;
  const std::map<int64_t, std::string>& failures() const { return failures_; }
  // The sample as in the merged file, with only those arrays that are `wanted` (empty: all). Throws
  // Error (failure) if inputs whose settings are joined differ in the sample's prompt.
  Record ReadSample(int64_t sample, const ArrayFilter& wanted = {}) const;

  // Writes the merged file; an older one of that name is replaced when the new one is complete.
  void Write(const std::string& path, const Provenance& provenance,
             const std::vector<Record>& extra) const;

 private:
  void JoinSamples(RepeatedSamples repeated);
  void CheckSameSamples() const;

  std::vector<SweepStore> inputs_;
  std::string plan_json_;
  Provenance provenance_;
  bool joins_settings_ = false;
  std::map<int64_t, size_t> holders_;  // sample: the input that it is taken from
  std::map<int64_t, std::string> failures_;
};

// Record `merged_from`, the inputs' description. [input]: input_file, input_created, input_command,
// input_samples.
Record MergedFromRecord(const SweepMerge& merge);

}  // namespace midscope
