// SPDX-License-Identifier: MIT
#include "probes/cli/commands/sweep_dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/timing.h"
#include "core/decoder/decoder.h"
#include "core/hub/hub_listing.h"
#include "core/run/generate.h"
#include "core/run/scoring.h"
#include "probes/cli/commands/sweep_options.h"
#include "probes/cli/console/progress_line.h"
#include "probes/cli/console/text_table.h"
#include "probes/model/memory_estimate.h"
#include "probes/model/model_options.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/likelihood_prompts.h"
#include "probes/sweep/sweep_context.h"
#include "probes/sweep/sweep_cost.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

// Number of samples whose prompts are measured.
constexpr int64_t kSamplesLookedAt = 4;

struct PlannedCell {
  SweepCell cell;
  int64_t samples = 0;
  SampleCost sample;                        // mean of the measured samples
  double throughput = 0;                    // prompt tokens per second
  double token_cost = kGeneratedTokenCost;  // cost of a generated token, in prompt tokens
  double seconds_to_open = 0;
  int64_t weight_bytes = 0;
  int64_t trace_bytes = 0;      // size of the traces of one sample, upper bound
  int64_t attention_bytes = 0;  // size of attention in the file, per sample
  std::string too_long;         // why a measured sample can't run; "": none

  double seconds_of_sample() const { return sample.TokensOfWork(token_cost) / throughput; }
  double seconds() const { return static_cast<double>(samples) * seconds_of_sample(); }
  double tokens() const { return static_cast<double>(samples) * sample.prompt_tokens; }
};

// Returns the throughput in tokens per second of a run of the prompt with its answer, cut to the
// model's context (which some settings exceed). The first run warms up; the second is timed.
double MeasureThroughput(const Decoder& decoder, const Prompt& prompt, const JobContext& job) {
  std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
  ids.resize(std::min(ids.size(), static_cast<size_t>(decoder.config().trained_context)));
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = static_cast<int64_t>(std::min(ids.size(), prompt.ids.size()));
  decoder.RunOne(request, job);
  const Clock::time_point start = Clock::now();
  decoder.RunOne(request, job);
  return static_cast<double>(ids.size()) / SecondsSince(start);
}

// Measures the time of a generated token, in seconds: greedy text after all prompts of a sample in
// one batch, as the sweep generates it, from the first token of the last prompt on. Prompts are cut
// so that the text fits in the model's context. Returns 0 if all texts end before that.
double MeasureGeneration(const Decoder& decoder, const std::vector<TaskQuestion>& questions,
                         const JobContext& job) {
  constexpr int64_t kTokens = 10;
  const auto room =
      static_cast<size_t>(std::max<int64_t>(decoder.config().trained_context - kTokens, 1));
  Clock::time_point start;
  Clock::time_point last;
  int64_t tokens = 0;
  std::vector<GreedyRequest> requests;
  requests.reserve(questions.size());
  for (const TaskQuestion& question : questions) {
    const std::vector<int32_t>& ids = question.prompt.ids;
    const auto clock = [&, first = true](const std::string& /*text*/) mutable {
      last = Clock::now();
      ++tokens;
      if (first) {
        start = last;
        tokens = 0;
      }
      first = false;
      return false;
    };
    requests.push_back({std::span(ids).first(std::min(ids.size(), room)), {}, kTokens, clock});
  }
  GenerateGreedy(decoder, requests, job);
  const std::chrono::duration<double> seconds = last - start;
  return tokens > 0 ? seconds.count() / static_cast<double>(tokens) : 0;
}

int64_t TraceBytes(const Decoder& decoder, const std::vector<TaskQuestion>& questions) {
  int64_t bytes = 0;
  const LikelihoodPrompts prompts(questions);
  for (const Prompt& prompt : prompts.all()) {
    bytes += decoder.TraceBytes(static_cast<int64_t>(prompt.ids.size() + prompt.answer_ids.size()));
  }
  return bytes;
}

std::string WhyTooLong(const std::vector<TaskQuestion>& questions, const SweepPlan& plan,
                       const ModelConfig& config) {
  const std::vector<std::string> failures =
      ContextFailures(questions, plan.settings, plan.score, config);
  const auto failed = [](const std::string& failure) { return !failure.empty(); };
  const auto first = std::find_if(failures.begin(), failures.end(), failed);
  if (first == failures.end()) return "";
  const bool all = std::all_of(failures.begin(), failures.end(), failed);
  return *first + (all ? "; such samples fail" : "; the settings whose context holds it run");
}

