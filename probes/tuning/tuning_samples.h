// SPDX-License-Identifier: MIT
// Samples for tuning: tokens of a document or a task, and the position ids of a sampler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/positions/position_sampler.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tuning/tuner.h"
#include "probes/prompt/prompt_format.h"
#include "probes/tuning/tuning_documents.h"

namespace midscope {

// The sampler and its parameters. A sample has `tokens` tokens with position ids below tokens *
// factor; with the sampler `full`, tokens * factor tokens.
struct SampledRecipe {
  const PositionSampler* sampler = nullptr;
  OptionSet options{{}};
  int64_t tokens = 0;
  int64_t factor = 1;
  uint64_t seed = 1;

  int64_t context() const { return tokens * factor; }
  int64_t sample_tokens() const { return sampler->name == "full" ? context() : tokens; }
};

// Returns samples of documents, each of at least sample_tokens() tokens. The first `training`
// samples use all documents except the last `held_out` ones, in a random order (by seed) that is
// new for every round through the documents; later samples use the held-out documents. With PoSE,
// tokens come from the document's first context() ones, as in CREAM's copy of the PoSE code. Throws
// Error (usage) if the sampler cannot make such samples.
TuningSamples DocumentSamples(const SampledRecipe& recipe, std::vector<TuningDocument> documents,
                              int64_t training, int64_t held_out);

struct TaskSampleRequest {
  std::vector<std::string> tasks;  // task specs; samples alternate between the tasks
  PromptFormat format = {};
  bool answer_only = true;  // whether only the answer's tokens are part of the loss
  // With distillation (core/tuning/distillation.h): for each sample with the gold piece at the
  // first place, the number of samples with it elsewhere (kd's position_sample_num), or all
  // other places if the task has fewer; 0: no distillation.
  int64_t distilled_places = 0;
  // With distillation: the number of training samples; later, held-out samples use other questions.
  int64_t training = 0;
};

// Returns samples of tasks: the prompt and its answer, with the gold piece at a place drawn by the
// seed. All tokens are used, in order, at position ids that the sampler draws for the number of
// tokens (`full`: 0, 1, 2, ...). The samples differ from those of a sweep with the same seed.
// `tokenizer` must outlive the result, which throws Error (failure) for a sample of more than
// sample_tokens() tokens. Throws Error (usage) for a wrong spec, or distillation with one place.
TuningSamples TaskSamples(const SampledRecipe& recipe, const TaskSampleRequest& request,
                          const Tokenizer& tokenizer);

}  // namespace midscope
