// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/text.h"
#include "core/base/timing.h"
#include "core/formats/jacobian_lens.h"
#include "core/model/model_source.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tuning/lens_fit.h"
#include "data/tasks/task.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/progress_line.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/model/model_options.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/prompt/task_prompt.h"
#include "probes/tuning/tuning_documents.h"
#include "probes/tuning/tuning_options.h"

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
      // Each document already begins with the tokens in `begin`.
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

// Returns --samples prompts of at most --tokens tokens, and of at least kLeastLensTokens:
//   --data  the beginnings of the documents, in order; if there are fewer documents than samples,
//           then the second pieces of --tokens tokens of the documents, and so on. Each begins with
//           the model's begin-of-text token if its tokenizer adds one.
//   --task  the beginnings of the task's samples with their answers; samples alternate
//           between the places of the gold piece.
// The first N prompts do not depend on --samples >= N. Throws Error, also if there are too few
// prompts; Cancelled.
std::vector<Ids> LensPrompts(const OptionSet& options, const Tokenizer& tokenizer,
                             const JobContext& context) {
  return options.Text("task").empty() ? DocumentPrompts(options, tokenizer, context)
                                      : TaskPromptsOf(options, tokenizer, context);
}

// Returns a text that two commands share only if they use the same prompts, except for the number
// of prompts. Throws Error.
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

using Clock = std::chrono::steady_clock;
using Prompts = std::vector<std::vector<int32_t>>;

// Returns JSON with all settings on which the lens depends, except the number of prompts.
std::string FitText(const OptionSet& options, const ModelSource& source) {
  const nlohmann::ordered_json json = {{"model", source.Hash()},
                                       {"dtype", options.Text("dtype")},
                                       {"skipped_positions", kLensSkippedPositions},
                                       {"prompts", LensPromptsText(options)}};
  return json.dump();
}

// With --resume, returns the lens in the file --out if it exists, else an empty lens. Throws Error
// (usage) if the file's settings differ.
JacobianLens StartedLens(const OptionSet& options, const std::string& fit_text) {
  const std::string& path = options.Text("out");
  if (!options.Flag("resume") || !PathExists(path)) return {};
  const JacobianLensFile file(path);
  if (file.FitText() != fit_text) {
    throw UsageError(path, "it was fitted on another model, other data or with other settings",
                     "Repeat the command that made it, with --resume and more --samples; or give "
                     "another --out");
  }
  return file.ReadAll();
}

// Logs the cost of fitting: passes and memory at the start, the time after the first rows.
class FitCost {
 public:
  FitCost(const LensFit& fit, const ModelConfig& config, int64_t prompts, const JobContext& job)
      : total_(prompts * fit.hidden()), job_(job) {
    constexpr double kMebibyte = 1 << 20;
    const int64_t elements = (config.layers - 1) * fit.hidden() * fit.hidden();
    job.Log(
        fmt::format("{}: 1 forward and {} backward passes each; the matrices take {:.3g} MiB, "
                    "twice while a prompt is added",
                    CountText(prompts, "prompt"), fit.hidden(),
                    static_cast<double>(elements) * sizeof(float) / kMebibyte));
  }

  void OnRow(int64_t done) {
    job_.Report({"lens", done, total_, "backward passes"});
    if (++rows_ != kTimedRows + 1) {
      if (rows_ == 1) start_ = Clock::now();
      return;
    }
    const double row = SecondsSince(start_) / kTimedRows;
    job_.Log(fmt::format("{:.3g} s per backward pass: about {} in all", row,
                         TimeText(row * static_cast<double>(total_ - done))));
  }

 private:
  static constexpr int64_t kTimedRows = 8;
  int64_t total_;
  int64_t rows_ = 0;
  Clock::time_point start_;
  const JobContext& job_;
};

