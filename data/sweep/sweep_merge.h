// SPDX-License-Identifier: MIT
// Merges the files of several sweeps: disjoint samples of one plan (from the ranks of a cluster
// job), samples of different seeds, or different settings of the same samples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/sweep/sweep_store.h"

namespace midscope {

// Whether a sample that several inputs contain is an error, or taken from the first of them.
enum class RepeatedSamples { kRefuse, kTakeFirst };

enum class JoinedMember { kSamples, kSettings, kSeeds };

// A sample of a merged file, in the input that has it.
struct JoinedPart {
  const SweepStore& input;
  int64_t sample;  // its number there
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
  // Provenance of the first input that has one.
  const Provenance& provenance() const { return provenance_; }
  JoinedMember joined() const { return joined_; }
  bool joins_settings() const { return joined_ == JoinedMember::kSettings; }
  const std::vector<SweepStore>& inputs() const { return inputs_; }
  // The input from which a sample is taken; if settings are joined, the first input.
  JoinedPart PartOf(int64_t sample) const {
    const size_t input = holders_.at(sample);
    return {inputs_[input], sample - first_numbers_[input]};
  }
  std::vector<int64_t> samples() const;
  const std::map<int64_t, std::string>& failures() const { return failures_; }
  // Returns the sample as in the merged file, with only the `wanted` arrays (empty: all). Throws
  // Error (failure) if inputs whose settings are joined differ in the sample's prompt.
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
  std::vector<int64_t> first_numbers_;  // [input]: number in the merged file of its sample 0
  std::map<int64_t, size_t> holders_;   // by sample, the index of its input
  std::map<int64_t, std::string> failures_;
};

// Returns "samples", "settings" or "seeds".
std::string JoinedMemberName(JoinedMember member);

// Makes record `merged_from`, which describes the inputs. Arrays [input]: input_file,
// input_created, input_command, input_samples.
Record MergedFromRecord(const SweepMerge& merge);

}  // namespace midscope
