// SPDX-License-Identifier: MIT
#include "probes/sweep/sample_sources.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace midscope {

PatchPrompts SourcePromptsOf(const SampleRequest& request) {
  return {[&request](int64_t place) {
    const auto found = std::find(request.places.begin(), request.places.end(), place);
    if (found != request.places.end())
      return request.questions[static_cast<size_t>(found - request.places.begin())].prompt;
    if (request.prompt_at) return request.prompt_at(place);
    throw UsageError("patch(from=place:" + std::to_string(place) + ")",
                     "the place is none of those that are run", "Add it to the places");
  }};
}

std::vector<double> SourceNll(const SampleRequest& request, PatchSources& sources,
                              const JobContext& context) {
  std::vector<double> nll;
  for (const SweepSetting& setting : request.settings) {
    const std::vector<Patch> patches = PatchesOf(setting.intervention);
    if (patches.empty()) continue;
    for (const TaskQuestion& question : request.questions) {
      if (question.prompt.answer_ids.empty()) return {};
      nll.push_back(sources.ScoreOf(patches.front().source, question.prompt, context).nll);
    }
    return nll;
  }
  return nll;
}

}  // namespace midscope
