// SPDX-License-Identifier: MIT
#include "probes/cli/commands/lens_prompts.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/tuning/lens_fit.h"
#include "data/tasks/task.h"
#include "probes/cli/program/command.h"
#include "probes/prompt/task_prompt.h"
#include "probes/tuning/tuning_documents.h"

namespace midscope::cli {
namespace {

using Ids = std::vector<int32_t>;

std::vector<Ids> DocumentPrompts(const OptionSet& options, const Tokenizer& tokenizer,
                                 const JobContext& context) {
  const auto samples = options.Integer("samples");
  const auto tokens = options.Integer("tokens");
  const TuningDocuments read = ReadTuningDocuments({.files = options.TextList("data"),
                                                    .field = options.Text("field"),
                                                    .packing = DocumentPacking::kJoin,
                                                    .least_tokens = kLeastLensTokens,
                                                    .documents = samples},
                                                   tokenizer, context);
  const Ids begin = tokenizer.add_bos() ? tokenizer.begin_ids() : Ids();
  const int64_t step = std::max<int64_t>(1, tokens - std::ssize(begin));
  std::vector<Ids> prompts;
  for (int64_t piece = 0; std::ssize(prompts) < samples; ++piece) {
    const size_t before = prompts.size();
    for (const TuningDocument& document : read.documents) {
      // Documents begin with `begin` already.
      const int64_t first = std::ssize(begin) + piece * step;
      const int64_t count = std::min(step, std::ssize(document.ids) - first);
      if (count + std::ssize(begin) < kLeastLensTokens || std::ssize(prompts) == samples) continue;
      Ids prompt = begin;
      prompt.insert(prompt.end(), document.ids.begin() + first,
                    document.ids.begin() + first + count);
      prompts.push_back(std::move(prompt));
    }
    if (prompts.size() > before) continue;
    throw Failure("data",
                  fmt::format("they have {} prompts of up to {} tokens; --samples is {}",
                              prompts.size(), tokens, samples),
                  "Give more data, fewer --samples, or fewer --tokens");
  }
  return prompts;
}

std::vector<Ids> TaskPromptsOf(const OptionSet& options, const Tokenizer& tokenizer,
                               const JobContext& context) {
  const std::unique_ptr<Task> task =
      MakeTaskFor(tokenizer, options.Text("task"), static_cast<uint64_t>(options.Integer("seed")));
  std::vector<Ids> prompts;
  for (int64_t sample = 0; sample < options.Integer("samples"); ++sample) {
    context.ThrowIfCancelled();
    const int64_t place = task->first_place() + sample % task->pieces();
    Prompt prompt = PromptOfSample(tokenizer, *task, sample, place, {});
    prompt.ids.insert(prompt.ids.end(), prompt.answer_ids.begin(), prompt.answer_ids.end());
    const int64_t count = std::min(options.Integer("tokens"), std::ssize(prompt.ids));
    if (count < kLeastLensTokens) {
      throw Failure(
          "task " + options.Text("task"),
          fmt::format("sample {} has {} tokens; a fit needs {}", sample, count, kLeastLensTokens),
          "Give a task with longer prompts");
    }
    prompt.ids.resize(static_cast<size_t>(count));
    prompts.push_back(std::move(prompt.ids));
  }
  return prompts;
}

}  // namespace

std::vector<Ids> LensPrompts(const OptionSet& options, const Tokenizer& tokenizer,
                             const JobContext& context) {
  return options.Text("task").empty() ? DocumentPrompts(options, tokenizer, context)
                                      : TaskPromptsOf(options, tokenizer, context);
}

std::string LensPromptsText(const OptionSet& options) {
  nlohmann::ordered_json json = {{"tokens", options.Integer("tokens")}};
  if (options.Text("task").empty()) {
    json["data"] = DocumentFilesHash(options.TextList("data"));
    json["field"] = options.Text("field");
  } else {
    json["task"] = options.Text("task");
    json["seed"] = options.Integer("seed");
  }
  return json.dump();
}

}  // namespace midscope::cli
