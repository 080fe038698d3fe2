// SPDX-License-Identifier: MIT
#include "probes/sweep/generated_outcomes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/record_names.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// Returns the places of all pieces of all prompts; empty if a sample has no places of pieces.
std::vector<int64_t> AnsweredPlaces(const std::vector<SampleOutcome>& outcomes) {
  std::vector<int64_t> places;
  for (const SampleOutcome& outcome : outcomes) {
    if (outcome.answered_place.empty()) return {};
    places.insert(places.end(), outcome.first_piece_place.begin(), outcome.first_piece_place.end());
    places.insert(places.end(), outcome.last_piece_place.begin(), outcome.last_piece_place.end());
  }
  if (places.empty()) return {};
  const auto [low, high] = std::minmax_element(places.begin(), places.end());
  std::vector<int64_t> all;
  for (int64_t place = *low; place <= *high; ++place) all.push_back(place);
  return all;
}

GeneratedCell CellOf(const std::vector<SampleOutcome>& outcomes, size_t setting, size_t cell,
                     int64_t gold_place, const std::vector<int64_t>& answered_places) {
  GeneratedCell result;
  result.answered.resize(answered_places.size());
  for (const SampleOutcome& outcome : outcomes) {
    if (!outcome.Ran(setting)) continue;
    ++result.samples;
    result.right += outcome.generation_score[cell] >= 1 ? 1 : 0;
    result.empty += outcome.generation_empty[cell];
    result.cut += outcome.generation_cut[cell];
    if (answered_places.empty()) continue;
    const int64_t answered = outcome.answered_place[cell];
    result.none += answered == kNoPlace ? 1 : 0;
    result.another += answered != kNoPlace && answered != gold_place ? 1 : 0;
    if (answered == kNoPlace) continue;
    ++result.answered[static_cast<size_t>(answered - answered_places.front())];
  }
  const double samples = result.samples > 0 ? static_cast<double>(result.samples) : kUndefined;
  if (answered_places.empty()) result.none = result.another = kUndefined;
  for (double* sum : {&result.right, &result.empty, &result.cut, &result.another, &result.none}) {
    *sum /= samples;
  }
  for (double& sum : result.answered) sum /= samples;
  return result;
}

}  // namespace

GeneratedOutcomes GeneratedOutcomesOf(const SweepPlan& plan,
                                      const std::vector<SampleOutcome>& outcomes) {
  const bool has = !outcomes.empty() && !plan.scan &&
                   std::none_of(outcomes.begin(), outcomes.end(), [](const SampleOutcome& one) {
                     return one.generation_cut.empty() || one.generation_score.empty();
                   });
  GeneratedOutcomes result;
  if (!has) return result;
  result.answered_places = AnsweredPlaces(outcomes);
  for (size_t setting = 0; setting < plan.settings.size(); ++setting) {
    for (size_t place = 0; place < plan.places.size(); ++place) {
      result.cells.push_back(CellOf(outcomes, setting, setting * plan.places.size() + place,
                                    plan.places[place], result.answered_places));
    }
  }
  return result;
}

Record GeneratedOutcomesRecord(const SweepPlan& plan, const GeneratedOutcomes& outcomes) {
  Record record;
  record.name = kGeneratedOutcomes;
  record.axes = {LabelledAxis("setting", plan.CanonicalSettings()),
                 ValuedAxis("place", plan.places)};
  record.axes.back().unit = "rank";
  const auto add = [&](const char* name, const char* description, double GeneratedCell::*share) {
    std::vector<double> values;
    values.reserve(outcomes.cells.size());
    for (const GeneratedCell& cell : outcomes.cells) values.push_back(cell.*share);
    record.arrays.push_back({name, {"setting", "place"}, std::move(values), "", description});
  };
  record.signal = "share_right";
  add("share_right", "share of samples whose generated text has a full score",
      &GeneratedCell::right);
  add("share_empty", "share of samples with nothing in the part of the text that is scored",
      &GeneratedCell::empty);
  add("share_cut", "share of samples whose answer the limit of new tokens cut",
      &GeneratedCell::cut);
  if (!outcomes.answered_places.empty()) {
    add("share_another", "share of samples whose text gives another piece's answer",
        &GeneratedCell::another);
    add("share_none", "share of samples whose text gives the answer of no piece",
        &GeneratedCell::none);
    record.axes.push_back(ValuedAxis("answered", outcomes.answered_places));
    record.axes.back().unit = "rank";
    std::vector<double> shares;
    for (const GeneratedCell& cell : outcomes.cells) {
      shares.insert(shares.end(), cell.answered.begin(), cell.answered.end());
    }
    record.signal = kAnsweredPlace;
    record.arrays.push_back({kAnsweredPlace,
                             {"setting", "place", "answered"},
                             std::move(shares),
                             "",
                             "share of samples whose text gives the answer of the piece at that "
                             "place, by the gold piece's place"});
  }
  std::vector<int64_t> samples;
  for (size_t i = 0; i < plan.settings.size(); ++i) {
    samples.push_back(outcomes.cells[i * plan.places.size()].samples);
  }
  record.arrays.push_back(
      {"samples", {"setting"}, std::move(samples), "", "samples in the shares"});
  return record;
}

}  // namespace midscope
