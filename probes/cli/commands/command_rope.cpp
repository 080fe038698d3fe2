// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/model/model_source.h"
#include "data/store/run_store.h"
#include "kernels/check.h"
#include "kernels/quantised/dequantise.h"
#include "probes/base/records.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/builtin/learned_positions.h"
#include "probes/measure/builtin/rope_periods.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"

namespace midscope::cli {

namespace {

// Formats record learned_positions as text and as JSON, for `midscope rope MODEL`.

using Json = nlohmann::ordered_json;

constexpr size_t kLearned = 0;  // index of the learned table on the axis `table`
constexpr size_t kSinusoidal = 1;
constexpr size_t kPeriods = 12;  // number of printed periods

double Element(const Record& record, const char* array, const char* axis, size_t table, size_t i) {
  const auto size = static_cast<size_t>(record.FindAxis(axis)->size);
  return ArrayValues<double>(record, array)[table * size + i];
}

std::vector<double> Row(const Record& record, const char* array, const char* axis, size_t table) {
  std::vector<double> row;
  for (size_t i = 0; i < static_cast<size_t>(record.FindAxis(axis)->size); ++i)
    row.push_back(Element(record, array, axis, table, i));
  return row;
}

// Returns the indices of distances 0, 1, 2, 4, ... on the record's axis, and of the last distance.
std::vector<size_t> Distances(const Record& record) {
  const auto size = static_cast<size_t>(record.FindAxis("distance")->size);
  std::vector<size_t> rows = {0};
  for (size_t row = 1; row < size; row *= 2) rows.push_back(row);
  if (rows.back() + 1 < size) rows.push_back(size - 1);
  return rows;
}

std::string NumberCell(double value, int digits) {
  return std::isnan(value) ? "" : fmt::format("{:.{}f}", value, digits);
}

std::string PeriodsText(const Record& record) {
  const auto dimensions = static_cast<size_t>(record.FindAxis("rank")->size);
  const size_t rows = std::min(kPeriods, dimensions);
  TextTable table({"rank", "learned", "sinusoidal"});
  for (size_t i = 0; i < rows; ++i) {
    const size_t rank = rows == 1 ? 0 : i * (dimensions - 1) / (rows - 1);
    table.Add({std::to_string(rank),
               NumberCell(Element(record, "period_in_order", "rank", kLearned, rank), 1),
               NumberCell(Element(record, "period_in_order", "rank", kSinusoidal, rank), 1)});
  }
  return table.Text();
}

std::string SimilarityText(const Record& record) {
  TextTable table({"distance", "learned", "sinusoidal", "learned less mean"});
  for (const size_t row : Distances(record)) {
    const auto cell = [&](const char* array, size_t of) {
      return NumberCell(Element(record, array, "distance", of, row), 3);
    };
    table.Add({fmt::format("{}", record.FindAxis("distance")->values[row]),
               cell("similarity", kLearned), cell("similarity", kSinusoidal),
               cell("centred_similarity", kLearned)});
  }
  return table.Text();
}

Json NumbersOrNull(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(NumberOrNull(value));
  return json;
}

// Returns record learned_positions as text. `file`: the file to which it is written; "": none.
std::string LearnedPositionsText(const Record& record, const std::string& file) {
  return fmt::format(
             "{} learned positions of {} dimensions, beside the sinusoidal encoding of base {}\n"
             "a single wave takes {:.0f} % of a dimension's variance over positions (median)\n\n"
             "Period of the wave that fits a dimension best, shortest first, in positions:\n",
             Value<int64_t>(record, "positions"), Value<int64_t>(record, "dimensions"),
             Value<double>(record, "base"), 100 * Value<double>(record, "median_wave_share")) +
         PeriodsText(record) +
         "\nCosine of the embeddings of two positions, by distance (mean over positions):\n" +
         SimilarityText(record) + FileNote(file);
}

std::string LearnedPositionsJson(const Record& record, const std::string& file) {
  Json json = {{"positions", Value<int64_t>(record, "positions")},
               {"dimensions", Value<int64_t>(record, "dimensions")},
               {"base", Value<double>(record, "base")},
               {"median_wave_share", Value<double>(record, "median_wave_share")}};
  for (const size_t table : {kLearned, kSinusoidal}) {
    Json& of = json[record.FindAxis("table")->labels[table]];
    of["periods"] = NumbersOrNull(Row(record, "period", "dimension", table));
    of["wave_shares"] = NumbersOrNull(Row(record, "wave_share", "dimension", table));
    for (const size_t row : Distances(record)) {
      of["similarity"].push_back(
          {{"distance", record.FindAxis("distance")->values[row]},
           {"cosine", Element(record, "similarity", "distance", table, row)},
           {"less_mean", Element(record, "centred_similarity", "distance", table, row)}});
    }
  }
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  return json.dump(2) + "\n";
}

using Json = nlohmann::ordered_json;

// Reads the options of `rope`. Values that are not given are those of the model, if one is named.
RopeQuestion ReadRopeQuestion(const OptionSet& options, const ModelConfig* config) {
  const auto of_model = [&](const char* name) { return config && !options.IsSet(name); };
  RopeQuestion question;
  question.dimensions = of_model("dim") ? config->rope_dimensions : options.Integer("dim");
  question.base = of_model("base") ? config->rope_base : options.Number("base");
  question.context = of_model("context") ? config->trained_context : options.Integer("context");
  question.factor = options.Number("factor");
  if (options.Has("new-base")) question.new_base = options.Number("new-base");
  if (options.Has("least-ratio")) question.least_ratio = options.Number("least-ratio");
  if (options.Has("largest-ratio")) question.largest_ratio = options.Number("largest-ratio");
  CheckRopeQuestion(question);
  return question;
}

Json PairOrNull(int64_t pair) { return pair < 0 ? Json(nullptr) : Json(pair); }

// Returns the indices on the record's axis that are nearest to the distances 0, 1, 2, 4, ...
std::vector<size_t> DecayRows(const Record& record) {
  const std::vector<double>& distances = record.FindAxis("distance")->values;
  std::vector<size_t> rows = {0};
  for (size_t row = 1; row < distances.size(); row *= 2) rows.push_back(row);
  return rows;
}

std::string RopeJson(const Record& record, const std::string& file) {
  const auto& names = record.FindAxis("scheme")->labels;
  const auto pairs = static_cast<size_t>(record.FindAxis("pair")->size);
  const auto distances = static_cast<size_t>(record.FindAxis("distance")->size);
  const auto& periods = ArrayValues<double>(record, "period");
  Json schemes = Json::array();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto first = periods.begin() + static_cast<ptrdiff_t>(i * pairs);
    schemes.push_back(
        {{"scheme", names[i]},
         {"base", NumberOrNull(ArrayValues<double>(record, "base")[i])},
         {"magnitude", ArrayValues<double>(record, "magnitude")[i]},
         {"first_pair_over_context",
          PairOrNull(ArrayValues<int64_t>(record, "first_pair_over_context")[i])},
         {"dimensions_within_context",
          ArrayValues<int64_t>(record, "dimensions_within_context")[i]},
         {"dimensions_within_stretched",
          ArrayValues<int64_t>(record, "dimensions_within_stretched")[i]},
         {"periods", std::vector<double>(first, first + static_cast<ptrdiff_t>(pairs))}});
    for (const size_t row : DecayRows(record)) {
      schemes.back()["decay"].push_back(
          {{"distance", record.FindAxis("distance")->values[row]},
           {"similarity", ArrayValues<double>(record, "similarity")[i * distances + row]},
           {"bound", ArrayValues<double>(record, "decay_bound")[i * distances + row]}});
    }
  }
  Json json = {{"pairs", pairs},
               {"first_pair_over_context", schemes[0]["first_pair_over_context"]},
               {"dimensions_within_context", schemes[0]["dimensions_within_context"]},
               {"periods", schemes[0]["periods"]},
               {"dimensions", Value<int64_t>(record, "dimensions")},
               {"base", Value<double>(record, "base_as_given")},
               {"context", Value<int64_t>(record, "context")},
               {"factor", Value<double>(record, "factor")}};
  if (record.attributes.contains("yarn_ramp_low")) {
    json["yarn_ramp"] = {{"low", Value<double>(record, "yarn_ramp_low")},
                         {"high", Value<double>(record, "yarn_ramp_high")}};
  }
  json["schemes"] = schemes;
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  return json.dump(2) + "\n";
}

std::string SchemesText(const Record& record) {
  const auto dimensions = Value<int64_t>(record, "dimensions");
  TextTable table({"scheme", "base", "dimensions that turn", "first pair that does not",
                   "turn within context x factor", "logits times"});
  const auto& names = record.FindAxis("scheme")->labels;
  for (size_t i = 0; i < names.size(); ++i) {
    const double base = ArrayValues<double>(record, "base")[i];
    const double magnitude = ArrayValues<double>(record, "magnitude")[i];
    const int64_t first = ArrayValues<int64_t>(record, "first_pair_over_context")[i];
    table.Add(
        {names[i], std::isnan(base) ? "" : fmt::format("{:.10g}", base),
         fmt::format("{} of {}", ArrayValues<int64_t>(record, "dimensions_within_context")[i],
                     dimensions),
         first < 0 ? "" : std::to_string(first),
         fmt::format("{} of {}", ArrayValues<int64_t>(record, "dimensions_within_stretched")[i],
                     dimensions),
         fmt::format("{:.4f}", magnitude * magnitude)});
  }
  return table.Text();
}

// Returns a table with one row per index of the axis `over` and one column per scheme.
std::string ColumnsText(const Record& record, const std::string& over, const std::string& array,
                        const std::vector<size_t>& rows, const std::string& format) {
  const Axis& axis = *record.FindAxis(over);
  std::vector<std::string> header = {over};
  const auto& names = record.FindAxis("scheme")->labels;
  header.insert(header.end(), names.begin(), names.end());
  TextTable table(header);
  for (const size_t row : rows) {
    std::vector<std::string> cells = {axis.values.empty() ? std::to_string(row)
                                                          : fmt::format("{}", axis.values[row])};
    for (size_t i = 0; i < names.size(); ++i) {
      const double value =
          ArrayValues<double>(record, array)[i * static_cast<size_t>(axis.size) + row];
      cells.push_back(fmt::format(fmt::runtime(format), value));
    }
    table.Add(cells);
  }
  return table.Text();
}

std::string RopeText(const Record& record, const std::string& file) {
  std::vector<size_t> pairs(static_cast<size_t>(record.FindAxis("pair")->size));
  for (size_t pair = 0; pair < pairs.size(); ++pair) pairs[pair] = pair;
  std::string text =
      fmt::format("{} rotated dimensions, base {}, context {}: {} of them turn once or more\n\n",
                  Value<int64_t>(record, "dimensions"), Value<double>(record, "base_as_given"),
                  Value<int64_t>(record, "context"),
                  ArrayValues<int64_t>(record, "dimensions_within_context").front());
  text += SchemesText(record);
  if (record.attributes.contains("yarn_ramp_low")) {
    text += fmt::format("yarn's ramp goes from pair {} to pair {}\n",
                        Value<double>(record, "yarn_ramp_low"),
                        Value<double>(record, "yarn_ramp_high"));
  }
  text += "\nPeriod of each pair, in positions:\n";
  text += ColumnsText(record, "pair", "period", pairs, "{:.1f}");
  text += "\nDecay with distance (logit of a query and key of ones, over that at distance 0):\n";
  text += ColumnsText(record, "distance", "similarity", DecayRows(record), "{:.3f}");
  return text + FileNote(file);
}

PositionTable TableOf(const ModelSource& source) {
  const ModelConfig& config = source.config();
  const TensorRef* tensor = source.Find("position_embedding");
  MIDSCOPE_CHECK(tensor != nullptr, "learned positions without a table");
  PositionTable table;
  table.positions = config.trained_context;
  table.dimensions = tensor->columns;
  table.values.resize(static_cast<size_t>(table.positions * table.dimensions));
  for (int64_t i = 0; i < table.positions; ++i) {
    kernels::Dequantise(tensor->format.type, tensor->Row(config.position_offset + i),
                        table.dimensions, &table.values[static_cast<size_t>(i * table.dimensions)]);
  }
  source.CheckWhole();
  return table;
}

// Returns record learned_positions if the named model has learned positions, otherwise record
// `rope`.
Record MakeRecord(const OptionSet& options) {
  if (!options.IsSet("model")) return RopePeriods(ReadRopeQuestion(options, nullptr));
  const std::unique_ptr<ModelSource> source = OpenModel(options.Text("model"));
  const ModelConfig& config = source->config();
  if (config.turning_pairs > 0 && !options.IsSet("dim")) {
    throw UsageError("model",
                     fmt::format("only {} of its {} pairs turn (p-RoPE), and the tables "
                                 "are of a rotation whose pairs all turn",
                                 config.turning_pairs, config.rope_dimensions / 2),
                     fmt::format("Give --dim {} for those tables", config.rope_dimensions));
  }
  if (config.positions == PositionKind::kRotary)
    return RopePeriods(ReadRopeQuestion(options, &config));
  if (config.positions != PositionKind::kLearned) {
    throw UsageError("model", "it has no rotary or learned positions: " +
                                  std::string(UnrotatedText(config.positions)));
  }
  for (const char* name :
       {"dim", "context", "factor", "new-base", "least-ratio", "largest-ratio"}) {
    if (!options.IsSet(name)) continue;
    throw UsageError("option --" + std::string(name),
                     "it is of rotary positions, and the model's are learned",
                     "Leave it out; --base is that of the sinusoidal encoding");
  }
  PositionTable table = TableOf(*source);
  table.base = options.Number("base");
  return LearnedPositions(table);
}

void RunRope(const CommandInput& input) {
  const OptionSet& options = input.options;
  const std::string& file = options.Text("out");
  CheckOutOption(options);
  const Record record = MakeRecord(options);
  if (!file.empty()) {
    WriteRecords(file, {record}, ProgramProvenance(input.command_line, 0, options.ToJson()),
                 {.overwrite = options.Flag("overwrite"), .plan_json = {}});
  }
  const bool json = options.Flag("json");
  if (record.name == "learned_positions") {
    input.out << (json ? LearnedPositionsJson(record, file)
                       : FittedLines(LearnedPositionsText(record, file)));
    return;
  }
  input.out << (json ? RopeJson(record, file) : FittedLines(RopeText(record, file)));
}

}  // namespace

