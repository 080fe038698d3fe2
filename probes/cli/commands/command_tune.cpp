// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/chat/chat_template.h"
#include "core/model/model_source.h"
#include "data/store/record_reader.h"
#include "data/sweep/sweep_lock.h"
#include "probes/base/records.h"
#include "probes/cli/commands/tune_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/model/provenance.h"
#include "probes/tuning/tuning_documents.h"
#include "probes/tuning/tuning_options.h"
#include "probes/tuning/tuning_run.h"
#include "probes/tuning/tuning_samples.h"

namespace midscope::cli {
namespace {

namespace fs = std::filesystem;

std::string LossFile(const std::string& folder) {
  return (fs::path(folder) / kTuningFile).string();
}

TuningSamples SamplesOf(const TuneRequest& request, const OptionSet& options,
                        const Tokenizer& tokenizer, const JobContext& context) {
  const int64_t training = request.settings.optimizer.steps * request.settings.batch;
  if (!options.TextList("task").empty()) {
    TaskSampleRequest tasks;
    tasks.training = training;
    tasks.tasks = options.TextList("task");
    tasks.answer_only = options.Text("loss") == "answer";
    if (request.settings.distil) tasks.distilled_places = options.Integer("other-places");
    return TaskSamples(request.recipe, tasks, tokenizer);
  }
  const int64_t held_out = options.Integer("held-out");
  const bool joins = options.Text("packing") == "join";
  std::optional<ConversationFormat> chat;
  if (options.Flag("chat")) {
    chat.emplace();
    const std::string& name = options.Text("chat-template");
    if (!name.empty()) chat->template_text = FindChatTemplate(name);
    chat->mask_user = options.Text("mask-user") == "on";
  }
  TuningDocuments documents =
      ReadTuningDocuments({.files = options.TextList("data"),
                           .field = options.Text("field"),
                           .packing = joins ? DocumentPacking::kJoin : DocumentPacking::kSelect,
                           .chat = chat,
                           .least_tokens = request.recipe.sample_tokens(),
                           .documents = training + held_out},
                          tokenizer, context);
  const int64_t found = std::ssize(documents.documents);
  if (documents.left_out > 0) {
    context.Log(fmt::format(
        "{} with fewer than {} tokens {} left out", CountText(documents.left_out, "document"),
        request.recipe.sample_tokens(), documents.left_out == 1 ? "is" : "are"));
  }
  if (found <= held_out || (found < training + held_out && !options.Flag("repeat"))) {
    throw Failure(
        "data",
        fmt::format("they have {} of at least {} tokens; {} steps of {} need {}{}",
                    CountText(found, "document"), request.recipe.sample_tokens(),
                    request.settings.optimizer.steps, CountText(request.settings.batch, "sample"),
                    training, held_out > 0 ? fmt::format(", and {} are held out", held_out) : ""),
        "Give more data, fewer --steps, or --repeat to take documents again");
  }
  return DocumentSamples(request.recipe, std::move(documents.documents), training, held_out);
}

// The printed figures of a run.
struct TuneSummary {
  size_t steps;
  int64_t tokens;
  double tokens_per_second;
  double first_loss;
  double last_loss;
};

TuneSummary Summary(const Record& record) {
  const auto& loss = ArrayValues<double>(record, "loss");
  const auto& seconds = ArrayValues<double>(record, "seconds");
  const auto& counts = ArrayValues<int64_t>(record, "tokens");
  const int64_t tokens = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const double time = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return {loss.size(), tokens, static_cast<double>(tokens) / time, loss.front(), loss.back()};
}

// Returns the attribute, or NaN.
double NumberAttribute(const Record& record, const std::string& name) {
  const auto found = record.attributes.find(name);
  const auto* number =
      found == record.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return number == nullptr ? std::nan("") : *number;
}

std::string TuneJson(const Record& record, const OptionSet& options) {
  const TuneSummary run = Summary(record);
  const std::string& folder = options.Text("out");
  nlohmann::ordered_json json = {{"steps", run.steps},
                                 {"tokens", run.tokens},
                                 {"tokens_per_second", run.tokens_per_second},
                                 {"first_loss", run.first_loss},
                                 {"last_loss", run.last_loss},
                                 {"setting", AttributeText(record, "setting")},
                                 {"folder", folder},
                                 {"file", LossFile(folder)}};
  for (const char* name : {"held_out_loss_before", "held_out_loss_after"}) {
    if (record.attributes.contains(name)) json[name] = NumberAttribute(record, name);
  }
  return json.dump(2) + "\n";
}

std::string TuneText(const Record& record, const OptionSet& options) {
  const TuneSummary run = Summary(record);
  std::string text = fmt::format(
      "{}, {} tokens, {:.0f} tokens/s\nloss {:.4f} in the first step, {:.4f} in the last\n",
      CountText(static_cast<int64_t>(run.steps), "step"), run.tokens, run.tokens_per_second,
      run.first_loss, run.last_loss);
  if (record.attributes.contains("held_out_loss_after")) {
    text += fmt::format("held-out loss {:.4f} before, {:.4f} after\n",
                        NumberAttribute(record, "held_out_loss_before"),
                        NumberAttribute(record, "held_out_loss_after"));
  }
  const bool is_adapter = options.Has("lora");
  text += fmt::format("{}: {}\n", is_adapter ? "adapter" : "model", options.Text("out"));
  return text + FileNote(LossFile(options.Text("out")));
}

// Says how the position scheme is applied to the result.
void LogScheme(const TuneRequest& request, const TuningOutcome& outcome,
               const JobContext& context) {
  if (request.settings.setting.empty()) return;
  context.Log(outcome.config_has_scheme
                  ? "config.json contains the position scheme " + request.setting +
                        ", so that no --with is needed"
                  : "the result has changed weights only; run it with --with '" + request.setting +
                        "'");
}

Record Tune(const TuneRequest& request, const CommandInput& input) {
  const OptionSet& options = input.options;
  const JobContext& context = input.job;
  TuningRun run;
  run.folder = options.Text("out");
  const RunnableModel model = OpenRunnableModel(options.Text("model"));
  for (const std::string& note : model.config.notes) context.Warn("model: " + note);
  run.plan_json = TunePlanJson(options, model.source->Hash());
  CheckTuningFolder(run.folder, options.Flag("resume"), run.plan_json);
  if (options.Flag("resume") && IsTuned(run.folder))
    return ReadRecords(LossFile(run.folder)).records.at(0);
  const TuningSamples samples = SamplesOf(request, options, *model.tokenizer, context);
  run.settings = request.settings;
  run.checkpoint_every = options.Integer("checkpoint");
  run.held_out = options.Integer("held-out");
  run.recipe = request.published_form;
  run.scheme = request.scheme;
  Tuner tuner(*model.source, request.settings, context);
  MakeFolderOfFiles(run.folder);
  const SweepLock lock(LossFile(run.folder));
  const Provenance provenance =
      MakeProvenance(*model.source, request.settings.dtype, tuner.threads(), input.command_line,
                     options.Integer("seed"), options.ToJson());
  try {
    const TuningOutcome outcome =
        RunTuning(tuner, samples, run, *model.source, provenance, context);
    LogScheme(request, outcome, context);
    return outcome.record;
  } catch (const Cancelled&) {
    throw Interrupted(
        fmt::format("tuning interrupted after {}: the same command with --resume continues in {}",
                    CountText(tuner.steps_done(), "step"), run.folder));
  }
}

void RunTune(const CommandInput& input) {
  const OptionSet& options = input.options;
  const TuneRequest request = ReadTuneOptions(options);
  CheckTuningFolder(options.Text("out"), options.Flag("resume"), "");
  const Record record = Tune(request, input);
  input.out << (options.Flag("json") ? TuneJson(record, options) : TuneText(record, options));
}

}  // namespace

Command TuneCommand() {
  Command command;
  command.name = "tune";
  command.summary =
      "tunes a model for longer contexts (CREAM, PoSE, RandPos, full length) or for other places "
      "(Pos2Distill)";
  command.description =
      "Tunes all weights of a Hugging Face folder, or a LoRA adapter of any model, on samples of "
      "N\n"
      "tokens with position ids of a context of N times the factor (see midscope positions).\n"
      "Writes a folder that transformers opens, or an adapter in PEFT's format, with\n"
      "midscope_recipe.json and the losses. Ctrl-C saves a checkpoint, from which --resume\n"
      "continues; the result is then that of an uninterrupted run.";
  command.positionals = {"model"};
  command.options = WithBrief(
      TuneOptions(), {"model", "recipe", "tokens", "factor", "interpolation", "data", "task",
                      "rate", "steps", "lora", "held-out", "out", "resume", "json"});
  command.examples =
      "  midscope tune embedded --recipe cream --tokens 512 --factor 4 --data text.jsonl \\\n"
      "      --batch 4 --rate 2e-4 --steps 50 --lora 16 --held-out 8 --out tuned\n"
      "  midscope tune FOLDER --recipe pose --tokens 4096 --factor 8 --interpolation yarn \\\n"
      "      --data documents --packing join --batch 32 --steps 1000 --dtype bfloat16 --recompute "
      "--out tuned\n"
      "  midscope tune embedded --recipe full --factor 1 --tokens 512 --task list:lines=20 \\\n"
      "      --steps 20 --rate 1e-4 --lora 8 --out tuned";
  command.run = RunTune;
  return command;
}

}  // namespace midscope::cli
