// SPDX-License-Identifier: MIT
// What patches of one sample's settings take values from.
#pragma once

#include <vector>

#include "core/base/job.h"
#include "core/run/patch_sources.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

// The prompts of the sample and of the next, at any place, and request.source_prompts. `request`
// must outlive them.
PatchPrompts SourcePromptsOf(const SampleRequest& request);

// answer_nll of each place's answer in the source run of the first patch of the settings: those of
// a scan have one source. [place]; empty where nothing is patched or there is no answer.
std::vector<double> SourceNll(const SampleRequest& request, PatchSources& sources,
                              const JobContext& context);

}  // namespace midscope
