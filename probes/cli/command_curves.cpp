// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "probes/base/record_values.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/cli/record_text.h"
#include "probes/cli/stored_sweep.h"
#include "probes/cli/sweep_table.h"
#include "probes/cli/text_table.h"
#include "probes/model/provenance.h"
#include "probes/sweep/outcome_curves.h"

namespace midscope::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// The files, and of folders those that are sweeps, by name.
std::vector<std::string> SweepsOf(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& one : given) {
    if (!fs::is_directory(one)) {
      files.push_back(one);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(one)) {
      const std::string file = entry.path().string();
      if (entry.path().extension() == ".h5" && IsStoredSweep(RunReader(file)))
        inside.push_back(file);
    }
    if (inside.empty()) throw Failure(one, "it holds no file of midscope sweep");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

double MeanPromptTokens(const RunReader& reader) {
  const Array tokens = reader.ReadArray("sweep", "prompt_tokens");
  const auto& counts = std::get<std::vector<int64_t>>(tokens.data);
  double sum = 0;
  for (const int64_t count : counts) sum += static_cast<double>(count);
  return counts.empty() ? 0 : sum / static_cast<double>(counts.size());
}

CurveInput ReadInput(const std::string& file) {
  const RunReader reader(file);
  if (!IsStoredSweep(reader)) {
    throw UsageError(file, "it is no file of midscope sweep", "Give files with samples of a sweep");
  }
  CellReport report = StoredReport(reader);
  return {reader.provenance().model_path, std::move(report.plan), std::move(report.means),
          std::move(report.statistics), MeanPromptTokens(reader)};
}

// "1.23 [1.10, 1.36]".
std::string Bounded(const Record& record, const std::string& array, size_t i) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ArrayValues<double>(record, array)[i],
                     ArrayValues<double>(record, array + "_low")[i],
                     ArrayValues<double>(record, array + "_high")[i]);
}

// The measures of the record, by the arrays that they have.
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
  TextTable table({"curve", along.name, "measure", "mean [95 %]", "gap [95 %]", "worst place"});
  for (const std::string& measure : MeasuresOf(record)) {
    const auto& means = ArrayValues<double>(record, measure + "_mean");
    const auto& worst = ArrayValues<double>(record, measure + "_worst_place");
    for (size_t i = 0; i < means.size(); ++i) {
      if (std::isnan(means[i])) continue;
      const auto at = static_cast<size_t>(along.size);
      table.Add({curves.labels[i / at], fmt::format("{:g}", along.values[i % at]), measure,
                 Bounded(record, measure + "_mean", i), Bounded(record, measure + "_gap", i),
                 std::isnan(worst[i]) ? "-" : fmt::format("{:g}", worst[i])});
    }
  }
  return table.Text();
}

void RunCurves(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& out = options.Text("out");
  if (!out.empty())
    CheckOutputPath(out, options.Flag("overwrite"), "Give --overwrite, or another --out");
  std::vector<CurveInput> inputs;
  for (const std::string& file : SweepsOf(options.TextList("files"))) {
    input.job.ThrowIfCancelled();
    inputs.push_back(ReadInput(file));
  }
  const Record record = OutcomeCurves(inputs, options.Text("over"));
  if (!out.empty()) {
    WriteOptions write;
    write.overwrite = options.Flag("overwrite");
    const auto seed = static_cast<int64_t>(inputs.front().plan.seed);
    WriteRecords(out, {record}, ProgramProvenance(input.command_line, seed, options.ToJson()),
                 write);
  }
  if (options.Flag("json")) {
    Json json = Json::object();
    json["parameters"] = CurveParameters(inputs);
    json["record"] = RecordJson(record);
    input.out << JsonText(json);
    return;
  }
  input.out << CurvesText(record);
  const std::vector<std::string> known = CurveParameters(inputs);
  std::string others;
  for (const std::string& name : known) {
    if (Attribute(name) != record.attributes.at("parameter")) others += " " + name;
  }
  if (!others.empty()) input.out << "--over takes also:" << others << "\n";
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
      "--out keeps the record outcome_curves, which the window and midscope export draw.";
  command.positionals = {"files"};
  Parameter files = TextListParameter("files", "files of midscope sweep, or folders of them");
  files.required = true;
  command.options = {files,
                     TextParameter("over", "the parameter; default: the one with the most points")};
  for (const Parameter& option :
       InGroup("Output",
               {OutOption("the HDF5 file to write"),
                FlagParameter("overwrite", "replace the file where it exists"), JsonOption()})) {
    command.options.push_back(option);
  }
  command.examples =
      "  midscope curves ratios.h5 --over pi.ratio\n"
      "  midscope curves runs --over length --out curves.h5\n"
      "  midscope export curves.h5 --format png --out pictures";
  command.run = RunCurves;
  return command;
}

}  // namespace midscope::cli
