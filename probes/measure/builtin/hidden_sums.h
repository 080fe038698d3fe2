// SPDX-License-Identifier: MIT
// The residual stream by position, summed over prompts of random text, so that only what depends on
// position remains.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

struct HiddenSumsPlan {
  uint64_t seed = 1;  // of the text
  int64_t prompts = 24;
  int64_t tokens = 1000;        // of each prompt
  bool bos = false;             // the model's begin-of-text tokens come first
  std::vector<int64_t> layers;  // blocks after which the stream is read
  bool operator==(const HiddenSumsPlan&) const = default;
};

// The ids of prompt number `prompt`: characters drawn uniformly from A-Z, a-z, 0-9 and space, ten
// per token as in the public code of PositionalHidden (which adds no BOS), cut to `tokens`, BOS
// included. Throws Error (failure) if they make fewer tokens.
std::vector<int32_t> RandomTextIds(const Tokenizer& tokenizer, uint64_t seed, int64_t prompt,
                                   int64_t tokens, bool bos = false);

// In float64: sums of float16, as in the public code, overflow on large channels.
struct HiddenSums {
  int64_t prompts = 0;  // summed so far
  int64_t positions = 0;
  int64_t channels = 0;
  std::vector<int64_t> layers;
  std::vector<double> sums;  // [layer, position, channel]

  // The mean of one channel after layers[layer], by position from `first` on.
  std::vector<double> Series(size_t layer, int64_t channel, int64_t first) const;
};

struct HiddenSumsRun {
  const Decoder& decoder;
  HiddenSumsPlan plan;
  // Checkpoint file of the sums, written at intervals, when cancelled and at the end; prompts in it
  // are not run again. "": none.
  std::string checkpoint;
  std::string plan_json;     // everything that affects the numbers, for the checkpoint
  std::vector<Hook*> hooks;  // not owned; called before the stream is read
  double checkpoint_seconds = 30;
};

// Throws Error (also if the checkpoint is of another plan), Cancelled. The same, into `sums`: those
// of an earlier call with the same plan (prompts in them are not run again), or empty ones. After
// Cancelled they hold the prompts that were finished.
void SumHiddenStates(const HiddenSumsRun& run, HiddenSums& sums, const JobContext& context);
HiddenSums SumHiddenStates(const HiddenSumsRun& run, const JobContext& context);

}  // namespace midscope
