// SPDX-License-Identifier: MIT
#include "probes/sweep/sample_sources.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace midscope {

PatchPrompts SourcePromptsOf(const SampleRequest& request) {
  const auto at_place = [&request](int64_t place, int64_t samples_on) {
    const auto found = std::find(request.places.begin(), request.places.end(), place);
    if (found != request.places.end() && samples_on == 0)
      return request.questions[static_cast<size_t>(found - request.places.begin())].prompt;
    if (request.prompt_at) return request.prompt_at(place, samples_on);
    throw UsageError("patch", "the sample is not known at place " + std::to_string(place),
                     "Take values from a place that is run");
  };
  return {at_place, request.source_prompts};
}

std::vector<double> SourceNll(const SampleRequest& request, PatchSources& sources,
                              const JobContext& context) {
  std::vector<double> nll;
  for (const SweepSetting& setting : request.settings) {
    const auto* patch = setting.intervention.Find<Patch>();
    if (!patch) continue;
    for (const TaskQuestion& question : request.questions) {
      if (question.prompt.answer_ids.empty()) return {};
      nll.push_back(sources.ScoreOf(patch->source, question.prompt, context).nll);
    }
    return nll;
  }
  return nll;
}

}  // namespace midscope
