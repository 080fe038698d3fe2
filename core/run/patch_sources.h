// SPDX-License-Identifier: MIT
// The source runs of patches (intervention/patch.h). Runs each source once, stores the values that
// patches request, and aligns their rows with those of the patched prompt.
//
// Example:
//
// clang-format off
//   PatchSources sources(*decoder, {.at_place = [&](int64_t place, int64_t samples_on) {
//                                    return prompt_at(sample + samples_on, place); }});
//   const Intervention patch = ParseIntervention("patch(from=place:1, span=last, layers=20)");
//   request.intervention = ResolvePassages(sources.Give(patch, prompt), prompt);
// clang-format on
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "core/intervention/patch.h"
#include "core/run/scoring.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// The prompts that patches may name. Any other name is an error.
struct PatchPrompts {
  // Returns the sample that is `samples_on` after the current one (0: the current one), with the
  // gold piece at that place; empty if there is no task. Throws Error (usage) for a place that the
  // task lacks.
  std::function<Prompt(int64_t place, int64_t samples_on)> at_place = nullptr;
  std::vector<std::pair<std::string, Prompt>> named = {};  // from --source-prompt-file
};

class PatchSources {
 public:
  // `decoder` must outlive this object.
  explicit PatchSources(const Decoder& decoder, PatchPrompts prompts = {});

  // Returns `intervention` with the values of its patches for this prompt (Patch::taken); its spans
  // are still names. Runs the sources that have not been run yet, without any other term of
  // `intervention`. Throws Error (usage) for an unknown source, or for a passage of another length
  // if no alignment is chosen, and the exceptions of Decoder::Run.
  Intervention Give(const Intervention& intervention, const Prompt& prompt,
                    const JobContext& context = {});

  // Throws Error (usage) if a patch names an unknown source. Runs nothing.
  void CheckKnown(const Intervention& intervention, const Prompt& prompt) const;

  // Returns the score of `prompt`'s answer in the source run: after the source's prompt, under its
  // setting. Throws in the same cases as Give, and std::logic_error if there is no answer.
  AnswerScore ScoreOf(const PatchSource& source, const Prompt& prompt,
                      const JobContext& context = {});

 private:
  using ValuesKey = std::tuple<PatchWhat, int64_t, int64_t>;  // rows [first, last)
  struct Run {
    Prompt prompt;
    Intervention setting;
    std::map<ValuesKey, std::shared_ptr<const RunValues>> values;
  };
  Run& RunOf(const PatchSource& source, const Prompt& prompt);
  Run MakeRun(const PatchSource& source, const Prompt& prompt) const;
  void Give(Patch& patch, const Prompt& prompt, const JobContext& context);
  const std::shared_ptr<const RunValues>& ValuesOf(Run& run, PatchWhat what, RowRange rows,
                                                   const JobContext& context);

  const Decoder& decoder_;
  PatchPrompts prompts_;
  // The key is the source's text and, for a setting, the prompt's tokens.
  std::map<std::pair<std::string, std::vector<int32_t>>, Run> runs_;
  int64_t bytes_ = 0;  // of all values
};

}  // namespace midscope
