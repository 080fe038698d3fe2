// SPDX-License-Identifier: MIT
#include "probes/cli/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/cli/setting_letters.h"
#include "probes/cli/text_table.h"
#include "probes/plan_texts.h"

namespace midscope::cli {
namespace {

std::string WithInterval(double value, const Interval& interval) {
  if (!std::isfinite(value)) return "-";
  if (!std::isfinite(interval.low)) return fmt::format("{:.2f}", value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, interval.low, interval.high);
}

std::string PText(double p) {
  if (!std::isfinite(p)) return "-";
  return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p);
}

std::string SettingText(const SweepSetting& setting) {
  return setting.control_of.empty() ? setting.text : setting.text + " (control)";
}

// The columns of measures that not every sweep has.
bool Has(const CellReport& report, double CellStatistics::*mean) {
  return std::any_of(report.means.begin(), report.means.end(),
                     [&](const CellStatistics& cell) { return std::isfinite(cell.*mean); });
}

std::string CellsText(const CellReport& report) {
  const SweepPlan& plan = report.plan;
  const bool likelihood = plan.score.likelihood;
  const bool choice = Has(report, &CellStatistics::choice_accuracy);
  const bool generation = Has(report, &CellStatistics::generation_score);
  std::vector<std::string> header = {"setting", "place", "samples"};
  if (likelihood) header.emplace_back("accuracy");
  if (choice) header.emplace_back("choice");
  if (generation) header.emplace_back("generated [95 %]");
  if (likelihood) {
    header.emplace_back("answer_nll [95 %]");
    header.emplace_back("difference [95 %]");
  }
  TextTable table(header);
  for (size_t i = 0; i < report.means.size(); ++i) {
    const CellStatistics& cell = report.means[i];
    const bool first_setting = i < plan.places.size();
    std::vector<std::string> row = {SettingText(plan.settings[i / plan.places.size()]),
                                    PlaceText(plan, plan.places[i % plan.places.size()]),
                                    std::to_string(cell.samples)};
    if (likelihood) row.push_back(fmt::format("{:.2f}", cell.accuracy));
    if (choice) row.push_back(fmt::format("{:.2f}", cell.choice_accuracy));
    if (generation) row.push_back(WithInterval(cell.generation_score, cell.generation_interval));
    if (likelihood) {
      row.push_back(WithInterval(cell.answer_nll, cell.answer_nll_interval));
      row.push_back(first_setting ? "" : WithInterval(cell.difference, cell.difference_interval));
    }
    table.Add(std::move(row));
  }
  return table.Text();
}

// The likelihood and the score that the task is published by; the file and the JSON have all
// measures.
bool IsShown(const CellReport& report, const std::string& measure) {
  if (measure == "answer_nll") return true;
  const char* score = Has(report, &CellStatistics::generation_score)  ? "generation_score"
                      : Has(report, &CellStatistics::choice_accuracy) ? "choice_accuracy"
                                                                      : "accuracy";
  return measure == score;
}

std::string SettingsText(const CellReport& report) {
  TextTable table(
      {"over places", "measure", "mean [95 %]", "gap [95 %]", "best", "worst", "place p"});
  for (const SettingStatistics& one : report.statistics.settings) {
    if (!IsShown(report, one.measure)) continue;
    table.Add({SettingText(report.plan.settings[one.setting]), one.measure,
               WithInterval(one.mean, one.mean_interval), WithInterval(one.gap, one.gap_interval),
               PlaceText(report.plan, one.best_place), PlaceText(report.plan, one.worst_place),
               PText(one.place_p_holm)});
  }
  return table.Text();
}

// Differences at single places stand in the table of cells; here is what sums them up.
std::string ComparisonsText(const CellReport& report) {
  TextTable table({"setting", "against", "measure", "what", "difference [95 %]", "p"});
  bool any = false;
  for (const SettingComparison& one : report.statistics.comparisons) {
    const bool single = report.plan.places.size() > 1 && one.what.starts_with("place");
    if (single || !IsShown(report, one.measure)) continue;
    any = true;
    table.Add({report.plan.settings[one.setting].text,
               SettingText(report.plan.settings[one.against]), one.measure, one.what,
               WithInterval(one.difference, one.interval), PText(one.p_holm)});
  }
  return any ? "\n" + table.Text() : "";
}

std::string AdviceText(const CellReport& report) {
  std::string text;
  for (const SampleAdvice& one : report.statistics.advice) {
    if (!IsShown(report, one.measure)) continue;
    const bool nats = one.measure == "answer_nll";
    const auto amount = [&](double value) {
      return nats ? fmt::format("{:.2f} nats", value) : fmt::format("{:.1f} points", 100 * value);
    };
    text += fmt::format(
        "{}: {} samples show differences of {} at one place; {} need {} (80 % power, 5 % level)\n",
        one.measure, report.statistics.samples, amount(one.detectable), amount(one.wanted),
        one.samples_for_wanted);
  }
  return text;
}

std::string NotesText(const CellReport& report) {
  std::string text;
  if (report.plan.score.likelihood) {
    text +=
        "answer_nll: nats, summed over the answer's tokens; difference: to the first setting, "
        "sample by sample\n";
  }
  if (report.plan.score.generation) {
    text += "generated: the task's own score of the text that the model generates\n";
  }
  if (report.failed > 0) {
    text += fmt::format(
        "{} samples failed and are in no number, {} of them for prompts that are "
        "too long{}\n",
        report.failed, report.too_long, report.file.empty() ? "" : "; the file says why");
  }
  return text;
}

std::string ReportText(const CellReport& report) {
  std::string text = CellsText(report) + NotesText(report);
  if (report.statistics.samples < 2) return text;
  if (report.plan.places.size() > 1) {
    text += "\n" + SettingsText(report);
  }
  text += ComparisonsText(report);
  const size_t tests = report.statistics.comparisons.size();
  text += "gap: best place less worst; p: permutation tests";
  if (tests > 0) {
    const auto& measure = report.statistics.comparisons.front().measure;
    const auto family =
        std::count_if(report.statistics.comparisons.begin(), report.statistics.comparisons.end(),
                      [&](const auto& one) { return one.measure == measure; });
    text += fmt::format(", adjusted by Holm over the {} comparisons of a measure", family);
  }
  return text + "\n" + AdviceText(report);
}

}  // namespace

