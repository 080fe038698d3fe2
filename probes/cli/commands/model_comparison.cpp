// SPDX-License-Identifier: MIT
#include "probes/cli/commands/model_comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <sstream>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/model/model_source.h"
#include "data/store/record_reader.h"
#include "data/tasks/task.h"
#include "probes/base/records.h"
#include "probes/cli/commands/file_outcome.h"
#include "probes/prompt/task_prompt.h"

namespace midscope::cli {

void RunOther(const std::string& name, const CommandInput& input,
              const std::vector<std::pair<std::string, ParameterValue>>& own,
              const std::set<std::string>& left_out) {
  const Command& command = FindCommand(name);
  OptionSet options(command.options);
  for (const Parameter& option : command.options) {
    const auto& mine = input.options.descriptions();
    const bool shared = std::any_of(mine.begin(), mine.end(), [&](const Parameter& each) {
      return each.name == option.name && each.kind == option.kind;
    });
    if (shared && option.name != "json" && !left_out.contains(option.name) &&
        input.options.IsSet(option.name))
      options.Set(option.name, input.options.Value(option.name));
  }
  for (const auto& [option, value] : own) options.Set(option, value);
  std::ostringstream table;  // output that is not printed
  command.run({options, input.job, input.command_line, table, input.ranks});
}

namespace {

HeadMeans MeansOf(const RunReader& reader, const HeadMeasure& measure) {
  if (!reader.Has(measure.record)) return {};
  const Record record = reader.Read(measure.record);
  const Array* array = record.FindArray(measure.array);
  if (array == nullptr) return {};
  HeadMeans means{AxisOf(record, "layer").size, AxisOf(record, "head").size, {}};
  const auto size = static_cast<size_t>(means.layers * means.heads);
  means.values.assign(size, 0);
  std::vector<int64_t> counts(size, 0);
  std::visit(
      [&](const auto& values) {
        if constexpr (std::is_arithmetic_v<typename std::decay_t<decltype(values)>::value_type>) {
          for (size_t i = 0; i < values.size(); ++i) {
            const auto value = static_cast<double>(values[i]);
            if (std::isnan(value)) continue;
            means.values[i % size] += value;
            ++counts[i % size];
          }
        }
      },
      array->data);
  for (size_t i = 0; i < size; ++i) means.values[i] /= static_cast<double>(counts[i]);
  return means;
}

std::vector<HeadMeans> MeasureHeads(const CommandInput& input, const std::string& model,
                                    const std::string& task, const std::string& file) {
  const OptionSet& options = input.options;
  RunOther("probe", input,
           {{"model", model},
            {"task", task},
            {"with", std::vector<std::string>{options.TextList("with").front()}},
            {"samples", std::min(options.Integer("head-samples"), options.Integer("samples"))},
            {"probes", std::string("span_attention,position_awareness")},
            {"out", file}});
  const RunReader reader(file);
  std::vector<HeadMeans> means;
  for (const HeadMeasure& measure : HeadMeasures()) means.push_back(MeansOf(reader, measure));
  return means;
}

// Returns all places as a text that CompareOutcomes reads; "" if there is only one.
std::string AllPlaces(const FileOutcome& outcome) {
  if (outcome.places.size() < 2) return "";
  std::string text;
  for (size_t i = 0; i < outcome.places.size(); ++i) {
    const std::string place =
        outcome.place_texts.empty() ? std::to_string(outcome.places[i]) : outcome.place_texts[i];
    text += (text.empty() ? "" : ",") + place;
  }
  return text;
}

}  // namespace

const std::vector<HeadMeasure>& HeadMeasures() {
  static const std::vector<HeadMeasure> measures = {
      {"gold attention", "span_attention", "gold_attention"},
      {"position awareness", "position_awareness", "position_awareness_score"}};
  return measures;
}

std::vector<size_t> HeadMeans::Largest(size_t count) const {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t i) { return std::isnan(values[i]) ? -1 : values[i]; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
  order.resize(std::min(order.size(), count));
  return order;
}

void CheckSameTexts(const std::string& before, const std::string& after, const std::string& task,
                    uint64_t seed, int64_t samples) {
  const auto first = OpenRunnableModel(before);
  const auto second = OpenRunnableModel(after);
  const auto of_before = MakeTaskFor(*first.tokenizer, task, seed);
  const auto of_after = MakeTaskFor(*second.tokenizer, task, seed);
  constexpr int64_t kMostChecked = 100;
  const int64_t all = of_before->samples().value_or(samples == 0 ? 1 : samples);
  const int64_t checked = std::min({all, samples == 0 ? all : samples, kMostChecked});
  for (int64_t sample = 0; sample < checked; ++sample) {
    const int64_t place = of_before->first_place();
    if (of_before->Make(sample, place).text == of_after->Make(sample, place).text) continue;
    throw Failure("task " + Quote(task),
                  fmt::format("its sample {} is another text for {} than for {}, because it is "
                              "made by the model's tokens",
                              sample, after, before),
                  "Take a task whose texts do not depend on the tokenizer, such as kv:pairs=10, or "
                  "a file");
  }
}

ModelComparison CompareModels(const CommandInput& input, const std::string& task,
                              const std::string& stem) {
  const OptionSet& options = input.options;
  std::vector<RunReader> readers;
  for (const char* side : {"before", "after"}) {
    const std::string file = stem + "_" + side + ".h5";
    RunOther("sweep", input,
             {{"model", options.Text(side)},
              {"task", std::vector<std::string>{task}},
              {"seed", std::to_string(options.Integer("seed"))},
              {"out", file}});
    readers.emplace_back(file);
  }
  std::vector<FileOutcome> outcomes = ReadFileOutcomes(readers);
  // Compares settings by index: canonical forms may differ, as they contain defaults of the model.
  const std::vector<std::string>& settings = options.TextList("with");
  for (FileOutcome& outcome : outcomes) {
    if (outcome.settings.size() == settings.size()) outcome.settings = settings;
  }
  ModelComparison comparison;
  comparison.task = outcomes.front().task;
  for (ComparedCell& cell : CompareOutcomes(readers, outcomes, AllPlaces(outcomes.front())))
    (cell.file == 0 ? comparison.before : comparison.after).push_back(std::move(cell));
  if (comparison.before.size() != comparison.after.size() || comparison.after.empty()) {
    throw Failure("task " + Quote(task), "the two models were run at different places",
                  "Give --places");
  }
  if (options.Integer("head-samples") == 0 || IsPerplexityTask(comparison.task)) return comparison;
  comparison.heads_before =
      MeasureHeads(input, options.Text("before"), task, stem + "_before_heads.h5");
  comparison.heads_after =
      MeasureHeads(input, options.Text("after"), task, stem + "_after_heads.h5");
  return comparison;
}

std::vector<std::string> ComparisonVerdicts(const ModelComparison& comparison) {
  std::vector<std::string> settings;
  for (const ComparedCell& cell : comparison.after) {
    if (std::find(settings.begin(), settings.end(), cell.setting) == settings.end())
      settings.push_back(cell.setting);
  }
  std::vector<std::string> verdicts;
  for (const std::string& setting : settings) {
    std::vector<ComparedCell> cells;
    std::copy_if(comparison.after.begin(), comparison.after.end(), std::back_inserter(cells),
                 [&](const ComparedCell& cell) { return cell.setting == setting; });
    // If there are several places, the last cell is the mean over them.
    const ComparedCell& mean = cells.back();
    const auto largest = std::max_element(cells.begin(), cells.end() - (mean.is_mean ? 1 : 0),
                                          [](const auto& a, const auto& b) {
                                            return std::abs(a.difference) < std::abs(b.difference);
                                          });
    const Interval& interval = mean.interval;
    const std::string amount =
        fmt::format("{:.2f} nats [{:.2f}, {:.2f}]", mean.difference, interval.low, interval.high);
    std::string text = fmt::format("{}, {}: ", comparison.task, setting);
    if (!std::isfinite(interval.low)) {
      text += fmt::format("AFTER - BEFORE is {:.2f} nats, without an interval", mean.difference);
    } else if (interval.low <= 0 && interval.high >= 0) {
      text += "no difference found: " + amount;
    } else {
      text += fmt::format("AFTER answers {} than BEFORE: {}",
                          interval.high < 0 ? "better" : "worse", amount);
    }
    if (mean.is_mean) {
      text += fmt::format(" over the places; the largest change is at place {}: {:.2f}",
                          largest->place_text, largest->difference);
    }
    verdicts.push_back(std::move(text));
  }
  return verdicts;
}

Record ComparisonRecord(const ModelComparison& comparison, const std::string& name) {
  Record record;
  record.name = name;
  record.attributes["task"] = comparison.task;
  // One row per setting and place; the mean over places has the place "mean".
  std::vector<std::string> rows;
  for (const ComparedCell& cell : comparison.after)
    rows.push_back(cell.setting + " @ " + cell.place_text);
  record.axes = {LabelledAxis("cell", std::move(rows))};
  const auto add = [&](const std::string& array, const std::vector<ComparedCell>& cells,
                       double (*value)(const ComparedCell&), const std::string& unit,
                       const std::string& what) {
    std::vector<double> values;
    values.reserve(cells.size());
    for (const ComparedCell& cell : cells) values.push_back(value(cell));
    record.arrays.push_back({array, {"cell"}, std::move(values), unit, what});
  };
  const auto nll = [](const ComparedCell& cell) { return cell.answer_nll; };
  const auto accuracy = [](const ComparedCell& cell) { return cell.accuracy; };
  add("answer_nll_before", comparison.before, nll, "nats", "mean over samples, model BEFORE");
  add("answer_nll_after", comparison.after, nll, "nats", "mean over samples, model AFTER");
  add("accuracy_before", comparison.before, accuracy, "", "share of samples, model BEFORE");
  add("accuracy_after", comparison.after, accuracy, "", "share of samples, model AFTER");
  add(
      "difference", comparison.after, [](const ComparedCell& cell) { return cell.difference; },
      "nats", "answer_nll, AFTER - BEFORE, paired by sample");
  add(
      "difference_low", comparison.after,
      [](const ComparedCell& cell) { return cell.interval.low; }, "nats", "95 % interval");
  add(
      "difference_high", comparison.after,
      [](const ComparedCell& cell) { return cell.interval.high; }, "nats", "95 % interval");
  for (const char* side : {"before", "after"}) {
    const bool is_before = std::string_view(side) == "before";
    const auto& heads = is_before ? comparison.heads_before : comparison.heads_after;
    for (size_t i = 0; i < heads.size(); ++i) {
      if (heads[i].values.empty()) continue;
      const std::string layer = std::string("layer_") + side;
      const std::string head = std::string("head_") + side;
      if (record.FindAxis(layer) == nullptr) {
        record.axes.push_back(CountedAxis(layer, heads[i].layers));
        record.axes.push_back(CountedAxis(head, heads[i].heads));
      }
      record.arrays.push_back({HeadMeasures()[i].array + "_" + side,
                               {layer, head},
                               heads[i].values,
                               "",
                               HeadMeasures()[i].name + ", mean over samples and places"});
    }
  }
  record.signal = "difference";
  return record;
}

}  // namespace midscope::cli
