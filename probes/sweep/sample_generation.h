// SPDX-License-Identifier: MIT
// The part of a sweep's sample that generates text: at all places, under all settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/run/patch_sources.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

inline constexpr const char* kGenerationScore = "generation_score";  // [setting, place]

// The settings that can be run on the sample.
struct RunnableSettings {
  std::vector<size_t> order;  // in EvaluationOrder
  std::vector<std::string> failures;

  bool Has(size_t setting) const { return failures[setting].empty(); }
};

// As in RunSample's record; by cell ([setting, place], row-major), NaN, 0, false and "" if a
// setting was not run.
struct GenerationArrays {
  std::vector<double> score;
  std::vector<double> rouge;  // [setting, place, kRougeKinds]; empty for other scores
  std::vector<int64_t> tokens;
  std::vector<std::string> text;
  std::vector<uint8_t> cut;    // ended by the limit of new tokens, with the answer not whole
  std::vector<uint8_t> empty;  // nothing but white space in what is scored
  // The place of the piece whose answer the text gives (AnsweredPiece), counted as the task counts
  // its places; kNoPlace for none. Empty, as both others, where pieces have no answers.
  std::vector<int64_t> answered_place;
  std::vector<int64_t> first_piece_place;  // [place]
  std::vector<int64_t> last_piece_place;   // [place]
};

// Adds to `seconds` [setting] the wall time of each setting's runs. Throws Error, Cancelled.
GenerationArrays RunGeneration(const Decoder& decoder, const SampleRequest& request,
                               const RunnableSettings& settings, PatchSources& sources,
                               const JobContext& context, std::vector<double>& seconds);

void AddGeneration(GenerationArrays arrays, Record& record);

}  // namespace midscope
