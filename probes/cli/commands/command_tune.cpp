// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/chat/chat_template.h"
#include "core/model/model_source.h"
#include "data/store/record_reader.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_lock.h"
#include "kernels/instruction_set.h"
#include "probes/base/records.h"
#include "probes/cli/commands/tune_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/sweep/rank_group.h"
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

// The figures of a tuning run that are printed.
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
    if (record.attributes.contains(name)) json[name] = Value<double>(record, name);
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
                        Value<double>(record, "held_out_loss_before"),
                        Value<double>(record, "held_out_loss_after"));
  }
  const bool is_adapter = options.Has("lora");
  text += fmt::format("{}: {}\n", is_adapter ? "adapter" : "model", options.Text("out"));
  return text + FileNote(LossFile(options.Text("out")));
}

// Logs how the position scheme of the training is applied to the tuned model.
void LogScheme(const TuneRequest& request, const TuningOutcome& outcome,
               const JobContext& context) {
  if (request.settings.setting.empty()) return;
  context.Log(outcome.config_has_scheme
                  ? "config.json contains the position scheme " + request.setting +
                        ", so that no --with is needed"
                  : "the result has changed weights only; run it with --with '" + request.setting +
                        "'");
}

void CheckBatch(const OptionSet& options, int64_t processes) {
  const int64_t batch = options.Integer("batch");
  if (batch >= processes) return;
  throw UsageError(
      "option --batch",
      fmt::format("it is {}, but {} processes share the samples of a step", batch, processes),
      fmt::format("Give at least --batch {}, or start fewer processes", processes));
}

// Returns a job context with which only rank 0 logs and reports progress.
JobContext TuneJob(const JobContext& job, RankGroup& ranks) {
  JobContext own;
  if (ranks.rank() == 0) own = job;
  own.cancel = ranks.StopFlag(job.cancel);
  return own;
}

// Runs a tuning from its options to the finished folder, in one or several processes. Each process
// has the model and a tuner; only rank 0 writes.
class TuneRun {
 public:
  TuneRun(const CommandInput& input, RankGroup& ranks)
      : input_(input), options_(input.options), ranks_(ranks), job_(TuneJob(input.job, ranks)) {}

  // Runs the tuning and returns its record; if the folder has a complete run, returns that run's.
  Record Run() {
    bool is_complete = false;
    ranks_.Agree([&] {
      OpenRun();
      const auto has = [this](const char* file) {
        return PathExists(fs::path(run_.folder) / file);
      };
      is_complete = leads() && options_.Flag("resume") && IsTuned(has);
    });
    if (ranks_.FromRankZero(is_complete ? 1 : 0) == 1) {
      return leads() ? ReadRecords(LossFile(run_.folder)).records.at(0) : Record();
    }
    TuningSamples samples;
    LoadTensorLibrary();
    ranks_.Agree([&] {
      samples = SamplesOf(*request_, options_, *model_->tokenizer, job_);
      tuner_.emplace(*model_->source, run_.settings, job_);
    });
    const std::string first = ranks_.FromRankZero(SharedPlan());
    std::optional<SweepLock> lock;
    ranks_.Agree([&] { CheckSharedPlan(first); });
    ranks_.Agree([&] {
      if (!leads()) return;
      MakeFolderOfFiles(run_.folder);
      lock.emplace(LossFile(run_.folder));
    });
    const Provenance provenance = MakeProvenance(
        *model_->source, run_.settings.dtype, run_.settings.device, tuner_->threads(),
        input_.command_line, options_.Integer("seed"), options_.ToJson());
    const TuningOutcome outcome =
        RunTuning(*tuner_, samples, run_, *model_->source, provenance, job_);
    LogScheme(*request_, outcome, job_);
    return outcome.record;
  }

  // Returns a message that describes what an interrupted run has stored.
  std::string InterruptedText() const {
    if (!tuner_) return "interrupted";
    return fmt::format(
        "tuning interrupted after {}: the same command with --resume continues in {}",
        CountText(tuner_->steps_done(), "step"), run_.folder);
  }

 private:
  bool leads() const { return ranks_.rank() == 0; }

  void OpenRun() {
    request_ = ReadTuneOptions(options_);
    CheckBatch(options_, ranks_.size());
    run_.folder = options_.Text("out");
    if (leads()) CheckTuningFolder(run_.folder, options_.Flag("resume"), "");
    model_ = OpenRunnableModel(options_.Text("model"));
    for (const std::string& note : model_->config.notes) job_.Warn("model: " + note);
    run_.plan_json = TunePlanJson(options_, model_->source->Hash());
    if (leads()) CheckTuningFolder(run_.folder, options_.Flag("resume"), run_.plan_json);
    run_.settings = request_->settings;
    run_.settings.processes = &ranks_;
    run_.checkpoint_every = options_.Integer("checkpoint");
    run_.held_out = options_.Integer("held-out");
    run_.recipe = request_->published_form;
    run_.scheme = request_->scheme;
  }

  // Returns the plan together with everything else that must be equal in all processes, so that
  // their weights are equal after every step.
  std::string SharedPlan() const {
    nlohmann::ordered_json plan = nlohmann::ordered_json::parse(run_.plan_json);
    plan["threads"] = tuner_->threads();
    plan["instructions"] = kernels::InstructionSetName();
    return plan.dump();
  }

  void CheckSharedPlan(const std::string& first) const {
    const std::string difference = FirstPlanDifference(first, SharedPlan());
    if (difference.empty()) return;
    throw Failure("tuning", "this run is not that of rank 0: " + difference,
                  "Give all ranks the same options and files, --threads, and CPUs of one kind");
  }

  const CommandInput& input_;
  const OptionSet& options_;
  RankGroup& ranks_;
  JobContext job_;
  TuningRun run_;
  std::optional<TuneRequest> request_;
  std::optional<RunnableModel> model_;
  std::optional<Tuner> tuner_;
};

void RunTune(const CommandInput& input) {
  RankGroup& ranks = *(input.ranks = JoinRankGroup());
  TuneRun run(input, ranks);
  Record record;
  try {
    record = run.Run();
  } catch (const Cancelled&) {
    throw Interrupted(ranks.rank() == 0 ? run.InterruptedText() : "");
  }
  if (ranks.rank() != 0) return;
  const OptionSet& options = input.options;
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
      "continues; the result is then that of an uninterrupted run. Under mpirun, processes share\n"
      "the samples of each step.";
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
  command.is_shared = [](const OptionSet&) { return true; };
  return command;
}

}  // namespace midscope::cli
