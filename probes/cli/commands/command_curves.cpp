// SPDX-License-Identifier: MIT
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "probes/base/records.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/model/provenance.h"
#include "probes/sweep/curve_points.h"
#include "probes/sweep/outcome_curves.h"
#include "probes/sweep/probe_curves.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns a value with its interval, "1.23 [1.10, 1.36]"; "-" if there is no value, such as the gap
// of a single place.
std::string Bounded(const Record& record, const std::string& array, size_t i) {
  const double value = ArrayValues<double>(record, array)[i];
  if (std::isnan(value)) return "-";
  const double low = ArrayValues<double>(record, array + "_low")[i];
  const double high = ArrayValues<double>(record, array + "_high")[i];
  if (record.FindArray(std::string(kGoldAttention) + "_mean"))
    return fmt::format("{:.4f} [{:.4f}, {:.4f}]", value, low, high);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, low, high);
}

// Returns the measures that have arrays in the record.
std::vector<std::string> MeasuresOf(const Record& record) {
  constexpr std::string_view kEnding = "_mean";
  std::vector<std::string> measures;
  for (const Array& array : record.arrays) {
    if (array.name.ends_with(kEnding))
      measures.push_back(array.name.substr(0, array.name.size() - kEnding.size()));
  }
  return measures;
}

std::string CurvesText(const Record& record) {
  const Axis& curves = record.axes[0];
  const Axis& along = record.axes[1];
  const std::vector<std::string> measures = MeasuresOf(record);
  // Sweeps at one place have neither gaps nor worst places.
  const bool has_gaps = record.FindArray(measures.front() + "_gap") != nullptr;
  std::vector<std::string> header = {"curve", along.name, "measure", "mean [95 %]"};
  if (has_gaps) header.insert(header.end(), {"gap [95 %]", "worst place"});
  TextTable table(header);
  for (const std::string& measure : measures) {
    const auto& means = ArrayValues<double>(record, measure + "_mean");
    for (size_t i = 0; i < means.size(); ++i) {
      if (std::isnan(means[i])) continue;
      const auto at = static_cast<size_t>(along.size);
      std::vector<std::string> row = {curves.labels[i / at],
                                      fmt::format("{:g}", along.values[i % at]), measure,
                                      Bounded(record, measure + "_mean", i)};
      if (has_gaps) {
        const double worst = ArrayValues<double>(record, measure + "_worst_place")[i];
        row.push_back(Bounded(record, measure + "_gap", i));
        const bool as_share = record.FindArray(measure + "_worst_place")->unit == "%";
        row.push_back(std::isnan(worst) ? "-" : fmt::format("{:g}{}", worst, as_share ? " %" : ""));
      }
      table.Add(row);
    }
  }
  return table.Text();
}

void RunCurves(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& out = options.Text("out");
  CheckOutOption(options);
  const std::vector<CurveInput> inputs = ReadCurveInputs(options.TextList("files"), input.job);
  const Record record = OutcomeCurves(inputs, options.Text("over"));
  if (!out.empty()) {
    const auto seed = static_cast<int64_t>(inputs.front().plan.seed);
    WriteRecords(out, {record}, ProgramProvenance(input.command_line, seed, options.ToJson()),
                 {.overwrite = options.Flag("overwrite"), .plan_json = {}});
  }
  if (options.Flag("json")) {
    Json json = Json::object();
    json["parameters"] = CurveParameters(inputs);
    json["record"] = RecordJson(record);
    input.out << JsonText(json);
    return;
  }
  input.out << FittedLines(CurvesText(record));
  const std::vector<std::string> known = CurveParameters(inputs);
  std::string others;
  for (const std::string& name : known) {
    if (Attribute(name) != record.attributes.at("parameter")) others += " " + name;
  }
  if (!others.empty()) input.out << FittedLines("--over takes also:" + others);
  input.out << FileNote(out);
}

}  // namespace

Command CurvesCommand() {
  Command command;
  command.name = "curves";
  command.summary = "the outcome of sweeps over a parameter: ratio, factor, layers, length";
  command.description =
      "Joins settings and files of sweeps that differ in one number: an argument of a setting\n"
      "(pi.ratio, channel.factor, ms-poe.alpha, crop.layers), a parameter of the task (lines,\n"
      "tokens) or the length of prompts. Prints mean, gap and worst place with intervals;\n"
      "--out keeps the record outcome_curves, which the window and midscope export draw.\n"
      "Files of midscope probe over places with key_information (else span_attention) give the\n"
      "attention on the gold by its place, such as one line per length (arXiv 2406.02536, Fig. "
      "1c).";
  command.positionals = {"files"};
  Parameter files = TextListParameter(
      "files", "files of midscope sweep or of midscope probe over places, or folders of them");
  files.required = true;
  command.options = {files,
                     TextParameter("over", "the parameter; default: the one with the most points")};
  for (const Parameter& option :
       InGroup("Output",
               {OutOption("the HDF5 file to write"),
                FlagParameter("overwrite", "replace the file where it exists"), JsonOption()})) {
    command.options.push_back(option);
  }
  command.options = WithBrief(std::move(command.options), {"files", "over", "out", "json"});
  command.examples =
      "  midscope curves ratios.h5 --over pi.ratio\n"
      "  midscope curves runs --over length --out curves.h5\n"
      "  midscope curves gold6.h5 gold12.h5 --over lines\n"
      "  midscope export curves.h5 --format png --out pictures";
  command.run = RunCurves;
  return command;
}

}  // namespace midscope::cli
