// SPDX-License-Identifier: MIT
// Caches the outcome of every setting on every prompt of an open model, so that a repeated request
// returns the same numbers although repeated runs differ by rounding.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"

namespace midscope {

struct LoadedPrompts;

// Attribute of record `outcome` for models in bfloat16 or float16: the largest difference, in nats,
// of the answer's loss between a full run and a run of only the last rows, over the prompts of all
// places (WhatIfOutcome::noise). Smaller effects are not evidence.
inline constexpr char kAnswerNllNoise[] = "answer_nll_noise";

// The records of one setting that are computed from the logits of the last rows.
struct SettledOutcome {
  Record outcome;  // record `outcome` over all places
  // [place]: records next_tokens and, if the prompt has an answer, answer.
  std::vector<std::vector<Record>> of_places;
};

// Returns a cache key for the prompts and the texts from which patches take values.
std::string SettledKeyOf(const LoadedPrompts& loaded);

// Replaces the numbers in `records` next_tokens and answer by the cached ones of that place; other
// attributes are kept. If next_tokens lists another number of tokens than the cached record, only
// its attributes of the answer are replaced.
void ReplaceBySettled(const SettledOutcome& settled, size_t place, std::vector<Record>& records);

// A cache of outcomes, limited in bytes; the least recently used outcomes are dropped first.
// Settings that differ only by terms without effect (WithoutNeutralTerms) share one outcome.
class SettledOutcomes {
 public:
  static constexpr size_t kLimit = size_t{32} << 20;

  explicit SettledOutcomes(size_t limit_bytes = kLimit) : limit_(limit_bytes) {}

  // Returns the cached outcome of a setting, valid until the next Add; null if there is none.
  const SettledOutcome* Find(const std::string& prompts, const Intervention& setting);
  // Adds the outcome of a setting and returns it. Requires that Find returns null for the setting.
  const SettledOutcome& Add(const std::string& prompts, const Intervention& setting,
                            SettledOutcome outcome);
  // Returns the largest rounding noise (WhatIfOutcome::noise), in nats, that was noted first for
  // the prompts; nullopt if none was noted.
  std::optional<double> NoiseOf(const std::string& prompts) const;
  void NoteNoise(const std::string& prompts, double noise) { noise_.emplace(prompts, noise); }

 private:
  struct Entry {
    std::string key;
    SettledOutcome outcome;
    size_t bytes = 0;
  };
  std::list<Entry> entries_;             // the most recently used first
  std::map<std::string, double> noise_;  // nats
  size_t limit_;
  size_t bytes_ = 0;
};

}  // namespace midscope
