// SPDX-License-Identifier: MIT
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/decoder/decoder.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "probes/base/records.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/sweep/answer_judge.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/plan_texts.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Mean score of one setting at one place, by the judge.
struct JudgedCell {
  std::string setting;
  std::string place;
  double mean;
  double low;
  double high;
};

std::vector<JudgedCell> JudgedCells(const Record& record, const SweepPlan& plan) {
  const auto& means = ArrayValues<double>(record, "judge_score_mean");
  std::vector<JudgedCell> cells;
  for (size_t i = 0; i < means.size(); ++i) {
    const size_t places = plan.places.size();
    cells.push_back({plan.settings[i / places].text, PlaceText(plan, plan.places[i % places]),
                     means[i], ArrayValues<double>(record, "judge_score_mean_low")[i],
                     ArrayValues<double>(record, "judge_score_mean_high")[i]});
  }
  return cells;
}

std::string JudgedJson(const std::vector<JudgedCell>& cells, int64_t samples) {
  Json rows = Json::array();
  for (const JudgedCell& cell : cells) {
    rows.push_back({{"setting", cell.setting},
                    {"place", cell.place},
                    {"samples", samples},
                    {"mean", NumberOrNull(cell.mean)},
                    {"low", NumberOrNull(cell.low)},
                    {"high", NumberOrNull(cell.high)}});
  }
  return JsonText(rows);
}

std::string JudgedText(const std::vector<JudgedCell>& cells) {
  TextTable table({"setting", "place", "judge's score [95 %]"});
  for (const JudgedCell& cell : cells) {
    std::string text = std::isnan(cell.mean) ? "-" : fmt::format("{:.2f}", cell.mean);
    if (!std::isnan(cell.low)) text += fmt::format(" [{:.2f}, {:.2f}]", cell.low, cell.high);
    table.Add({cell.setting, cell.place, text});
  }
  return table.Text();
}

void RunJudge(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& out = options.Text("out");
  CheckOutOption(options);
  const RunReader reader(options.Text("file"));
  CheckGeneratedTexts(reader);
  const auto decoder = OpenDecoder(options.Text("model"), ReadDecoderOptions(options), input.job);
  AnswerJudge judge(decoder);
  input.job.Log(judge.format().is_chat()
                    ? "judge: prompts are sent in its chat template"
                    : "judge: prompts are sent as plain text; it has no chat template");
  const Record record = JudgeSweep(reader, judge, input.job);
  if (!out.empty()) {
    WriteRecords(out, {record}, MakeProvenance(*decoder, input.command_line, 0, options.ToJson()),
                 {.overwrite = options.Flag("overwrite"), .plan_json = {}});
  }
  const std::vector<JudgedCell> cells = JudgedCells(record, StoredPlan(reader));
  if (options.Flag("json")) {
    input.out << JudgedJson(cells, AxisOf(record, "sample").size);
    return;
  }
  input.out << JudgedText(cells) << FileNote(out);
}

}  // namespace

Command JudgeCommand() {
  Command command;
  command.name = "judge";
  command.summary = "a score of a sweep's generated answers by a local model";
  command.description =
      "Gives a local model the question, the expected answer and the generated text of every\n"
      "sample, setting and place of a sweep, with the criteria of LLMTest_NeedleInAHaystack\n"
      "(scores 1, 3, 5, 7 and 10; CREAM, arXiv 2406.07138, Fig. 4), and takes the likeliest of "
      "the\n"
      "five scores as continuation. In the sources GPT-3.5 writes an explanation and a rating; a\n"
      "small model is a much weaker judge, and its scores are not comparable with theirs. Judge\n"
      "some answers by hand before you rely on it. A chat template of the judge is used.";
  command.positionals = {"file", "model"};
  Parameter file =
      FileParameter("file", "file of midscope sweep with generated texts (--score generation)");
  file.required = true;
  command.options = {file};
  for (Parameter option : ModelOptions()) {
    if (option.name == "model") option.help = "the judge: " + option.help;
    command.options.push_back(std::move(option));
  }
  for (const Parameter& option :
       InGroup("Output",
               {OutOption("the HDF5 file to write: record judge_scores"),
                FlagParameter("overwrite", "replace the file where it exists"), JsonOption()})) {
    command.options.push_back(option);
  }
  command.options =
      WithBrief(std::move(command.options), {"file", "model", "dtype", "device", "out", "json"});
  command.examples =
      "  midscope sweep MODEL --task needle:tokens=2000 --score generation --out needle.h5\n"
      "  midscope judge needle.h5 JUDGE --out judged.h5";
  command.run = RunJudge;
  return command;
}

}  // namespace midscope::cli
