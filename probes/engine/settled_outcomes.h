// SPDX-License-Identifier: MIT
// Keeps the outcome of every setting on every prompt of an open model, so that repeating a request
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

// Attribute of a record `outcome` in bfloat16 or float16: the largest difference, in nats, of the
// answer's loss between a whole run and a run of the last rows alone, over the prompts of all
// places (WhatIfOutcome::noise). Smaller effects are not evidence.
inline constexpr char kAnswerNllNoise[] = "answer_nll_noise";

// The records of one setting that are made from the logits of the last rows.
struct SettledOutcome {
  Record outcome;  // of all places
  // [place]: next_tokens and, if the prompt has an answer, answer.
  std::vector<std::vector<Record>> of_places;
};

// Returns a key of the prompts and of the texts from which patches take values.
std::string SettledKeyOf(const LoadedPrompts& loaded);

// Replaces the numbers of next_tokens and answer by the settled ones; other attributes are kept. If
// next_tokens lists another number of tokens, only its attributes of the answer are replaced.
void ReplaceBySettled(const SettledOutcome& settled, size_t place, std::vector<Record>& records);

// Limited in bytes; drops the least recently used outcomes first. Settings that differ only by
// terms without effect (WithoutNeutralTerms) have one outcome.
class SettledOutcomes {
 public:
  static constexpr size_t kLimit = size_t{32} << 20;

  explicit SettledOutcomes(size_t limit_bytes = kLimit) : limit_(limit_bytes) {}

  // Returns null if there is none. Valid until the next call of Add.
  const SettledOutcome* Find(const std::string& prompts, const Intervention& setting);
  // Adds an outcome and returns it. Requires that Find returns null.
  const SettledOutcome& Add(const std::string& prompts, const Intervention& setting,
                            SettledOutcome outcome);
  // The largest rounding noise of an outcome of the prompts (WhatIfOutcome::noise), in nats, as
  // first noted; nullopt if none was noted.
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