class Planner {
 public:
  Planner(const OptionSet& options, const JobContext& job) : options_(options), job_(job) {}

  PlannedCell Plan(const SweepCell& cell) {
    Open(cell.model);
    const auto task = MakeTaskFor(decoder_->tokenizer(), cell.task, cell.seed);
    const SweepPlan plan = PlanOf(options_, cell, *task, *decoder_);
    PlannedCell planned;
    planned.cell = cell;
    planned.samples = plan.samples_to_run();
    const ModelConfig& config = decoder_->config();
    const int64_t looked_at = std::min(planned.samples, kSamplesLookedAt);
    for (int64_t i = 0; i < looked_at; ++i) {
      const int64_t sample = plan.first_sample + i;
      const std::vector<TaskQuestion> questions =
          TaskQuestions(decoder_->tokenizer(), *task, plan.places, sample, plan.format);
      const int64_t traces = TraceBytes(*decoder_, questions);
      Add(CostOfSample(plan, questions, config, traces <= kTraceMemoryBytes),
          1.0 / static_cast<double>(looked_at), planned.sample);
      planned.trace_bytes = std::max(planned.trace_bytes, std::min(traces, kTraceMemoryBytes));
      if (planned.too_long.empty()) planned.too_long = WhyTooLong(questions, plan, config);
      if (i == 0) AddMemory(plan, questions.front().prompt, planned);
      if (!throughput_) throughput_ = MeasureThroughput(*decoder_, questions.front().prompt, job_);
      if (plan.score.generation && !seconds_of_token_ && !options_.Has("throughput"))
        seconds_of_token_ = MeasureGeneration(*decoder_, questions, job_);
    }
    planned.throughput = *throughput_;
    if (plan.score.generation && seconds_of_token_.value_or(0) > 0)
      planned.token_cost = *seconds_of_token_ * planned.throughput;
    planned.seconds_to_open = seconds_to_open_;
    return planned;
  }

 private:
  void Open(const std::string& model) {
    if (decoder_ && model == model_) return;
    const Clock::time_point start = Clock::now();
    decoder_.reset();
    decoder_ = OpenDecoder(model, ReadDecoderOptions(options_), job_);
    seconds_to_open_ = SecondsSince(start);
    model_ = model;
    throughput_.reset();
    seconds_of_token_.reset();
    if (options_.Has("throughput")) throughput_ = options_.Number("throughput");
  }

  void AddMemory(const SweepPlan& plan, const Prompt& prompt, PlannedCell& planned) const {
    const DecoderOptions& options = decoder_->options();
    const MemoryEstimate memory =
        EstimateMemory(decoder_->config(), options.dtype, static_cast<int64_t>(prompt.ids.size()));
    planned.weight_bytes = WeightBytes(memory, options.weights, options.placement);
    if (plan.attention) planned.attention_bytes = memory.attention_bytes;
  }

  static void Add(const SampleCost& one, double share, SampleCost& mean) {
    mean.prompts = one.prompts;
    mean.runs = one.runs;
    mean.prompt_tokens += share * one.prompt_tokens;
    mean.generated_tokens += share * one.generated_tokens;
    mean.work_tokens += share * one.work_tokens;
  }

  const OptionSet& options_;
  const JobContext& job_;
  std::string model_;
  std::shared_ptr<const Decoder> decoder_;
  std::optional<double> throughput_;
  std::optional<double> seconds_of_token_;  // 0: all texts ended before the measurement
  double seconds_to_open_ = 0;
};

std::vector<CellCost> CostsOf(const std::vector<PlannedCell>& cells) {
  std::vector<CellCost> costs;
  costs.reserve(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const PlannedCell& cell = cells[i];
    const bool same_model = i > 0 && cells[i - 1].cell.model == cell.cell.model;
    costs.push_back({cell.samples, cell.seconds_of_sample(), cell.seconds_to_open,
                     same_model ? costs.back().model : i});
  }
  return costs;
}

// The measured and estimated values of a dry run.
struct DryRun {
  std::vector<PlannedCell> cells;
  std::vector<Schedule> schedules;  // one process and, if more, --ranks
  std::vector<std::string> advice;

