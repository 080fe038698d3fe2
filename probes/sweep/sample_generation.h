// SPDX-License-Identifier: MIT
// Generates the text of a sweep's sample, at all places and under all settings.
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

// The settings that can be run on the sample, and the reasons why others cannot.
struct RunnableSettings {
  std::vector<size_t> order;  // runnable settings in EvaluationOrder
  std::vector<std::string> failures;

  bool Has(size_t setting) const { return failures[setting].empty(); }
};

// Results of generation as in RunSample's record, by cell ([setting, place], row-major) unless
// stated otherwise. Values are NaN, 0, false or "" if a setting was not run.
struct GenerationArrays {
  std::vector<double> score;
  std::vector<double> rouge;  // [setting, place, kRougeKinds]; empty for other scores
  std::vector<int64_t> tokens;
  std::vector<std::string> text;
  std::vector<uint8_t> cut;    // whether the limit of new tokens cut the answer
  std::vector<uint8_t> empty;  // whether the scored part is only white space
  // Place of the piece whose answer the text gives (AnsweredPiece), numbered as in the task;
  // kNoPlace: none. This array and the next two are empty if pieces have no answers.
  std::vector<int64_t> answered_place;
  std::vector<int64_t> first_piece_place;  // place of the first piece, [place]
  std::vector<int64_t> last_piece_place;   // place of the last piece, [place]
};

// Generates and scores the texts of a sample under all runnable settings. Adds the wall time of
// each setting's runs to `seconds` [setting]. Throws Error, Cancelled.
GenerationArrays RunGeneration(const Decoder& decoder, const SampleRequest& request,
                               const RunnableSettings& settings, PatchSources& sources,
                               const JobContext& context, std::vector<double>& seconds);

void AddGeneration(GenerationArrays arrays, Record& record);

}  // namespace midscope
