// SPDX-License-Identifier: MIT
// The source runs of patches (intervention/patch.h): runs each once, takes the values that patches
// request, and aligns their rows with those of the prompt that is patched.
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

// The prompts that patches may name. All others are refused.
struct PatchPrompts {
  // The sample, or the one that is `samples_on` further on, with the gold piece at that place;
  // empty: there is no task. Throws Error (usage) for a place that the task lacks.
  std::function<Prompt(int64_t place, int64_t samples_on)> at_place = nullptr;
  std::vector<std::pair<std::string, Prompt>> named = {};  // --source-prompt-file
};

class PatchSources {
 public:
  // `decoder` must outlive it.
  explicit PatchSources(const Decoder& decoder, PatchPrompts prompts = {});

  // `intervention` with the values of its patches for this prompt (Patch::taken); spans stay names.
  // Runs the sources that have not been run, without any other term of `intervention`. Throws Error
  // (usage): an unknown source, a passage of another length without a rule; what Decoder::Run
  // throws.
  Intervention Give(const Intervention& intervention, const Prompt& prompt,
                    const JobContext& context = {});

  // Throws Error (usage) where a patch names an unknown source. Runs nothing.
  void CheckKnown(const Intervention& intervention, const Prompt& prompt) const;

  // How likely `prompt`'s answer is in the run of the source: after its prompt, under its setting.
  // Throws as Give does; std::logic_error where there is no answer.
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
  // By the source's text and, of a setting, the tokens of the prompt.
  std::map<std::pair<std::string, std::vector<int32_t>>, Run> runs_;
  int64_t bytes_ = 0;  // of all values
};

}  // namespace midscope
