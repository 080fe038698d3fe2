// SPDX-License-Identifier: MIT
// Runs the same probes on several prompts: samples of a task, each at several places of its gold
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
#include "probes/measure/builtin/probe_registry.h"
#include "probes/sweep/sample_source.h"

namespace midscope {

struct ProbeBatch {
  std::vector<int64_t> samples;
  std::vector<int64_t> places;  // 1-based ranks of the gold piece
  std::function<Prompt(int64_t sample, int64_t place)> prompt;
};

// Runs the prompts that `store` lacks, for the samples of `source`, one after another, and stores
// the records of each prompt in `store`. First logs the number of runs of the whole batch; progress
// counts prompts. Throws Error, before anything runs if a prompt of the batch does not fit the
// context; Cancelled.
void RunBatchPrompts(const Decoder& decoder, const ProbeBatch& batch,
                     const Intervention& intervention, const ProbeRegistry& probes,
                     const OptionSet& options, SampleSource& source, PromptStore& store,
                     const JobContext& context = {});

// Returns the samples whose prompts, at all places, are in the store.
std::vector<int64_t> FinishedSamples(const ProbeBatch& batch, const PromptStore& store);

// Removes the records of `samples` from the store and stacks them. Returns, for each probe, its
// record over [sample, place] (record_stack.h) and the records of ProbeType::summarise; then
// records `answer`, if prompts have answers, and `prompt`.
std::vector<Record> StackBatch(const ProbeBatch& batch, const std::vector<int64_t>& samples,
                               const ProbeRegistry& probes, const OptionSet& options,
                               PromptStore& store);

// Runs a batch in memory and returns its stacked records. If `samples_done` is not null, it
// receives the number of complete samples, and a cancelled run returns the records of these
// samples; Cancelled is then thrown only if no sample is complete. Throws otherwise in the same
// cases as RunBatchPrompts.
std::vector<Record> RunProbeBatch(const Decoder& decoder, const ProbeBatch& batch,
                                  const Intervention& intervention, const ProbeRegistry& probes,
                                  const OptionSet& options, const JobContext& context = {},
                                  int64_t* samples_done = nullptr);

}  // namespace midscope
