// SPDX-License-Identifier: MIT
#include "probes/cli/commands/probe_batch_command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "probes/base/records.h"
#include "probes/cli/commands/probe_batch_run.h"
#include "probes/cli/commands/sweep_command_run.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/progress_line.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/probe_text.h"
#include "probes/cli/text/record_text.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string NameOf(const ProbeCell& cell) {
  std::string name =
      fmt::format("model {}, task {}, seed {}", cell.cell.model, cell.cell.task, cell.cell.seed);
  if (!cell.setting.empty()) name += ", " + cell.setting;
  return name;
}

// Returns the means over samples, [place], of an array [sample, place] of record `answer`; for
// booleans, the share of true values. Empty if the prompts have no answer.
std::vector<double> AnswerMeans(const ProbeBatchReport& report, const std::string& name) {
  const Record* answer = FindRecord(report.records, kAnswerRecord);
  if (!answer) return {};
  const size_t places = report.places.size();
  std::vector<double> values;
  std::visit(
      [&](const auto& data) {
        using T = typename std::decay_t<decltype(data)>::value_type;
        if constexpr (!std::is_same_v<T, std::string>) values.assign(data.begin(), data.end());
      },
      answer->FindArray(name)->data);
  std::vector<double> means(places);
  for (size_t i = 0; i < values.size(); ++i)
    means[i % places] += values[i] / static_cast<double>(report.samples.size());
  return means;
}

Json RecordList(const std::vector<Record>& records) {
  Json list = Json::array();
  for (const Record& record : records) {
    Json arrays = Json::object();
    for (const Array& array : record.arrays) arrays[array.name] = array.axes;
    list.push_back({{"name", record.name}, {"arrays", arrays}});
  }
  return list;
}

// Returns the entry for a batch in summary.json. The batch's records are in its own file.
Json ReportJson(const ProbeBatchReport& report) {
  const std::string& file = report.cell.options.Text("out");
  Json json = {{"model", report.cell.cell.model},
               {"task", report.cell.cell.task},
               {"seed", report.cell.cell.seed},
               {"setting", report.cell.setting},
               {"file", file.empty() ? Json(nullptr) : Json(file)},
               {"samples", report.samples},
               {"places", report.places}};
  const std::vector<double> nll = AnswerMeans(report, kAnswerNll);
  if (!nll.empty()) {
    json[kAnswerNll] = nll;
    json["accuracy"] = AnswerMeans(report, "correct");
  }
  json["records"] = RecordList(report.records);
  return json;
}

std::string NumbersText(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers)
    text += fmt::format("{}{:.2f}", text.empty() ? "" : " ", number);
  return text.empty() ? "-" : text;
}

std::string ReportsText(const std::vector<ProbeBatchReport>& reports) {
  TextTable table({"model", "task", "seed", "setting", "samples", "answer_nll by place", "file"});
  for (const ProbeBatchReport& report : reports) {
    const std::string& file = report.cell.options.Text("out");
    table.Add({report.cell.cell.model, report.cell.cell.task, std::to_string(report.cell.cell.seed),
               report.cell.setting, std::to_string(report.samples.size()),
               NumbersText(AnswerMeans(report, kAnswerNll)), file.empty() ? "-" : file});
  }
  return table.Text();
}

// Returns summary.json for several batches.
Json SummaryJson(const std::vector<ProbeBatchReport>& reports) {
  Json batches = Json::array();
  for (const ProbeBatchReport& report : reports) batches.push_back(ReportJson(report));
  return {{"batches", std::move(batches)}};
}

void PrintOne(const CommandInput& input, const ProbeRegistry& probes,
              const ProbeBatchReport& report) {
  const OptionSet& options = report.cell.options;
  if (!options.Flag("json")) {
    input.out << FittedLines(RecordsText(report.records, options, probes));
    return;
  }
  const std::string& file = options.Text("out");
  input.out << JsonText({{"file", file.empty() ? Json(nullptr) : Json(file)},
                         {"records", RecordsJson(report.records, options, probes)}});
}