  int64_t Most(int64_t PlannedCell::*bytes) const {
    int64_t most = 0;
    for (const PlannedCell& cell : cells) most = std::max(most, cell.*bytes);
    return most;
  }
};

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Returns a time limit in Slurm's format, with a margin of 50 %.
std::string TimeLimit(double seconds) {
  constexpr double kReserve = 1.5;
  const auto minutes = static_cast<int64_t>(std::ceil(kReserve * seconds / 60)) + 1;
  return fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
}

std::vector<std::string> AdviceOn(const std::vector<PlannedCell>& cells, int64_t ranks) {
  constexpr double kAsSoon = 0.01;
  constexpr double kBusy = 0.9;
  constexpr double kDay = 24 * 3600.0;
  const std::vector<CellCost> costs = CostsOf(cells);
  std::vector<std::string> advice;
  for (const PlannedCell& cell : cells) {
    if (cell.too_long.empty()) continue;
    advice.push_back(cell.cell.task + " on " + cell.cell.model + ": " + cell.too_long);
  }
  const int64_t fewest = FewestRanks(costs, ranks, kAsSoon);
  const Schedule chosen = PlanSchedule(costs, fewest);
  if (fewest < ranks) {
    advice.push_back(fmt::format("{} {} done as soon as {}: the busiest has {} either way", fewest,
                                 fewest == 1 ? "process is" : "ranks are", ranks,
                                 CountText(chosen.most_samples, "sample")));
  }
  const int64_t busy = MostBusyRanks(costs, fewest, kBusy);
  const Schedule thrifty = PlanSchedule(costs, busy);
  if (busy < fewest && thrifty.busy >= kBusy) {
    advice.push_back(fmt::format("{} {} {} of the time in samples, and take {}", busy,
                                 busy == 1 ? "process spends" : "ranks spend",
                                 Percent(thrifty.busy), TimeText(thrifty.seconds)));
  }
  if (chosen.seconds > kDay) {
    advice.emplace_back(
        "it may take several jobs: --resume continues where one ended, with any number of ranks");
  }
  if (ranks > 1) {
    advice.push_back(fmt::format("for Slurm: --ntasks={} --time={}, half as long again as planned",
                                 fewest, TimeLimit(chosen.seconds)));
  }
  return advice;
}

std::string ScheduleText(const Schedule& schedule) {
  if (schedule.ranks == 1) return "1 process: " + TimeText(schedule.seconds) + "\n";
  const double all = schedule.seconds * static_cast<double>(schedule.ranks);
  const double opening = schedule.open_seconds / std::max(all, 1e-9);
  std::string share = std::to_string(schedule.fewest_samples);
  if (schedule.most_samples != schedule.fewest_samples) {
    share += fmt::format(" to {}", schedule.most_samples);
  }
  return fmt::format(
      "{} ranks: {} until the last is done; {} {} per rank; {} of all ranks together: {} in "
      "samples, {} opening models, {} waiting for others\n",
      schedule.ranks, TimeText(schedule.seconds), share, share == "1" ? "sample" : "samples",
      TimeText(all), Percent(schedule.busy), Percent(opening),
      Percent(std::max(0.0, 1 - schedule.busy - opening)));
}

std::string MemoryText(const DryRun& run) {
  const int64_t weights = run.Most(&PlannedCell::weight_bytes);
  const int64_t traces = run.Most(&PlannedCell::trace_bytes);
  std::string text =
      fmt::format("memory of a process: about {}: weights {}, what is kept of one sample {}\n",
                  BytesText(weights + traces), BytesText(weights), BytesText(traces));
  int64_t attention = 0;
  for (const PlannedCell& cell : run.cells) attention += cell.samples * cell.attention_bytes;
  if (attention > 0) {
    text += "attention rows in the files: about " + BytesText(attention) + " before compression\n";
  }
  return text;
}

// Returns the time of a generated token and the equivalent number of prompt tokens: "5.7 ms = 240".
std::string GeneratedTokenText(const PlannedCell& cell) {
  if (cell.sample.generated_tokens == 0) return "-";
  constexpr double kMilliseconds = 1000;
  return fmt::format("{:.3g} ms = {:.3g}", kMilliseconds * cell.token_cost / cell.throughput,
                     cell.token_cost);
}

