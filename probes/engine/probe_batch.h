// SPDX-License-Identifier: MIT
// The same probes over several prompts: samples of a task, each at several places of its gold
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

// One run a prompt. Each probe's records stacked over [sample, place] (record_stack.h), then what
// its type makes of them together; last, where the prompts have answers, `answer`, and `prompt`.
// Says through the context's log how many runs there will be, before the first; progress is counted
// in prompts. With `samples_done` a cancelled run gives what its whole samples gave, and says how
// many those are. Throws Error (also where a prompt does not fit the context, before anything
// runs), Cancelled (with `samples_done` where no sample is whole).
std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context = {},
                                  int64_t* samples_done = nullptr);

}  // namespace midscope
