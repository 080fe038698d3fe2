// SPDX-License-Identifier: MIT
// Runs the same probes over several prompts: samples of a task, each at several places of its gold
// piece.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"
#include "probes/plugin/probe_registry.h"

namespace midscope {

struct ProbeBatch {
  std::vector<int64_t> samples;
  std::vector<int64_t> places;  // 1-based ranks of the gold piece
  std::function<Prompt(int64_t sample, int64_t place)> prompt;
};

// One run per prompt. Returns each probe's records stacked over [sample, place] (record_stack.h),
// then what its type makes of them together; last, where the prompts have answers, `answer`, and
// `prompt`. Logs the number of runs before the first; progress is counted in prompts. With
// `samples_done` a cancelled run returns the records of its complete samples, and their number
// there. Throws Error (also where a prompt does not fit the context, before anything runs),
// Cancelled (with `samples_done` where no sample is complete).
std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context = {},
                                  int64_t* samples_done = nullptr);

}  // namespace midscope
