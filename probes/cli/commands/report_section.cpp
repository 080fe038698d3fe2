// SPDX-License-Identifier: MIT
#include "probes/cli/commands/report_section.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/intervention/term_type.h"
#include "core/terms/terms.h"
#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"
#include "probes/base/private_folder.h"
#include "probes/cli/commands/drawn_pictures.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/statistics/statistics.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/place_verdict.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/stored_result.h"

namespace midscope::cli {
namespace {

std::string WhatText(const SettingComparison& one) {
  if (one.what == "mean") return "mean " + one.measure + " over places";
  if (one.what == "gap") return "the gap of " + one.measure + " between places";
  return one.measure + " at " + one.what;
}

std::string DifferenceLine(const CellReport& report, const SettingComparison& one) {
  const std::string begin = fmt::format("{} against {}: {}", SettingText(report, one.setting),
                                        SettingText(report, one.against), WhatText(one));
  if (!std::isfinite(one.p_holm) || one.smallest_p >= kVerdictLevel) {
    return fmt::format("{}: no verdict, {} {} too few\n", begin, CountText(one.samples, "sample"),
                       one.samples == 1 ? "is" : "are");
  }
  const std::string p = PText(one.p_holm);
  return fmt::format(
      "{} {} by {}{}; adjusted p {}{}\n", begin,
      one.p_holm < kVerdictLevel ? "differs" : "does not differ measurably, it changes",
      WithInterval(one.difference, one.interval), one.measure == kAnswerNll ? " nats" : "",
      p.starts_with('<') ? "" : "= ", p);
}

// Returns one line per comparison (SweepStatistics::comparisons) of the measure of the verdicts on
// the place: the mean over places and the gap, or the only place. A line says that settings differ
// if the adjusted p is below kVerdictLevel. "" if there is one setting.
std::string DifferenceLines(const CellReport& report) {
  const std::vector<PlaceVerdict> verdicts = PlaceVerdicts(report.plan, report.statistics);
  if (verdicts.empty()) return "";
  const bool several_places = report.plan.places.size() > 1;
  std::string text;
  for (const SettingComparison& one : report.statistics.comparisons) {
    const bool at_place = one.what.starts_with("place");
    if (one.measure != verdicts.front().measure || at_place == several_places) continue;
    text += DifferenceLine(report, one);
  }
  return text;
}

using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr std::chrono::seconds kPictureLimit(120);
constexpr size_t kLongestPrompt = 20000;  // bytes

// Returns the one-line summary of a task; "" if this version does not know the task.
std::string TaskSummary(const std::string& task) {
  const std::string name = task.substr(0, task.find(':'));
  for (const TaskType& type : Tasks()) {
    if (type.name == name) return ": " + type.summary;
  }
  return "";
}

std::string SettingSummary(const SweepSetting& setting) {
  std::string text;
  for (const Term& term : setting.intervention.terms) {
    text += (text.empty() ? "" : " ") + term.type().summary;
  }
  if (text.empty()) text = "Nothing is changed.";
  if (setting.control_of.empty()) return text;
  return "Random control of " + setting.control_of + ". " + text;
}

std::string PlacesList(const SweepPlan& plan) {
  std::string text;
  for (const int64_t place : plan.places)
    text += (text.empty() ? "" : ", ") + PlaceText(plan, place);
  return text;
}

std::string ScoreText(const ScoreArms& score) {
  if (!score.generation) return "by the likelihood of the expected answer";
  return score.likelihood ? "by the likelihood of the expected answer, and by the task's own score "
                            "of the generated text"
                          : "by the task's own score of the generated text";
}

void AddSweepQuestion(const RunReader& reader, const SweepPlan& plan, int64_t samples,
                      HtmlPage& page) {
  const std::string& model = reader.provenance().model_path;
  if (plan.scan) {
    page.Lines(
        fmt::format("Which {} of {} does the answer need, by place of the piece that holds "
                    "it (the gold)? Each is changed in turn by {}.",
                    plan.scan->kind, model, plan.scan->term));
  } else {
    const bool places = plan.places.size() > 1;
    const bool settings = plan.settings.size() > 1;
    page.Lines(fmt::format(
        "How well does {} answer{}?{}", model,
        places ? ", and does it matter where the piece that holds the answer (the gold) is" : "",
        settings ? " Do the other settings differ from " + plan.settings.front().text + "?" : ""));
  }
  page.Facts("What was run", {{"model", model},
                              {"task", plan.task + TaskSummary(plan.task)},
                              {"places of the gold", PlacesList(plan)},
                              {"samples", std::to_string(samples)},
                              {"seed", std::to_string(plan.seed)},
                              {"answers are scored", ScoreText(plan.score)}});
  if (plan.scan) return;
  TextTable table({"setting", "what it changes"});
  for (const SweepSetting& setting : plan.settings)
    table.Add({setting.text, SettingSummary(setting)});
  page.Table("Settings", table);
}

std::string SweepMethodText(const SweepPlan& plan, int64_t samples) {
  return fmt::format(
      "{} of {} (seed {}) at {}, under {}. Every place and setting has the same samples, so "
      "differences are taken within samples. Tests use {} permutations.\n",
      CountText(samples, "sample"), plan.task, plan.seed,
      CountText(std::ssize(plan.places), "place"), CountText(std::ssize(plan.settings), "setting"),
      kPermutations);
}

void AddPromptQuestion(const RunReader& reader, HtmlPage& page) {
  const Record prompt = reader.Describe(kPromptRecord);
  const std::string setting = AttributeText(prompt, "intervention");
  page.Lines(fmt::format("What does {} do with this prompt{}?", reader.provenance().model_path,
                         setting.empty() ? "" : " under the setting " + setting));
  const std::string text = AttributeText(prompt, "text");
  if (!text.empty()) page.Preformatted(text.substr(0, kLongestPrompt));
  if (text.size() > kLongestPrompt) {
    page.Lines(fmt::format("The file has the other {} bytes of the prompt.",
                           text.size() - kLongestPrompt));
  }
  if (const std::string answer = AttributeText(prompt, "answer"); !answer.empty()) {
    page.Facts("Expected", {{"answer", answer}});
  }
}

void AddOtherQuestion(const RunReader& reader, HtmlPage& page) {
  const std::string& model = reader.provenance().model_path;
  if (IsChannelSearch(reader)) {
    page.Lines(fmt::format("Which hidden channels of {} rise or fall with position?", model));
  } else if (reader.Has(kOutcomeCurves)) {
    page.Lines("How does the outcome change over a number of the settings or of the task?");
  } else if (reader.Has(kPromptRecord)) {
    AddPromptQuestion(reader, page);
  } else {
    page.Lines(fmt::format("What did this command find: {}", reader.provenance().command));
  }
}

std::string FileBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns a picture's title, the first line of the CSV file beside it; else the file's name.
std::string PictureTitle(std::filesystem::path picture) {
  std::ifstream numbers(picture.replace_extension(".csv"));
  std::string line;
  std::getline(numbers, line);
  return line.starts_with("# ") ? line.substr(2) : picture.stem().string();
}

// Adds the pictures of the file, and returns their number. Throws Error (failure), Cancelled.
int64_t DrawOn(const RunReader& reader, const JobContext& job, HtmlPage& page) {
  const PrivateFolder folder;
  int64_t pictures = 0;
  for (const std::string& name :
       DrawPictures({reader.path(), "svg", "", {}, kPictureLimit}, folder.path().string(), job)) {
    const std::filesystem::path file = folder.path() / name;
    if (file.extension() != ".svg") continue;
    page.Picture(PictureTitle(file), FileBytes(file));
    ++pictures;
  }
  return pictures;
}

void AddPictures(const RunReader& reader, const JobContext& job, HtmlPage& page,
                 ReportSection& section) {
  std::string& why_none = section.without_pictures;
  if (!CanDrawPictures()) {
    why_none =
        "midscope-gui, which draws them, is not installed. Install the wheel midscope-window or "
        "the Debian package midscope-gui";
  } else {
    try {
      section.pictures = DrawOn(reader, job, page);
      if (section.pictures == 0) why_none = "midscope-gui draws none of this file";
    } catch (const Error& error) {
      why_none = error.what();
    }
  }
  if (section.pictures == 0) page.Lines("No pictures: " + why_none);
}

void AddRecords(const RunReader& reader, int level, HtmlPage& page) {
  for (const std::string& name : reader.record_names()) {
    page.Heading(level, name);
    const SummarisedRecord read = ReadSummarised(reader, name);
    page.Add(RecordTables(read.record));
    page.Add(Printout(read.large));
  }
}

std::string ValueText(const nlohmann::ordered_json& value) {
  using Handler = nlohmann::ordered_json::error_handler_t;
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Handler::replace);
}

Facts FactsOf(const nlohmann::ordered_json& object) {
  Facts facts;
  for (const auto& [name, value] : object.items()) facts.emplace_back(name, ValueText(value));
  return facts;
}

void AddOrigin(const RunReader& reader, int level, HtmlPage& page) {
  page.Heading(level, "Provenance");
  page.Facts("How the file was made", FactsOf(ProvenanceJson(reader.provenance())));
  const auto plan = nlohmann::ordered_json::parse(reader.plan_json(), nullptr, false);
  if (plan.is_object()) page.Facts("Plan", FactsOf(plan));
  page.Heading(level, "Commands");
  const std::string& made_by = reader.provenance().command;
  page.Preformatted(fmt::format(
      "# makes the file\n{}\n# prints its tables\n{}\n# draws its pictures\n{}\n",
      made_by.empty() ? "(the file does not say)" : made_by,
      ShellCommand("midscope", {"show", reader.path()}),
      ShellCommand("midscope", {"export", reader.path(), "--format", "svg", "--out", "pictures"})));
}

// Returns the plan of a sweep's file; nullopt for other files, and for plans that this version
// cannot read, with the reason in `why`.
std::optional<SweepPlan> ReadPlan(const RunReader& reader, std::string& why) {
  if (!IsStoredSweep(reader)) return std::nullopt;
  try {
    return StoredPlan(reader);
  } catch (const Error& error) {
    why = std::string("No tables of the sweep: ") + error.what();
    return std::nullopt;
  }
}

}  // namespace

