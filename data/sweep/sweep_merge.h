// SPDX-License-Identifier: MIT
// Merges the results files of several sweeps: disjoint samples of one plan (from the processes of a
// cluster job), samples of different seeds, or different settings of the same samples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_store.h"

namespace midscope {

// Handling of a sample that several inputs contain: throw an Error, or take the first one.
enum class RepeatedSamples { kRefuse, kTakeFirst };

enum class JoinedMember { kSamples, kSettings, kSeeds };

// Where a sample of a merged file comes from: an input file and the sample number in it.
struct JoinedPart {
  const SweepStore& input;
  int64_t sample;  // sample number in `input`
};

class SweepMerge {
 public:
  // Opens the inputs, each with the journal beside it. Plans must be equal except for the number of
  // samples (then samples are joined), except for their settings (then settings are joined in the
  // order of the inputs), or except for seeds and numbers of samples (then each input's samples are
  // numbered after those of the inputs before it). Throws Error: (usage) with the difference if
  // inputs do not match, or if inputs of different seeds have the same samples because the task
  // does not depend on the seed; (failure) if one can't be read.
  explicit SweepMerge(const std::vector<std::string>& inputs,
                      RepeatedSamples repeated = RepeatedSamples::kRefuse);

  const std::string& plan_json() const { return plan_json_; }
  // Returns the provenance of the first input that has one.
  const Provenance& provenance() const { return provenance_; }
  JoinedMember joined() const { return joined_; }
  bool joins_settings() const { return joined_ == JoinedMember::kSettings; }
  const std::vector<SweepStore>& inputs() const { return inputs_; }
  // Returns the input that has a sample of the merged file; the first one if settings are joined.
  JoinedPart PartOf(int64_t sample) const {
    const size_t input = holders_.at(sample);
    return {inputs_[input], sample - first_numbers_[input]};
  }
  std::vector<int64_t> samples() const;
  const std::map<int64_t, std::string>& failures() const { return failures_; }
  // Returns a sample of the merged file, with only the arrays for which `wanted` is true (empty:
  // all). Throws Error (failure) if inputs whose settings are joined differ in the sample's prompt.
  Record ReadSample(int64_t sample, const ArrayFilter& wanted = {}) const;

  // Writes the merged file; an existing file is replaced when the new one is complete.
  void Write(const std::string& path, const Provenance& provenance,
             const std::vector<Record>& extra) const;

 private:
  void JoinSamples(RepeatedSamples repeated);
  void CheckSeedMatters() const;
  void CheckSameSamples() const;

  std::vector<SweepStore> inputs_;
  std::string plan_json_;
  Provenance provenance_;
  JoinedMember joined_ = JoinedMember::kSamples;
  std::vector<int64_t> first_numbers_;  // [input]: merged number of the input's sample 0
  std::map<int64_t, size_t> holders_;   // [merged sample number]: index of the input
  std::map<int64_t, std::string> failures_;
};

// Returns the name of the joined dimension: "samples", "settings" or "seeds".
std::string JoinedMemberName(JoinedMember member);

// Makes record `merged_from`, which describes the inputs of a merge by arrays [input]: input_file,
// input_created, input_command, input_samples (numbers of samples).
Record MergedFromRecord(const SweepMerge& merge);

}  // namespace midscope