void PrintCosts(const CommandInput& input, const ProbeRegistry& probes,
                const std::vector<ProbeCell>& cells, RankGroup& ranks) {
  ProbeBatchRun run(input, probes, input.job, ranks);
  TextTable table({"model", "task", "seed", "setting", "prompts", "tokens", "time", "file"});
  Json list = Json::array();
  ProbeBatchRun::Cost all;
  input.job.Log("running one prompt of each batch, to measure its time");
  for (const ProbeCell& cell : cells) {
    const ProbeBatchRun::Cost cost = run.Estimate(cell);
    all.prompts += cost.prompts;
    all.tokens += cost.tokens;
    all.seconds += cost.seconds;
    const std::string& file = cell.options.Text("out");
    table.Add({cell.cell.model, cell.cell.task, std::to_string(cell.cell.seed), cell.setting,
               std::to_string(cost.prompts), std::to_string(cost.tokens), TimeText(cost.seconds),
               file.empty() ? "-" : file});
    list.push_back({{"model", cell.cell.model},
                    {"task", cell.cell.task},
                    {"seed", cell.cell.seed},
                    {"setting", cell.setting},
                    {"prompts", cost.prompts},
                    {"tokens", cost.tokens},
                    {"seconds", cost.seconds}});
  }
  if (cells.front().options.Flag("json")) {
    input.out << JsonText({{"batches", list},
                           {"prompts", all.prompts},
                           {"tokens", all.tokens},
                           {"seconds", all.seconds}});
    return;
  }
  input.out << table.Text()
            << FittedLines(fmt::format("in all {} of {}: {}, from one prompt of each",
                                       CountText(all.prompts, "prompt"),
                                       CountText(all.tokens, "token"), TimeText(all.seconds)));
}

void RunSeveral(const CommandInput& input, const std::vector<ProbeCell>& cells, ProbeBatchRun& run,
                RankGroup& ranks) {
  std::vector<ProbeBatchReport> reports;
  std::string first_failure;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string name = NameOf(cells[i]);
    if (ranks.rank() == 0)
      input.job.Log(fmt::format("batch {} of {}: {}", i + 1, cells.size(), name));
    try {
      reports.push_back(run.Run(cells[i], [](const ProbeBatchReport&) {}));
      // The summary only names arrays, because their numbers are in the batch's file.
      for (Record& record : reports.back().records) {
        if (record.name == kAnswerRecord) continue;
        for (Array& array : record.arrays) array.data = {};
      }
    } catch (const Error& error) {
      NoteFailedCell(name, error, ranks, input.job, first_failure);
    }
  }
  if (ranks.rank() != 0) return;
  const Json summary = SummaryJson(reports);
  input.out << (cells.front().options.Flag("json") ? JsonText(summary)
                                                   : FittedLines(ReportsText(reports)));
  const std::filesystem::path file = cells.front().options.Text("out");
  if (!file.empty()) {
    WriteTextFile((file.parent_path() / "summary.json").string(),
                  [&](std::ostream& stream) { stream << JsonText(summary); });
  }
  if (!first_failure.empty()) {
    throw Failure(fmt::format("{} of {} batches", cells.size() - reports.size(), cells.size()),
                  "they failed; the first: " + first_failure);
  }
}

}  // namespace

void RunProbeCells(const CommandInput& input, const ProbeRegistry& probes,
                   const std::vector<ProbeCell>& cells) {
  if (cells.front().options.Flag("dry-run")) {
    PrintCosts(input, probes, cells, *SingleRank());
    return;
  }
  RankGroup& ranks = *(input.ranks = JoinRankGroup());
  const JobContext job = RankJob(input.job, ranks.rank());
  // All ranks check the files before any rank creates one, which another rank could mistake for a
  // file of an earlier job.
  ranks.Agree([&] { CheckProbeCells(cells, ranks.size()); });
  ProbeBatchRun run(input, probes, job, ranks);
  if (cells.size() > 1) {
    RunSeveral(input, cells, run, ranks);
    return;
  }
  const ProbeBatchReport report =
      run.Run(cells.front(), [&](const ProbeBatchReport& part) { PrintOne(input, probes, part); });
  if (ranks.rank() == 0) PrintOne(input, probes, report);
}

}  // namespace midscope::cli