void FitLens(const LensFit& fit, const ModelConfig& config, const Prompts& prompts,
             const std::string& fit_text, const CommandInput& input, JacobianLens* lens) {
  const std::string& path = input.options.Text("out");
  FitCost cost(fit, config, std::ssize(prompts) - lens->prompts, input.job);
  const int64_t first = lens->prompts;
  try {
    while (lens->prompts < std::ssize(prompts)) {
      const int64_t done = (lens->prompts - first) * fit.hidden();
      fit.Add(
          prompts[static_cast<size_t>(lens->prompts)],
          [&](int64_t rows) { cost.OnRow(done + rows); }, lens);
      WriteJacobianLens(path, *lens, fit_text);
    }
  } catch (const Cancelled&) {
    if (lens->prompts == 0) throw;
    throw Interrupted(
        fmt::format("interrupted after {}: {} is the lens of these; the same command "
                    "with --resume continues",
                    CountText(lens->prompts, "prompt"), path));
  }
}

void RunLens(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckLensSource(options);
  const bool replaces = options.Flag("overwrite") || options.Flag("resume");
  CheckOutputPath(options.Text("out"), replaces, "Give --resume to continue it, or --overwrite");
  const RunnableModel model = OpenRunnableModel(options.Text("model"));
  for (const std::string& note : model.config.notes) input.job.Warn("model: " + note);
  const std::string fit_text = FitText(options, *model.source);
  JacobianLens lens = StartedLens(options, fit_text);
  const int64_t started = lens.prompts;
  const Clock::time_point start = Clock::now();
  if (lens.prompts < options.Integer("samples")) {
    const Prompts prompts = LensPrompts(options, *model.tokenizer, input.job);
    LoadTensorLibrary();
    const LensFit fit(*model.source,
                      {.dtype = ParseDtype(options.Text("dtype")),
                       .threads = options.Has("threads") ? options.Integer("threads") : 0},
                      input.job);
    FitLens(fit, model.config, prompts, fit_text, input, &lens);
  }
  if (options.Flag("json")) {
    const nlohmann::ordered_json json = {{"file", options.Text("out")},
                                         {"prompts", lens.prompts},
                                         {"layers", lens.matrices.size()},
                                         {"hidden", lens.hidden},
                                         {"seconds", SecondsSince(start)}};
    input.out << JsonText(json);
    return;
  }
  std::string text =
      fmt::format("matrices {0} x {0} of {1}, mean over {2}", lens.hidden,
                  CountText(std::ssize(lens.matrices), "layer"), CountText(lens.prompts, "prompt"));
  if (started > 0) text += fmt::format(", {} of them from before", started);
  input.out << text << "\n" << FileNote(options.Text("out"));
}

std::vector<Parameter> LensOptions() {
  std::vector<Parameter> options = ModelNameOptions();
  const auto add = [&](const std::vector<Parameter>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add({ChoiceParameter("dtype", "dtype of the computation", {"float32", "bfloat16"}),
       WholeNumberParameter("threads", "CPU threads; by default one per core", 1, kNoMaximum)});
  add(LensPromptOptions());
  add(InGroup("Output",
              {Required(OutOption("the file to write, safetensors; rewritten after each prompt")),
               FlagParameter("resume", "continue the fit that the file has"),
               FlagParameter("overwrite", "replace the file where it exists"), JsonOption()}));
  return options;
}

}  // namespace

Command LensCommand() {
  Command command;
  command.name = "lens";
  command.summary = "fits a Jacobian lens, for the probe jacobian_lens";
  command.description =
      "Computes for each layer the mean matrix of derivatives of the residual stream after the\n"
      "last layer by the stream after the layer (Gurnee et al. 2026), over prompts and positions.\n"
      "The probe jacobian_lens reads a stream through it: what is the layer disposed to make the\n"
      "model say? A prompt takes one forward pass and as many backward passes as the model is\n"
      "wide. After each prompt, the file is the lens of the prompts so far; Ctrl-C leaves it, and\n"
      "--resume continues to the bits of an uninterrupted run.";
  command.positionals = {"model"};
  command.options = WithBrief(
      LensOptions(), {"model", "data", "task", "samples", "tokens", "out", "resume", "json"});
  command.examples =
      "  midscope lens embedded --data text.jsonl --samples 100 --out lens.safetensors\n"
      "  midscope probe embedded --task list:lines=20 --probes jacobian_lens \\\n"
      "      --lens-file lens.safetensors";
  command.run = RunLens;
  return command;
}

}  // namespace midscope::cli
