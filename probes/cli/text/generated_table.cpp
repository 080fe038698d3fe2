// SPDX-License-Identifier: MIT
#include "probes/cli/text/generated_table.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/sweep/plan_texts.h"

namespace midscope::cli {
namespace {

// Maximum number of columns for the width of a terminal; the file has all of them.
constexpr size_t kMostColumns = 12;

std::string ShareText(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f}", share) : "-";
}

// Returns the cells of one setting, by gold place.
std::vector<const GeneratedCell*> CellsOf(const SweepPlan& plan, const GeneratedOutcomes& outcomes,
                                          size_t setting) {
  std::vector<const GeneratedCell*> cells;
  for (size_t place = 0; place < plan.places.size(); ++place) {
    cells.push_back(&outcomes.cells[setting * plan.places.size() + place]);
  }
  return cells;
}

// Returns the indices, ascending, of the answered places with the largest sums over gold places,
// without places that are never answered.
std::vector<size_t> ShownPlaces(const std::vector<const GeneratedCell*>& cells, size_t places) {
  std::vector<double> sums(places);
  for (const GeneratedCell* cell : cells) {
    for (size_t i = 0; i < places; ++i) {
      if (cell->samples > 0) sums[i] += cell->answered[i];
    }
  }
  std::vector<size_t> shown;
  for (size_t i = 0; i < places; ++i) {
    if (sums[i] > 0) shown.push_back(i);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [&](size_t a, size_t b) { return sums[a] > sums[b]; });
  if (shown.size() > kMostColumns) shown.resize(kMostColumns);
  std::sort(shown.begin(), shown.end());
  return shown;
}

TextTable MatrixTable(const SweepPlan& plan, const GeneratedOutcomes& outcomes, size_t setting) {
  const std::vector<const GeneratedCell*> cells = CellsOf(plan, outcomes, setting);
  const std::vector<size_t> shown = ShownPlaces(cells, outcomes.answered_places.size());
  std::vector<std::string> header = {"gold place"};
  for (const size_t i : shown) header.push_back(fmt::format("{}", outcomes.answered_places[i]));
  header.insert(header.end(), {"others", "none"});
  TextTable table(header);
  for (size_t place = 0; place < plan.places.size(); ++place) {
    const GeneratedCell& cell = *cells[place];
    std::vector<std::string> row = {PlaceText(plan, plan.places[place])};
    double others = 1 - cell.none;
    for (const size_t i : shown) {
      row.push_back(ShareText(cell.answered[i]));
      others -= cell.answered[i];
    }
    // Rounding errors of the difference are printed as 0.
    row.push_back(ShareText(std::abs(others) < 1e-9 ? 0 : others));
    row.push_back(ShareText(cell.none));
    table.Add(std::move(row));
  }
  return table;
}

}  // namespace

Printout GeneratedTables(const SweepPlan& plan, const GeneratedOutcomes& outcomes) {
  if (outcomes.cells.empty()) return {};
  const bool pieces = !outcomes.answered_places.empty();
  std::vector<std::string> header = {"generated text", "place", "right"};
  if (pieces) header.insert(header.end(), {"another piece's", "no piece's"});
  header.insert(header.end(), {"empty", "cut"});
  TextTable table(header);
  for (size_t i = 0; i < outcomes.cells.size(); ++i) {
    const GeneratedCell& cell = outcomes.cells[i];
    std::vector<std::string> row = {plan.settings[i / plan.places.size()].TextWithRole(),
                                    PlaceText(plan, plan.places[i % plan.places.size()]),
                                    ShareText(cell.right)};
    if (pieces) row.insert(row.end(), {ShareText(cell.another), ShareText(cell.none)});
    row.insert(row.end(), {ShareText(cell.empty), ShareText(cell.cut)});
    table.Add(std::move(row));
  }
  Printout text;
  text.Add("Generated text", std::move(table));
  text +=
      "shares of samples; right: a full score; empty: nothing in what is scored; "
      "cut: by the limit of new tokens\n";
  if (!pieces) return text;
  for (size_t setting = 0; setting < plan.settings.size(); ++setting) {
    text.AddTitled("answered place, " + plan.settings[setting].TextWithRole(),
                   MatrixTable(plan, outcomes, setting));
  }
  text += "shares of samples whose text gives the answer of the piece at that place\n";
  return text;
}

void AddGeneratedCell(const GeneratedOutcomes& outcomes, size_t cell, nlohmann::ordered_json& row) {
  if (outcomes.cells.empty()) return;
  const GeneratedCell& one = outcomes.cells[cell];
  row["generated_right"] = NumberOrNull(one.right);
  row["generated_empty"] = NumberOrNull(one.empty);
  row["generated_cut"] = NumberOrNull(one.cut);
  if (outcomes.answered_places.empty()) return;
  row["answered_another"] = NumberOrNull(one.another);
  row["answered_none"] = NumberOrNull(one.none);
}

nlohmann::ordered_json AnsweredPlacesJson(const SweepPlan& plan,
                                          const GeneratedOutcomes& outcomes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (outcomes.answered_places.empty()) return all;
  for (size_t setting = 0; setting < plan.settings.size(); ++setting) {
    nlohmann::ordered_json shares = nlohmann::ordered_json::array();
    for (const GeneratedCell* cell : CellsOf(plan, outcomes, setting)) {
      nlohmann::ordered_json row = nlohmann::ordered_json::array();
      for (const double share : cell->answered) row.push_back(NumberOrNull(share));
      shares.push_back(std::move(row));
    }
    all.push_back({{"setting", plan.settings[setting].text},
                   {"gold_places", plan.places},
                   {"answered_places", outcomes.answered_places},
                   {"shares", std::move(shares)}});
  }
  return all;
}

}  // namespace midscope::cli
