// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_context.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/plan/run_positions.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {

namespace {

// Returns the number of tokens in the longest run of a question's prompts.
int64_t RowsOf(const TaskQuestion& question, const ScoreArms& score) {
  const auto prompt = static_cast<int64_t>(question.prompt.ids.size());
  auto answer = static_cast<int64_t>(question.prompt.answer_ids.size());
  // A choice may have a separate prompt.
  for (const Prompt& choice : question.choice_prompts) {
    answer = std::max(answer, std::ssize(choice.ids) + std::ssize(choice.answer_ids) - prompt);
  }
  const int64_t behind = std::max(score.likelihood ? answer : 1,
                                  score.generation ? question.sample.generation.new_tokens : 1);
  return prompt + std::max<int64_t>(behind, 1) - 1;
}

// Describes the problem with the position ids that a setting gives to a prompt; "" if none.
std::string WhyNotIds(const SweepSetting& setting, int64_t prompt, int64_t rows,
                      const ModelConfig& config) {
  try {
    CheckPositionsHeld(setting.intervention, config, prompt, rows);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Returns the largest number of positions that the setting needs for any of the prompts.
int64_t MostPositions(const std::vector<TaskQuestion>& questions, const SweepSetting& setting,
                      const ScoreArms& score) {
  int64_t most = 0;
  for (const TaskQuestion& question : questions) {
    const auto prompt = static_cast<int64_t>(question.prompt.ids.size());
    most = std::max(most, PositionsTaken(setting.intervention, prompt, RowsOf(question, score)));
  }
  return most;
}

// Returns why a setting cannot be run on the questions; "" if it can. The text begins with kTooLong
// or describes invalid position ids.
std::string WhyNot(const std::vector<TaskQuestion>& questions, const SweepSetting& setting,
                   const ScoreArms& score, const ModelConfig& config) {
  for (const TaskQuestion& question : questions) {
    const int64_t rows = RowsOf(question, score);
    const auto prompt = static_cast<int64_t>(question.prompt.ids.size());
    if (rows <= LongestRun(setting.intervention, config)) {
      std::string ids = WhyNotIds(setting, prompt, rows, config);
      if (ids.empty()) continue;
      return ids;
    }
    return fmt::format("{}: it has {} tokens, {} more {}; under setting {} {}", kTooLong, prompt,
                       rows - prompt + 1, rows == prompt ? "follows" : "follow", setting.text,
                       ContextHolds(setting.intervention, config));
  }
  return "";
}

// Returns a failure message without the prefix kTooLong.
std::string ReasonOf(const std::string& failure) {
  return failure.substr(std::string(kTooLong).size() + 2);
}

}  // namespace

// Prompts that are too long are rejected, not cut: cut at the end, they would lose the question;
// cut in the middle, the gold passage.
std::vector<std::string> ContextFailures(const std::vector<TaskQuestion>& questions,
                                         const std::vector<SweepSetting>& settings,
                                         const ScoreArms& score, const ModelConfig& config) {
  std::vector<std::string> failures;
  failures.reserve(settings.size());
  for (const SweepSetting& setting : settings) {
    failures.push_back(WhyNot(questions, setting, score, config));
  }
  return failures;
}

void CheckFits(const std::vector<std::string>& failures) {
  const bool none_runs = std::none_of(failures.begin(), failures.end(),
                                      [](const std::string& failure) { return failure.empty(); });
  if (failures.empty() || !none_runs) return;
  if (!failures.front().starts_with(kTooLong)) throw Failure("no setting fits", failures.front());
  throw Failure(
      kTooLong, ReasonOf(failures.front()),
      "Give shorter prompts (your own: jsonl:documents=N,file=FILE keeps N documents) or a "
      "position scheme that reaches further, or switch on --beyond-context");
}

void AddContextArrays(const std::vector<TaskQuestion>& questions,
                      const std::vector<SweepSetting>& settings,
                      const std::vector<std::string>& failures, const ScoreArms& score,
                      const ModelConfig& config, Record& record) {
  const bool differ =
      std::any_of(settings.begin(), settings.end(), [&](const SweepSetting& setting) {
        return setting.intervention.Find<GivenPositions>() ||
               LongestRun(setting.intervention, config) !=
                   LongestRun(settings.front().intervention, config);
      });
  if (differ) {
    record.arrays.push_back({kSettingFailure,
                             {"setting"},
                             failures,
                             "",
                             "why the setting could not be run on this sample; empty: it was"});
  }
  if (!config.beyond_context) return;
  std::vector<uint8_t> beyond;
  beyond.reserve(settings.size());
  for (size_t i = 0; i < settings.size(); ++i) {
    const bool is_beyond =
        failures[i].empty() && IsBeyondContext(MostPositions(questions, settings[i], score),
                                               settings[i].intervention, config);
    beyond.push_back(is_beyond ? 1 : 0);
  }
  record.arrays.push_back({kBeyondContext,
                           {"setting"},
                           std::move(beyond),
                           "",
                           "whether a prompt is longer than the context holds"});
}

PromptCuts PromptCutsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes) {
  const size_t places = plan.places.size();
  PromptCuts cuts{static_cast<int64_t>(outcomes.size()), std::vector<int64_t>(places),
                  std::vector<int64_t>(places), std::vector<int64_t>(places)};
  for (const SampleOutcome& outcome : outcomes) {
    for (size_t place = 0; place < std::min(places, outcome.prompt_cut.size()); ++place) {
      cuts.cut[place] += outcome.prompt_cut[place];
      const bool has_gold = outcome.gold_token_begin.at(place) >= 0;
      cuts.gold_cut[place] += has_gold ? 0 : 1;
    }
    const std::vector<int64_t>& ranks = outcome.gold_rank;
    for (size_t place = 0; place < std::min(places, ranks.size()); ++place) {
      const auto at = ranks.begin() + static_cast<std::ptrdiff_t>(place);
      cuts.repeated[place] += std::find(ranks.begin(), at, *at) == at ? 0 : 1;
    }
  }
  return cuts;
}

void AddPromptCuts(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                   Record& record) {
  const bool cuts = std::any_of(outcomes.begin(), outcomes.end(),
                                [](const auto& outcome) { return !outcome.prompt_cut.empty(); });
  PromptCuts counts = PromptCutsOf(plan, outcomes);
  const bool repeats = std::any_of(counts.repeated.begin(), counts.repeated.end(),
                                   [](int64_t samples) { return samples > 0; });
  if (repeats) {
    record.arrays.push_back({"repeated_samples",
                             {"place"},
                             std::move(counts.repeated),
                             "",
                             "samples whose gold piece has the rank that it has at an earlier "
                             "place, so that the two places share one run"});
  }
  if (!cuts) return;
  record.arrays.push_back({"cut_samples",
                           {"place"},
                           std::move(counts.cut),
                           "",
                           "samples whose prompt the task cut to its tokens"});
  record.arrays.push_back({"gold_cut_samples",
                           {"place"},
                           std::move(counts.gold_cut),
                           "",
                           "of these, samples of whose gold piece nothing is left"});
}

std::string PromptCutsText(const SweepPlan& plan, const PromptCuts& cuts) {
  const std::string all = CountText(cuts.samples, "sample");
  std::string golds;
  std::string others;
  for (size_t place = 0; place < plan.places.size(); ++place) {
    const std::string name = PlaceText(plan, plan.places[place]);
    const int64_t gold = cuts.gold_cut[place];
    if (gold > 0) golds += fmt::format("gold cut out in {} of {} at place {}\n", gold, all, name);
    const int64_t other = cuts.cut[place] - gold;
    if (other == 0) continue;
    others += others.empty() ? fmt::format("prompt cut in {} of {} at place {}", other, all, name)
                             : fmt::format(", {} at {}", other, name);
  }
  std::string repeated;
  for (size_t place = 0; place < plan.places.size(); ++place) {
    if (cuts.repeated[place] == 0) continue;
    repeated += fmt::format("{}{} of {} at {}", repeated.empty() ? "" : ", ", cuts.repeated[place],
                            all, PlaceText(plan, plan.places[place]));
  }
  if (!repeated.empty()) {
    repeated = "same document as at an earlier place, run once and counted at both: " + repeated;
    repeated += "\n";
  }
  return golds + (others.empty() ? "" : others + "\n") + repeated;
}

}  // namespace midscope
