// SPDX-License-Identifier: MIT
// Arrays of a sample's record that describe its prompts, independent of settings.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/run/patch_sources.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

inline constexpr const char* kAnswerTokens = "answer_tokens";
inline constexpr const char* kSampleGroup = "sample_group";

// Adds to a sample's record the arrays [place]: prompt_tokens, answer_tokens, gold_token_begin,
// gold_token_end, gold_rank (for tasks that rank pieces), prompt_cut (for tasks that cut),
// question_text, answer_text, expected_answers, and sample_group if there are several data sets.
void AddPlaceArrays(const std::vector<TaskQuestion>& questions, Record& record);

// Returns the prompts from which patches take values: the prompts of this sample and the next one,
// at any place, and request.source_prompts. `request` must outlive them.
PatchPrompts SourcePromptsOf(const SampleRequest& request);

// Returns answer_nll of each place's answer in the source run of the settings' first patch (all
// settings of a scan have the same source); [place]. Empty if nothing is patched or there is no
// answer.
std::vector<double> SourceNll(const SampleRequest& request, PatchSources& sources,
                              const JobContext& context);

// Selects `indices` along one axis of row-major `values`. The axis has `size` elements of `width`
// values each. The number of values must be a multiple of size * width.
template <typename T>
std::vector<T> TakeAlongAxis(const std::vector<T>& values, size_t size, size_t width,
                             const std::vector<size_t>& indices) {
  std::vector<T> taken;
  for (size_t outer = 0; outer < values.size(); outer += size * width) {
    for (const size_t index : indices) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(outer + index * width);
      taken.insert(taken.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  }
  return taken;
}

}  // namespace midscope
