// SPDX-License-Identifier: MIT
// The prompts that the engine works on, made from a window's request: a task's sample at several
// places, or own text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/run/patch_sources.h"
#include "core/tokenizer/prompt.h"
#include "data/tasks/task.h"
#include "probes/base/record_origin.h"
#include "probes/engine/engine.h"
#include "probes/sweep/sweep.h"

namespace midscope {

struct LoadedPrompts {
  PromptRequest request;
  std::shared_ptr<const Task> task;                            // null for own text without pieces
  std::vector<int64_t> places;                                 // {1} for own text without pieces
  std::vector<Prompt> prompts;                                 // one per place
  std::vector<std::pair<std::string, Prompt>> source_prompts;  // of patches, by name
  RecordOrigin origin;                                         // of all places; without a setting
};

// Throws Error: what the request's task, places, format or text are refused for. The decoder must
// outlive the prompts.
LoadedPrompts LoadPrompts(const Decoder& decoder, const PromptRequest& request,
                          const JobContext& context);

// Records `prompt`, one per place.
std::vector<Record> PromptRecords(const LoadedPrompts& loaded, const Tokenizer& tokenizer);

// Prompts that patches may take values from. The tokenizer must outlive it.
PatchPrompts PatchPromptsOf(const LoadedPrompts& loaded, const Tokenizer& tokenizer);

// Origin of a record under this setting, and of one place where `place` (an index) is given.
RecordOrigin OriginOf(const LoadedPrompts& loaded, const Intervention& intervention,
                      std::optional<size_t> place);
// Origin of a record that is not of one sample.
RecordOrigin OriginOfSamples(const LoadedPrompts& loaded);

// A sweep without settings over samples of the task, from sample 0 on, or over the own text.
// `places` as ReadPlaces reads them; "": those of the request. Throws Error (usage): places that
// the task lacks, places of own text. `loaded` must outlive it.
SweepRun RunOfSamples(const std::shared_ptr<const Decoder>& decoder, const LoadedPrompts& loaded,
                      int64_t samples, const std::string& places = "");

}  // namespace midscope