std::string AsText(const DryRun& run) {
  TextTable table({"model", "task", "seed", "samples", "runs", "prompt tokens", "work",
                   "generated at most", "tokens/s", "a generated token", "time"});
  for (const PlannedCell& cell : run.cells) {
    const auto samples = static_cast<double>(cell.samples);
    const double all = static_cast<double>(cell.sample.runs) /
                       static_cast<double>(std::max<int64_t>(cell.sample.prompts, 1)) *
                       cell.sample.prompt_tokens;
    table.Add({cell.cell.model, cell.cell.task, std::to_string(cell.cell.seed),
               std::to_string(cell.samples), std::to_string(cell.samples * cell.sample.runs),
               fmt::format("{:.0f}", samples * all),
               fmt::format("{:.0f}%",
                           100 * cell.sample.TokensOfWork(cell.token_cost) / std::max(all, 1.0)),
               fmt::format("{:.0f}", samples * cell.sample.generated_tokens),
               fmt::format("{:.0f}", cell.throughput), GeneratedTokenText(cell),
               TimeText(cell.seconds())});
  }
  std::string text = table.Text();
  for (const Schedule& schedule : run.schedules) text += ScheduleText(schedule);
  text += MemoryText(run);
  for (const std::string& advice : run.advice) text += "advice: " + advice + "\n";
  return text + fmt::format(
                    "prompt tokens: of all settings; work: what is run of them and not taken from "
                    "another setting's run,\nwith a generated token counted as so many of them "
                    "(measured; {:g} where it is not). A rank\nis taken to be as fast "
                    "as this process. Nothing was run for the sweep.\n",
                    kGeneratedTokenCost);
}

std::string AsJson(const DryRun& run) {
  Json json = {{"cells", Json::array()}, {"schedules", Json::array()}};
  for (const PlannedCell& cell : run.cells) {
    const auto samples = static_cast<double>(cell.samples);
    json["cells"].push_back({{"model", cell.cell.model},
                             {"task", cell.cell.task},
                             {"seed", cell.cell.seed},
                             {"samples", cell.samples},
                             {"runs", cell.samples * cell.sample.runs},
                             {"prompt_tokens", cell.tokens()},
                             {"work_tokens", samples * cell.sample.TokensOfWork(cell.token_cost)},
                             {"generated_tokens", samples * cell.sample.generated_tokens},
                             {"tokens_per_second", cell.throughput},
                             {"generated_token_cost", cell.token_cost},
                             {"seconds", cell.seconds()}});
  }
  for (const Schedule& schedule : run.schedules) {
    json["schedules"].push_back(
        {{"ranks", schedule.ranks},
         {"seconds", schedule.seconds},
         {"busy", schedule.busy},
         {"rank_seconds", schedule.seconds * static_cast<double>(schedule.ranks)},
         {"sample_seconds", schedule.sample_seconds},
         {"open_seconds", schedule.open_seconds},
         {"fewest_samples", schedule.fewest_samples},
         {"most_samples", schedule.most_samples}});
  }
  json["weight_bytes"] = run.Most(&PlannedCell::weight_bytes);
  json["trace_bytes"] = run.Most(&PlannedCell::trace_bytes);
  json["advice"] = run.advice;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string DryRunText(const OptionSet& options, const std::vector<SweepCell>& cells,
                       const JobContext& job) {
  Planner planner(options, job);
  DryRun run;
  run.cells.reserve(cells.size());
  std::vector<std::string> failures;
  for (const SweepCell& cell : cells) {
    job.ThrowIfCancelled();
    try {
      run.cells.push_back(planner.Plan(cell));
    } catch (const Error& error) {
      // Continues with the other cells, as the sweep does.
      if (failures.size() + 1 == cells.size()) throw;
      failures.push_back(fmt::format("{} on {}, seed {} cannot be run: {}", cell.task, cell.model,
                                     cell.seed, error.what()));
    }
  }
  const std::vector<CellCost> costs = CostsOf(run.cells);
  run.schedules = {PlanSchedule(costs, 1)};
  const int64_t ranks = options.Integer("ranks");
  if (ranks > 1) run.schedules.push_back(PlanSchedule(costs, ranks));
  run.advice = AdviceOn(run.cells, ranks);
  run.advice.insert(run.advice.begin(), failures.begin(), failures.end());
  return options.Flag("json") ? AsJson(run) : AsText(run);
}

}  // namespace midscope::cli
