// SPDX-License-Identifier: MIT
// Sums the residual stream by position over random text, so that the mean depends only on position.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

struct HiddenSumsPlan {
  uint64_t seed = 1;  // seed of the random text
  int64_t prompts = 24;
  int64_t tokens = 1000;        // tokens per prompt
  bool bos = false;             // whether prompts begin with the model's begin-of-text tokens
  std::vector<int64_t> layers;  // blocks after which the stream is read
  bool operator==(const HiddenSumsPlan&) const = default;
};

// Returns the token ids of prompt number `prompt`: characters drawn uniformly from A-Z, a-z, 0-9
// and space, ten per token as in the public code of PositionalHidden (which adds no BOS), cut to
// `tokens` tokens including BOS. Throws Error (failure) if the text has fewer tokens.
std::vector<int32_t> RandomTextIds(const Tokenizer& tokenizer, uint64_t seed, int64_t prompt,
                                   int64_t tokens, bool bos = false);

// Sums of the residual stream in float64: float16, as in the public code, overflows in large
// channels.
struct HiddenSums {
  int64_t prompts = 0;  // prompts summed so far
  int64_t positions = 0;
  int64_t channels = 0;
  std::vector<int64_t> layers;
  std::vector<double> sums;  // sums over prompts, [layer, position, channel]

  // Returns the mean of one channel after block layers[layer], for each position from `first` on.
  std::vector<double> Series(size_t layer, int64_t channel, int64_t first) const;
};

struct HiddenSumsRun {
  const Decoder& decoder;
  HiddenSumsPlan plan;
  // Checkpoint file of the sums: written periodically, on cancellation and at the end; prompts
  // summed in the file are not run again. "": no file.
  std::string checkpoint;
  std::string plan_json;     // all that affects the sums; stored in the checkpoint
  std::vector<Hook*> hooks;  // not owned; called before the stream is read
  double checkpoint_seconds = 30;
  // Called after every prompt but the last one; may be empty.
  std::function<void(const HiddenSums& so_far)> on_prompt = {};
};

// Runs the prompts and adds them to `sums`, which must be empty or from an earlier call with the
// same plan (without running its prompts again). After Cancelled, `sums` contains the finished
// prompts. The second overload returns the sums. Throws Error (also if the checkpoint has another
// plan), Cancelled.
void SumHiddenStates(const HiddenSumsRun& run, HiddenSums& sums, const JobContext& context);
HiddenSums SumHiddenStates(const HiddenSumsRun& run, const JobContext& context);

}  // namespace midscope
