// SPDX-License-Identifier: MIT
// The engine's current prompts, made from a window's request: a task's sample at several places, or
// own text.
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
  std::shared_ptr<const Task> task;  // null for own text without pieces and for given texts
  std::vector<int64_t> places;       // {1} for own text without pieces
  std::vector<Prompt> prompts;       // one per place
  std::vector<std::pair<std::string, Prompt>> source_prompts;  // sources of patches, by name
  bool given = false;   // whether the prompts are PromptRequest::given
  RecordOrigin origin;  // describes all places, without a setting
};

// Makes the prompts that a window requests. `decoder` must outlive them. Throws Error if the task,
// places, format or text of the request is invalid.
LoadedPrompts LoadPrompts(const Decoder& decoder, const PromptRequest& request,
                          const JobContext& context);

// Returns records `prompt`, one per place.
std::vector<Record> PromptRecords(const LoadedPrompts& loaded, const Tokenizer& tokenizer);

// Returns the prompts from which patches may take values. `loaded` and `tokenizer` must outlive
// them.
PatchPrompts PatchPromptsOf(const LoadedPrompts& loaded, const Tokenizer& tokenizer);

// Returns the origin of a record made under a setting, for all places or the one with index
// `place`.
RecordOrigin OriginOf(const LoadedPrompts& loaded, const Intervention& intervention,
                      std::optional<size_t> place);
// Returns the origin attributes of a record over several samples.
RecordOrigin OriginOfSamples(const LoadedPrompts& loaded);

// Returns a sweep without settings over samples of the task, from sample 0 on, or over the own
// text. `places`: see ReadPlaces; "": the places of the loaded prompts. `loaded` must outlive it.
// Throws Error (usage) if the task lacks the places, or for places of own text.
SweepRun RunOfSamples(const std::shared_ptr<const Decoder>& decoder, const LoadedPrompts& loaded,
                      int64_t samples, const std::string& places = "");

}  // namespace midscope
