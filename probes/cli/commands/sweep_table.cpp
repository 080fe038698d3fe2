// SPDX-License-Identifier: MIT
#include "probes/cli/commands/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/plan/run_positions.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/generated_table.h"
#include "probes/sweep/place_verdict.h"
#include "probes/sweep/plan_texts.h"

namespace midscope::cli {
namespace {

// Number of samples below which bootstrap intervals are noticeably too narrow.
constexpr int64_t kFewSamples = 20;

// Returns whether prompts exceeded the context under the setting, which is then marked.
bool IsBeyondContext(const CellReport& report, size_t setting) {
  return report.means[setting * report.plan.places.size()].beyond_context > 0;
}

// Returns whether the sweep has values of a measure; columns of missing measures are omitted.
bool Has(const CellReport& report, double CellStatistics::*mean) {
  return std::any_of(report.means.begin(), report.means.end(),
                     [&](const CellStatistics& cell) { return std::isfinite(cell.*mean); });
}

// Returns the number of samples; "2 of 4" if the setting was not run on all of them.
std::string SamplesText(const CellReport& report, const CellStatistics& cell) {
  const int64_t all = report.statistics.samples;
  return cell.samples == all ? std::to_string(all) : fmt::format("{} of {}", cell.samples, all);
}

TextTable CellsTable(const CellReport& report) {
  const SweepPlan& plan = report.plan;
  const bool likelihood = plan.score.likelihood;
  const bool choice = Has(report, &CellStatistics::choice_accuracy);
  const bool share = Has(report, &CellStatistics::right_share);
  const bool generation = Has(report, &CellStatistics::generation_score);
  const bool perplexity = Has(report, &CellStatistics::perplexity);
  const bool documents = Has(report, &CellStatistics::document_perplexity);
  std::vector<std::string> header = {"setting", "place", "samples"};
  if (likelihood) header.emplace_back("accuracy [95 %]");
  if (choice) header.emplace_back("choice_accuracy [95 %]");
  if (share) header.emplace_back("right_share [95 %]");
  if (generation) header.emplace_back("generation_score [95 %]");
  if (perplexity) header.emplace_back("perplexity [95 %]");
  if (documents) header.emplace_back("of documents [95 %]");
  if (likelihood) {
    header.emplace_back("answer_nll [95 %]");
    header.emplace_back("difference [95 %]");
  }
  TextTable table(header);
  for (size_t i = 0; i < report.means.size(); ++i) {
    const CellStatistics& cell = report.means[i];
    const bool first_setting = i < plan.places.size();
    std::vector<std::string> row = {SettingText(report, i / plan.places.size()),
                                    PlaceText(plan, plan.places[i % plan.places.size()]),
                                    SamplesText(report, cell)};
    if (likelihood) row.push_back(WithInterval(cell.accuracy, cell.accuracy_interval));
    if (choice) row.push_back(WithInterval(cell.choice_accuracy, cell.choice_interval));
    if (share) row.push_back(WithInterval(cell.right_share, cell.right_share_interval));
    if (generation) row.push_back(WithInterval(cell.generation_score, cell.generation_interval));
    if (perplexity) row.push_back(WithInterval(cell.perplexity, cell.perplexity_interval));
    if (documents) {
      row.push_back(WithInterval(cell.document_perplexity, cell.document_perplexity_interval));
    }
    if (likelihood) {
      row.push_back(WithInterval(cell.answer_nll, cell.answer_nll_interval));
      row.push_back(first_setting ? "" : WithInterval(cell.difference, cell.difference_interval));
    }
    table.Add(std::move(row));
  }
  return table;
}

// Returns the text of a place; "-" if all places are equal.
TextTable SettingsTable(const CellReport& report) {
  // p tests one setting alone; with several settings, an adjusted p is also shown.
  const bool several = report.plan.settings.size() > 1;
  std::vector<std::string> header = {"over places",   "measure", "mean [95 %]", "gap [95 %]",
                                     "gap by chance", "best",    "worst",       "place p"};
  if (several) header.emplace_back("adjusted");
  TextTable table(header);
  for (const SettingStatistics& one : report.statistics.settings) {
    if (!IsShown(report, one.measure)) continue;
    std::vector<std::string> row = {
        SettingText(report, one.setting),
        one.measure,
        WithInterval(one.mean, one.mean_interval),
        WithInterval(one.gap, one.gap_interval),
        std::isfinite(one.chance_gap) ? fmt::format("{:.2f}", one.chance_gap) : "-",
        PlacesText(report.plan, one.best_places),
        PlacesText(report.plan, one.worst_places),
        PText(one.place_p)};
    if (several) row.push_back(PText(one.place_p_holm));
    table.Add(std::move(row));
  }
  return table;
}

// Returns one line per measure with the gap between places expected by chance, which could be
// mistaken for an effect.
std::string ChanceText(const CellReport& report) {
  std::string text;
  for (const SweepStatistics::Methods& methods : report.statistics.methods) {
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    for (const SettingStatistics& one : report.statistics.settings) {
      if (one.measure != methods.measure || !std::isfinite(one.chance_gap)) continue;
      least = std::min(least, one.chance_gap);
      most = std::max(most, one.chance_gap);
    }
    if (!IsShown(report, methods.measure) || least > most) continue;
    const std::string low = fmt::format("{:.2f}", least);
    const std::string high = fmt::format("{:.2f}", most);
    const std::string range = low == high ? low : fmt::format("{} to {}", low, high);
    text +=
        fmt::format("{}: a gap is never negative; chance alone gives {}\n", methods.measure, range);
  }
  return text;
}

// Returns a table of differences between settings, except at single places (in the table of cells).
TextTable ComparisonsTable(const CellReport& report) {
  TextTable table({"setting", "against", "measure", "what", "difference [95 %]", "p"});
  for (const SettingComparison& one : report.statistics.comparisons) {
    const bool single = report.plan.places.size() > 1 && one.what.starts_with("place");
    if (single || !IsShown(report, one.measure)) continue;
    table.Add({SettingText(report, one.setting), SettingText(report, one.against), one.measure,
               one.what, WithInterval(one.difference, one.interval), PText(one.p_holm)});
  }
  return table;
}

std::string AdviceText(const CellReport& report) {
  std::string text;
  for (const SampleAdvice& one : report.statistics.advice) {
    if (!IsShown(report, one.measure)) continue;
    const bool nats = one.measure == kAnswerNll;
    const auto amount = [&](double value) {
      return nats ? fmt::format("{:.2f} nats", value) : fmt::format("{:.1f} points", 100 * value);
    };
    text += fmt::format(
        "{}: with {} the smallest detectable difference at one place is {}; detecting {} takes {} "
        "(80 % power, 5 % level)\n",
        one.measure, CountText(one.samples, "sample"), amount(one.detectable), amount(one.wanted),
        CountText(one.samples_for_wanted, "sample"));
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
  if (Has(report, &CellStatistics::perplexity)) {
    text +=
        std::string("perplexity: exp of the nats per token, over all tokens that are scored; ") +
        kPerplexityMethod + "\n";
  }
  if (Has(report, &CellStatistics::document_perplexity)) {
    text +=
        "of documents: mean over documents of each document's perplexity; Student's t over "
        "documents\n";
  }
  if (report.plan.score.generation) {
    text += "generation_score: the task's own score of the text that the model generates\n";
  }
  if (!report.generation_mean.empty()) {
    text += "generation_score, mean: " + report.generation_mean + "\n";
  }
  if (report.failed > 0) {
    text += fmt::format(
        "{} failed and {} excluded from all statistics, {} of them for prompts that are "
        "too long{}\n",
        CountText(report.failed, "sample"), report.failed == 1 ? "is" : "are", report.too_long,
        report.file.empty() ? "" : "; the file says why");
  }
  if (report.partly_failed > 0) {
    text += fmt::format(
        "{} could not be run under every setting and {} in the numbers of the others; "
        "differences are over the samples that both settings ran. The first: {}\n",
        CountText(report.partly_failed, "sample"), report.partly_failed == 1 ? "is" : "are",
        report.setting_failure);
  }
  text += PromptCutsText(report.plan, report.cuts);
  for (size_t i = 0; i < report.plan.settings.size(); ++i) {
    if (!IsBeyondContext(report, i)) continue;
    text += fmt::format("* prompts beyond the model's context: {}\n", kBeyondContextMeaning);
    break;
  }
  return text;
}

// Returns the methods of the intervals of the shown measures.
std::string MethodsText(const CellReport& report) {
  std::string means;
  std::string differences;
  for (const SweepStatistics::Methods& methods : report.statistics.methods) {
    if (!IsShown(report, methods.measure)) continue;
    means += fmt::format("{}{} by {}", means.empty() ? "" : "; ", methods.measure,
                         methods.mean_over_places);
    differences += fmt::format("{}{} by {}", differences.empty() ? "" : "; ", methods.measure,
                               methods.difference_over_places);
  }
  const bool few = report.statistics.samples < kFewSamples;
  return fmt::format(
      "95 % intervals of means: {}\nof differences: {}\nof gaps: {}{}\n", means, differences,
      kBootstrapMethod,
      few ? fmt::format(", which holds less than 95 % below {} samples", kFewSamples) : "");
}

// Returns a note if, with so few samples, the smallest possible p is too large to show an effect.
std::string SmallestPText(const CellReport& report, int64_t family) {
  int64_t samples = 0;
  double smallest = 0;
  for (const SettingComparison& one : report.statistics.comparisons) {
    if (!IsShown(report, one.measure) || one.samples == 0 || one.smallest_p <= smallest) continue;
    smallest = one.smallest_p;
    samples = one.samples;
  }
  const double adjusted = std::min(1.0, smallest * static_cast<double>(family));
  if (adjusted <= 0.05) return "";
  std::string text = fmt::format("{}: p of a difference cannot fall below {}",
                                 CountText(samples, "sample"), PText(smallest));
  if (family > 1) text += fmt::format(", {} adjusted", PText(adjusted));
  return text + "\n";
}

// Returns a table of the task's score by data set and group, over places.
Printout GroupTables(const CellReport& report) {
  Printout text;
  for (const MeasureGroups& measure : report.groups) {
    if (measure.measure == kAnswerNll || !IsShown(report, measure.measure)) continue;
    std::vector<std::string> header = {measure.measure, "samples"};
    for (size_t i = 0; i < report.plan.settings.size(); ++i)
      header.push_back(SettingText(report, i));
    TextTable table(header);
    for (const GroupMean& group : measure.groups) {
      std::vector<std::string> row = {group.name, std::to_string(group.samples)};
      for (const double mean : group.mean) {
        row.push_back(std::isfinite(mean) ? fmt::format("{:.3f}", mean) : "-");
      }
      table.Add(std::move(row));
    }
    text += "\n";
    text.Add(measure.measure + " by group of data sets", std::move(table));
    text +=
        "of a group the mean over its data sets, of all groups that over groups; all samples "
        "alike are in the table above\n";
  }
  return text;
}

}  // namespace

std::string SettingText(const CellReport& report, size_t setting) {
  return report.plan.settings[setting].TextWithRole() +
         (IsBeyondContext(report, setting) ? " *" : "");
}

bool IsShown(const CellReport& report, const std::string& measure) {
  if (measure == kAnswerNll) return true;
  const char* score = Has(report, &CellStatistics::generation_score)  ? "generation_score"
                      : Has(report, &CellStatistics::choice_accuracy) ? "choice_accuracy"
                      : Has(report, &CellStatistics::right_share)     ? "right_share"
                                                                      : "accuracy";
  return measure == score;
}

std::string VerdictLines(const CellReport& report) {
  std::string text;
  if (!report.chosen_places.empty()) text += "over " + report.chosen_places + "\n";
  for (const PlaceVerdict& verdict : PlaceVerdicts(report.plan, report.statistics)) {
    text += SettingText(report, verdict.setting) + ": " + verdict.text + "\n";
  }
  return text;
}

Printout SweepTables(const CellReport& report) {
  Printout text;
  text.Add("Outcome by place, mean over samples with 95 % interval", CellsTable(report));
  text += NotesText(report);
  text += GroupTables(report);
  const Printout generated = GeneratedTables(report.plan, report.generated);
  if (!generated.blocks().empty()) text += "\n";
  text += generated;
  if (report.statistics.samples < 2) return text;
  if (report.plan.places.size() > 1) {
    text += "\n";
    text.Add("Outcome over places, and the test whether the place matters", SettingsTable(report));
    text += ChanceText(report);
  }
  if (TextTable comparisons = ComparisonsTable(report); comparisons.rows().size() > 1) {
    text += "\n";
    text.Add("Paired differences between settings", std::move(comparisons));
  }
  return text;
}

std::string SweepMethodLines(const CellReport& report) {
  if (report.statistics.samples < 2) return "";
  std::string text =
      "gap: best place minus worst; chance: the gap that permuted places have; place p: whether "
      "the place matters, by permutation";
  if (const auto settings = std::ssize(report.plan.settings); settings > 1) {
    text += fmt::format("; adjusted: place p by Holm over the {} settings of this table", settings);
  }
  int64_t family = 0;
  if (!report.statistics.comparisons.empty()) {
    const auto& measure = report.statistics.comparisons.front().measure;
    family =
        std::count_if(report.statistics.comparisons.begin(), report.statistics.comparisons.end(),
                      [&](const auto& one) { return one.measure == measure; });
    text += fmt::format("\np of differences: by permutation, adjusted by Holm over {} of a measure",
                        CountText(family, "comparison"));
  }
  text += "\n" + MethodsText(report);
  if (family > 0) text += SmallestPText(report, family);
  return text + AdviceText(report);
}

namespace {

// Returns the whole output for one cell of a grid.
std::string ReportText(const CellReport& report) {
  const std::string verdicts = VerdictLines(report);
  return (verdicts.empty() ? "" : verdicts + "\n") + SweepTables(report).Text() +
         SweepMethodLines(report);
}

// Returns the report with wide settings replaced by letters in the tables, and their list above.
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
    std::vector<std::string> row = {plan.settings[setting].TextWithRole()};
    for (const OutcomeMeasure& measure : measures) {
      const MeasureRows rows = RowsOf(measure, setting, places, 0, places);
      row.push_back(rows.values.empty() ? "-" : fmt::format("{:.2f}", Mean(PlaceMeans(rows))));
    }
    table.Add(std::move(row));
  }
  return table.Text();
}

}  // namespace midscope::cli
