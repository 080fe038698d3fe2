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
#include "probes/engine/kept_prompts.h"
#include "probes/plugin/probe_registry.h"
#include "probes/sweep/sample_source.h"

namespace midscope {

struct ProbeBatch {
  std::vector<int64_t> samples;
  std::vector<int64_t> places;  // 1-based ranks of the gold piece
  std::function<Prompt(int64_t sample, int64_t place)> prompt;
};

// Runs the prompts of the samples of `source` that `store` lacks, one after another; each is kept
// there when it is done. Logs the number of runs of the whole batch before the first; progress is
// counted in its prompts. Throws Error (also if a prompt of the batch does not fit the context,
// before anything runs), Cancelled.
void RunBatchPrompts(const Decoder& decoder, const ProbeBatch& batch,
                     const Intervention& intervention, const ProbeRegistry& probes,
                     const OptionSet& options, SampleSource& source, PromptStore& store,
                     const JobContext& context = {});

// The samples all of whose prompts are in the store.
std::vector<int64_t> FinishedSamples(const ProbeBatch& batch, const PromptStore& store);

// The stacked records of these samples, taken out of the store: each probe's over [sample, place]
// (record_stack.h), then the records that its type derives from all of them; last, where the
// prompts have answers, `answer`, and `prompt`.
std::vector<Record> StackBatch(const ProbeBatch& batch, const std::vector<int64_t>& samples,
                               const ProbeRegistry& probes, const OptionSet& options,
                               PromptStore& store);

// Both, in memory. With `samples_done` a cancelled run returns the records of its complete samples,
// and their number there. Throws in the same cases as RunBatchPrompts, Cancelled (with
// `samples_done` if no sample is complete).
std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context = {},
                                  int64_t* samples_done = nullptr);

}  // namespace midscope
