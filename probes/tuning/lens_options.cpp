// SPDX-License-Identifier: MIT
#include "probes/tuning/lens_options.h"

#include <cstdint>

#include "core/base/error.h"
#include "core/tuning/lens_fit.h"

namespace midscope {

std::vector<Parameter> LensPromptOptions() {
  constexpr int64_t kMostSamples = 1'000'000'000;
  Parameter field = TextParameter("field", "the field of a .jsonl line that has the text");
  field.default_value = "text";
  return InGroup(
      "Data",
      {TextListParameter("data",
                         "text: a file .txt (one document), a file .jsonl (a document per line) or "
                         "a folder of these; may be repeated"),
       field,
       TextParameter("task",
                     "instead of text: prompts of a task with their answers (see midscope help "
                     "tasks)"),
       WholeNumberParameter("seed", "seed of the task", 0, kNoMaximum, 1),
       WholeNumberParameter("samples",
                            "number of prompts; the paper takes 1000, and says that 100 are usable",
                            1, kMostSamples, 100),
       TokensParameter("tokens", "the most tokens of a prompt; later ones are cut off",
                       kLeastLensTokens, 128)});
}

void CheckLensSource(const OptionSet& options) {
  const bool has_data = !options.TextList("data").empty();
  const bool has_task = !options.Text("task").empty();
  if (has_data != has_task) return;
  throw UsageError("option --data", has_data ? "it excludes --task" : "a fit needs text",
                   "Give --data or --task");
}

}  // namespace midscope
