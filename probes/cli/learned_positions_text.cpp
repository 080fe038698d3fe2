// SPDX-License-Identifier: MIT
#include "probes/cli/learned_positions_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "probes/base/record_values.h"
#include "probes/cli/output.h"
#include "probes/cli/record_values.h"
#include "probes/cli/text_table.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLearned = 0;  // of the axis `table`
constexpr size_t kSinusoidal = 1;
constexpr size_t kPeriods = 12;  // printed

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

// Distances 0, 1, 2, 4, ... within the record's grid, and the last.
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

}  // namespace

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

}  // namespace midscope::cli