CellReport MakeReport(const SweepCell& cell, const std::string& file, const SweepPlan& plan,
                      const SweepResult& result) {
  return {cell,
          file,
          plan,
          Summarise(plan, result),
          AnalyseSweep(plan, result.outcomes),
          static_cast<int64_t>(result.failures.size()),
          result.too_long()};
}

namespace {

// Wide settings are called by letters in the tables, and stand above them.
std::string LetteredText(const CellReport& report) {
  std::vector<std::string> texts;
  for (const SweepSetting& setting : report.plan.settings) texts.push_back(setting.text);
  const SettingLetters letters(texts);
  if (letters.Legend().empty()) return ReportText(report);
  CellReport lettered = report;
  for (size_t i = 0; i < texts.size(); ++i) lettered.plan.settings[i].text = letters.Name(i);
  return letters.Legend() + "\n" + ReportText(lettered);
}

}  // namespace

std::string SweepText(const std::vector<CellReport>& reports) {
  if (reports.size() == 1) return LetteredText(reports.front());
  std::string text;
  for (const CellReport& report : reports) {
    text +=
        fmt::format("{}model {}, task {}, seed {}\n{}", text.empty() ? "" : "\n", report.cell.model,
                    report.plan.task, report.plan.seed, LetteredText(report));
  }
  return text;
}

std::string RunningTable(const SweepPlan& plan, const SweepResult& result) {
  const std::vector<OutcomeMeasure> measures = MeasuresOf(result.outcomes);
  std::vector<std::string> header = {"so far"};
  for (const OutcomeMeasure& measure : measures) header.push_back(measure.name);
  TextTable table(header);
  const size_t places = plan.places.size();
  for (size_t setting = 0; setting < plan.settings.size(); ++setting) {
    std::vector<std::string> row = {SettingText(plan.settings[setting])};
    for (const OutcomeMeasure& measure : measures) {
      double sum = 0;
      for (const std::vector<double>& sample : measure.values) {
        for (size_t place = 0; place < places; ++place) sum += sample[setting * places + place];
      }
      row.push_back(fmt::format("{:.2f}", sum / static_cast<double>(std::max<size_t>(
                                                    1, measure.values.size() * places))));
    }
    table.Add(std::move(row));
  }
  return table.Text();
}

}  // namespace midscope::cli