ReportSection AddReportSection(const RunReader& reader, int level, const JobContext& job,
                               HtmlPage& page) {
  ReportSection section;
  std::string why_no_plan;
  const std::optional<SweepPlan> plan = ReadPlan(reader, why_no_plan);
  std::optional<CellReport> report;
  if (plan && !plan->scan) report = StoredReport(reader, "", job);
  page.Lines(FileLine(reader));
  page.Heading(level, "Question");
  if (plan) {
    AddSweepQuestion(reader, report ? report->plan : *plan,
                     report ? report->statistics.samples : plan->samples, page);
  } else {
    AddOtherQuestion(reader, page);
  }
  if (report) {
    section.answers = VerdictLines(*report) + DifferenceLines(*report);
    page.Heading(level, "Answer");
    page.Answers(section.answers);
  }
  page.Heading(level, "Pictures");
  AddPictures(reader, job, page, section);
  page.Heading(level, "Tables");
  page.Lines(why_no_plan);
  if (report) {
    page.Add(SweepTables(*report));
    page.Heading(level, "Method");
    page.Lines(SweepMethodText(report->plan, report->statistics.samples) +
               SweepMethodLines(*report));
  } else if (plan) {
    page.Add(StoredScanTables(reader, *plan, job));
    page.Heading(level, "Method");
    page.Lines(SweepMethodText(*plan, plan->samples) +
               "Intervals are Student's t; p is adjusted for all items and places by Westfall and "
               "Young's maxT.\n");
  } else if (IsChannelSearch(reader)) {
    page.Add(StoredChannelTables(reader));
  } else {
    AddRecords(reader, level + 1, page);
  }
  AddOrigin(reader, level, page);
  return section;
}

}  // namespace midscope::cli