Command RopeCommand() {
  Parameter base =
      NumberParameter("base", "base of the frequencies: theta_j = base^(-2j/dim)", 1, 1e12);
  base.default_value = 1e4;
  Parameter factor = NumberParameter(
      "factor", "also shows PI, NTK and three forms of YaRN that stretch the context so far", 1,
      1e6);
  factor.default_value = 1.0;
  Command command;
  command.name = "rope";
  command.summary =
      "rotary positions: which dimensions turn within the context, and schemes; learned positions "
      "of a model";
  command.description =
      "Prints how many positions each pair of rotated dimensions takes to turn once, and which\n"
      "complete a turn within the trained context; with --factor and --new-base also how position\n"
      "interpolation, NTK, YaRN (repo: the public code, paper: its definition, cream: PoSE and\n"
      "CREAM) and another base move that. Needs no model; with one, what is not given is its own.\n"
      "The file also holds the decay curves and the sinusoidal encoding of the same base. Of a\n"
      "model with learned positions (GPT-2, OPT) it prints these beside the sinusoidal encoding:\n"
      "periods of the waves that fit their dimensions best, and how alike positions are by\n"
      "distance.";
  command.positionals = {"model"};
  Parameter model = ModelOptions().front();
  model.required = false;
  command.options = {
      model,
      WholeNumberParameter("dim", "rotated dimensions of a head, even", 2, 65536, 128),
      base,
      WholeNumberParameter("context", "tokens that the model was trained with", 1, 1'000'000'000,
                           4096),
      factor,
      NumberParameter("new-base", "also shows this base", 1, 1e12),
      NumberParameter("least-ratio",
                      "also shows the heads to which Ms-PoE gives its least and its largest ratio "
                      "(1.2 and 1.8 in the paper): this and --largest-ratio",
                      1e-6, 1e6),
      NumberParameter("largest-ratio", "see --least-ratio", 1e-6, 1e6),
      OutOption("the HDF5 file to write"),
      FlagParameter("overwrite", "write over an existing file"),
      JsonOption()};
  command.options = WithBrief(std::move(command.options), {"model", "dim", "base", "context",
                                                           "factor", "new-base", "out", "json"});
  command.examples =
      "  midscope rope --dim 128 --base 10000 --context 4096\n"
      "  midscope rope --dim 64 --base 100000 --context 8192 --factor 4 --new-base 1000000\n"
      "  midscope rope --dim 128 --base 10000 --least-ratio 1.2 --largest-ratio 1.8\n"
      "  midscope rope --dim 128 --base 500000 --context 8192 --json\n"
      "  midscope rope path/gpt2 --out positions.h5";
  command.run = RunRope;
  return command;
}

}  // namespace midscope::cli
