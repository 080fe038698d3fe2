// SPDX-License-Identifier: MIT
#include "probes/cli/sweep_dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/decoder.h"
#include "core/scoring.h"
#include "probes/cli/progress_line.h"
#include "probes/cli/sweep_options.h"
#include "probes/cli/text_table.h"
#include "probes/model_options.h"
#include "probes/sweep_cost.h"
#include "probes/sweep_sample.h"
#include "probes/task_prompt.h"

namespace midscope::cli {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Whose prompts' lengths stand for all.
constexpr int64_t kSamplesLookedAt = 4;

struct PlannedCell {
  SweepCell cell;
  int64_t samples = 0;
  SampleCost sample;      // the mean of those looked at
  double throughput = 0;  // prompt tokens a second
  double seconds_to_open = 0;

  double seconds() const { return static_cast<double>(samples) * sample.work_tokens / throughput; }
  double tokens() const { return static_cast<double>(samples) * sample.prompt_tokens; }
};

// Of a run of the prompt with its answer, as much as the model's context holds (some settings hold
// more); the second run, for the first also warms up.
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

bool TracesFit(const Decoder& decoder, const std::vector<TaskQuestion>& questions) {
  int64_t bytes = 0;
  for (const TaskQuestion& question : questions) {
    bytes += decoder.TraceBytes(
        static_cast<int64_t>(question.prompt.ids.size() + question.prompt.answer_ids.size()));
  }
  return bytes <= kTraceMemoryBytes;
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
    planned.samples = plan.samples;
    const int64_t looked_at = std::min(plan.samples, kSamplesLookedAt);
    for (int64_t sample = 0; sample < looked_at; ++sample) {
      const std::vector<TaskQuestion> questions =
          TaskQuestions(decoder_->tokenizer(), *task, plan.places, sample, plan.format);
      Add(CostOfSample(plan, questions, decoder_->config(), TracesFit(*decoder_, questions)),
          1.0 / static_cast<double>(looked_at), planned.sample);
      if (!throughput_) throughput_ = MeasureThroughput(*decoder_, questions.front().prompt, job_);
    }
    planned.throughput = *throughput_;
    planned.seconds_to_open = seconds_to_open_;
    return planned;
  }

 private:
  void Open(const std::string& model) {
    if (decoder_ && model == model_) return;
    const Clock::time_point start = Clock::now();
    decoder_.reset();
    decoder_ = Decoder::Open(model, ReadDecoderOptions(options_), job_);
    seconds_to_open_ = SecondsSince(start);
    model_ = model;
    throughput_.reset();
    if (options_.Has("throughput")) throughput_ = options_.Number("throughput");
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
  double seconds_to_open_ = 0;
};

Schedule ScheduleOf(const std::vector<PlannedCell>& cells, int64_t ranks) {
  std::vector<CellCost> costs;
  costs.reserve(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const PlannedCell& cell = cells[i];
    const bool same_model = i > 0 && cells[i - 1].cell.model == cell.cell.model;
    costs.push_back({cell.samples, cell.sample.work_tokens / cell.throughput, cell.seconds_to_open,
                     same_model ? costs.back().model : i});
  }
  return PlanSchedule(costs, ranks);
}

std::string AsText(const std::vector<PlannedCell>& cells, const std::vector<Schedule>& schedules) {
  TextTable table({"model", "task", "seed", "samples", "runs", "prompt tokens", "of which run",
                   "generated at most", "tokens/s", "time"});
  for (const PlannedCell& cell : cells) {
    const auto samples = static_cast<double>(cell.samples);
    const double all = static_cast<double>(cell.sample.runs) /
                       static_cast<double>(std::max<int64_t>(cell.sample.prompts, 1)) *
                       cell.sample.prompt_tokens;
    table.Add({cell.cell.model, cell.cell.task, std::to_string(cell.cell.seed),
               std::to_string(cell.samples), std::to_string(cell.samples * cell.sample.runs),
               fmt::format("{:.0f}", samples * all),
               fmt::format("{:.0f}%", 100 * cell.sample.work_tokens / std::max(all, 1.0)),
               fmt::format("{:.0f}", samples * cell.sample.generated_tokens),
               fmt::format("{:.0f}", cell.throughput), TimeText(cell.seconds())});
  }
  std::string text = table.Text();
  for (const Schedule& schedule : schedules) {
    text += fmt::format("{} {}: {}, {:.0f} % of it in samples\n", schedule.ranks,
                        schedule.ranks == 1 ? "process" : "ranks", TimeText(schedule.seconds),
                        100 * schedule.busy);
  }
  return text +
         "prompt tokens: of all settings; of which run: what is not taken from another setting's "
         "run, generated\ntokens counted tenfold. A rank is taken to be as fast as this process. "
         "Nothing was run for the sweep.\n";
}

std::string AsJson(const std::vector<PlannedCell>& cells, const std::vector<Schedule>& schedules) {
  using Json = nlohmann::ordered_json;
  Json json = {{"cells", Json::array()}, {"schedules", Json::array()}};
  for (const PlannedCell& cell : cells) {
    const auto samples = static_cast<double>(cell.samples);
    json["cells"].push_back({{"model", cell.cell.model},
                             {"task", cell.cell.task},
                             {"seed", cell.cell.seed},
                             {"samples", cell.samples},
                             {"runs", cell.samples * cell.sample.runs},
                             {"prompt_tokens", cell.tokens()},
                             {"work_tokens", samples * cell.sample.work_tokens},
                             {"generated_tokens", samples * cell.sample.generated_tokens},
                             {"tokens_per_second", cell.throughput},
                             {"seconds", cell.seconds()}});
  }
  for (const Schedule& schedule : schedules) {
    json["schedules"].push_back(
        {{"ranks", schedule.ranks}, {"seconds", schedule.seconds}, {"busy", schedule.busy}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string DryRunText(const OptionSet& options, const std::vector<SweepCell>& cells,
                       const JobContext& job) {
  Planner planner(options, job);
  std::vector<PlannedCell> planned;
  planned.reserve(cells.size());
  for (const SweepCell& cell : cells) {
    job.ThrowIfCancelled();
    planned.push_back(planner.Plan(cell));
  }
  std::vector<Schedule> schedules = {ScheduleOf(planned, 1)};
  const int64_t ranks = options.Integer("ranks");
  if (ranks > 1) schedules.push_back(ScheduleOf(planned, ranks));
  return options.Flag("json") ? AsJson(planned, schedules) : AsText(planned, schedules);
}

}  // namespace midscope::cli
