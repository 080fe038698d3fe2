// SPDX-License-Identifier: MIT
#include "probes/cli/commands/probe_batch_options.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "core/base/error.h"
#include "probes/cli/program/command.h"
#include "probes/prompt/task_prompt.h"

namespace midscope::cli {

std::vector<Parameter> BatchOptions() {
  return InGroup(
      "Prompt",
      {PlacesOption("with --task: ", "records get the axes sample and place in front"),
       WholeNumberParameter("samples", "with --task: how many samples, from --sample on; 0: all", 0,
                            1000000, 1)});
}

bool RequestsBatch(const OptionSet& options) {
  const bool asked = options.IsSet("places") || options.IsSet("samples");
  if (!asked) return false;
  const std::string given = options.IsSet("places") ? "option --places" : "option --samples";
  if (!options.IsSet("task")) {
    throw UsageError(given, "only a task has several prompts", "Give --task, or leave it out");
  }
  if (options.IsSet("places") && options.IsSet("place")) {
    throw UsageError("option --place", "--places is given too", "Give one of them");
  }
  return true;
}

ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer) {
  CheckPromptFormat(tokenizer, format);
  const std::shared_ptr<const Task> task =
      MakeTaskFor(tokenizer, options.Text("task"), static_cast<uint64_t>(options.Integer("seed")));
  ProbeBatch batch;
  int64_t samples = options.Integer("samples");
  if (samples == 0) {
    if (!task->samples()) {
      throw UsageError("option --samples", "task " + task->name() + " has no last sample",
                       "Give a number from 1 on");
    }
    samples = std::max<int64_t>(1, *task->samples() - options.Integer("sample"));
  }
  batch.samples.resize(static_cast<size_t>(samples));
  std::iota(batch.samples.begin(), batch.samples.end(), options.Integer("sample"));
  batch.places = options.IsSet("places") ? ReadPlaces(options.Text("places"), *task)
                                         : std::vector{ReadPlace(*task, options.Text("place"))};
  batch.prompt = [task, format, &tokenizer](int64_t sample, int64_t place) {
    return PromptOfSample(tokenizer, *task, sample, place, format);
  };
  return batch;
}

}  // namespace midscope::cli
