// SPDX-License-Identifier: MIT
#include "probes/sweep/probe_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {
namespace {

constexpr const char* kPieces = "key_information";
constexpr const char* kSpans = "span_attention";
constexpr const char* kGoldPiece = "gold_piece";

bool IsOverPlaces(const RunReader& reader, const char* name, const char* array) {
  if (!reader.Has(name)) return false;
  const Record record = reader.Describe(name);
  return record.FindAxis("sample") && record.FindAxis("place") && record.FindArray(array);
}

// Returns an integer of each prompt, [sample, place]. If it is equal for all prompts, the file
// stores it as an attribute.
std::vector<int64_t> OfPrompts(const RunReader& reader, const Record& record,
                               const std::string& name, size_t prompts) {
  const auto same = record.attributes.find(name);
  if (same != record.attributes.end())
    return std::vector<int64_t>(prompts, std::get<int64_t>(same->second));
  return std::get<std::vector<int64_t>>(reader.ReadArray(record.name, name).data);
}

// Attention on the gold piece, [sample, place].
struct GoldRows {
  std::vector<double> attention;
  std::vector<double> shares;  // [place]: relative position between first and last piece
};

GoldRows FromPieces(const RunReader& reader) {
  const Record record = reader.Describe(kPieces);
  const Axis& pieces = AxisOf(record, "piece");
  const auto places = static_cast<size_t>(AxisOf(record, "place").size);
  const size_t prompts = static_cast<size_t>(AxisOf(record, "sample").size) * places;
  const Array read = reader.ReadArray(kPieces, "piece_attention");
  const auto& values = std::get<std::vector<double>>(read.data);
  const std::vector<int64_t> gold = OfPrompts(reader, record, kGoldPiece, prompts);
  GoldRows rows;
  for (size_t i = 0; i < prompts; ++i) {
    const auto found = std::ranges::find(pieces.values, static_cast<double>(gold[i]));
    const auto at = static_cast<size_t>(found - pieces.values.begin());
    const bool known = found != pieces.values.end();
    rows.attention.push_back(known ? values[i * pieces.values.size() + at] : kUndefined);
    if (i >= places) continue;
    const auto way = std::max<size_t>(pieces.values.size(), 2) - 1;
    rows.shares.push_back(known ? static_cast<double>(at) / static_cast<double>(way) : kUndefined);
  }
  return rows;
}

GoldRows FromSpans(const RunReader& reader) {
  const Record record = reader.Describe(kSpans);
  const auto places = static_cast<size_t>(AxisOf(record, "place").size);
  const size_t prompts = static_cast<size_t>(AxisOf(record, "sample").size) * places;
  const Array read = reader.ReadArray(kSpans, kGoldAttention);
  const auto& values = std::get<std::vector<double>>(read.data);
  const size_t heads = values.size() / std::max<size_t>(prompts, 1);
  GoldRows rows{{}, std::vector<double>(places, kUndefined)};
  for (size_t i = 0; i < prompts; ++i)
    rows.attention.push_back(Mean(std::span(values).subspan(i * heads, heads)));
  return rows;
}

double Gap(std::span<const double> of_places) {
  const auto [low, high] = std::ranges::minmax_element(of_places);
  return *high - *low;
}

SettingStatistics StatisticsOf(const std::vector<double>& rows, const SweepPlan& plan) {
  const size_t places = plan.places.size();
  std::vector<double> of_samples;
  for (size_t i = 0; i < rows.size(); i += places)
    of_samples.push_back(Mean(std::span(rows).subspan(i, places)));
  const std::vector<double> of_places = ColumnMeans(rows, places);
  SettingStatistics one;
  one.measure = kGoldAttention;
  one.samples = static_cast<int64_t>(of_samples.size());
  one.mean = Mean(of_samples);
  one.mean_interval = MeanInterval(of_samples);
  one.gap = Gap(of_places);
  one.gap_interval = BootstrapRowsInterval(rows, places, plan.seed, Gap);
  if (one.gap > 0) {
    const auto [low, high] = std::ranges::minmax_element(of_places);
    one.worst_place = plan.places[static_cast<size_t>(low - of_places.begin())];
    one.best_place = plan.places[static_cast<size_t>(high - of_places.begin())];
  }
  return one;
}

// Returns the printed texts of places that were requested as shares: "0%,50%,7"; empty if none was.
// The gold piece's relative position, if the file has it, replaces the requested share.
std::vector<std::string> TextsOfPlaces(const std::string& requested,
                                       const std::vector<double>& shares) {
  std::vector<std::string> texts;
  if (requested.find('%') == std::string::npos) return texts;
  std::istringstream items(requested);
  for (std::string item; std::getline(items, item, ',') && texts.size() < shares.size();) {
    const double share = shares[texts.size()];
    double percent = 0;
    const bool is_share = item.ends_with('%');
    if (is_share && std::isnan(share)) ReadWhole(item.substr(0, item.size() - 1), percent);
    texts.push_back(is_share ? PercentText(std::isnan(share) ? percent / 100 : share) : item);
  }
  return texts.size() == shares.size() ? texts : std::vector<std::string>();
}

// Makes a sweep plan from the stored plan of a batch of probes, with the places of the record.
SweepPlan PlanOfBatch(const RunReader& reader, const Record& record,
                      const std::vector<double>& shares) {
  const auto json = nlohmann::json::parse(reader.plan_json(), nullptr, false);
  SweepPlan plan;
  if (!json.is_object()) throw Failure(reader.path(), "its plan is damaged");
  plan.task = json.value("task", "");
  plan.seed = json.value("seed", plan.seed);
  plan.settings = {ReadSetting(json.value("with", "none"))};
  for (const double place : AxisOf(record, "place").values)
    plan.places.push_back(static_cast<int64_t>(place));
  plan.place_shares = shares;
  plan.place_texts = TextsOfPlaces(json.value("places", ""), shares);
  return plan;
}

}  // namespace

bool HasGoldAttention(const RunReader& reader) {
  return IsOverPlaces(reader, kPieces, "piece_attention") ||
         IsOverPlaces(reader, kSpans, kGoldAttention);
}

CurveInput ReadProbeCurve(const RunReader& reader) {
  const bool has_pieces = IsOverPlaces(reader, kPieces, "piece_attention");
  CurveInput input;
  input.model = reader.provenance().model_path;
  const GoldRows rows = has_pieces ? FromPieces(reader) : FromSpans(reader);
  input.plan = PlanOfBatch(reader, reader.Describe(has_pieces ? kPieces : kSpans), rows.shares);
  input.statistics.settings = {StatisticsOf(rows.attention, input.plan)};
  input.statistics.samples = input.statistics.settings.front().samples;
  input.plan.samples = input.statistics.samples;
  input.gold_attention = ColumnMeans(rows.attention, input.plan.places.size());
  const Record prompt = reader.Describe(kPromptRecord);
  const std::vector<int64_t> tokens =
      OfPrompts(reader, prompt, "prompt_tokens", rows.attention.size());
  for (const int64_t count : tokens)
    input.prompt_tokens += static_cast<double>(count) / static_cast<double>(tokens.size());
  return input;
}

}  // namespace midscope
