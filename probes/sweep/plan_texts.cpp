// SPDX-License-Identifier: MIT
#include "probes/sweep/plan_texts.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/record.h"

namespace midscope {
namespace {

constexpr const char* kShare = "place_share";
constexpr const char* kText = "place_text";

std::string AttributeName(size_t setting, const char* what) {
  return fmt::format("setting_{}_{}", setting, what);
}

// Returns the index of a place in the plan; -1 if the plan does not have it.
std::ptrdiff_t IndexOf(const SweepPlan& plan, int64_t place) {
  const auto found = std::find(plan.places.begin(), plan.places.end(), place);
  return found == plan.places.end() ? -1 : found - plan.places.begin();
}

// Returns the elements of the array if it is over the record's places, else null.
template <typename T>
const std::vector<T>* OverPlaces(const Record& record, const char* name) {
  const Axis* axis = record.FindAxis("place");
  const Array* array = record.FindArray(name);
  const auto* values = array ? std::get_if<std::vector<T>>(&array->data) : nullptr;
  return axis && values && values->size() == axis->values.size() ? values : nullptr;
}

void ReadSettingTexts(const Record& record, SweepPlan& plan) {
  const Axis* axis = record.FindAxis("setting");
  if (!axis) return;
  for (SweepSetting& setting : plan.settings) {
    const auto label = std::find(axis->labels.begin(), axis->labels.end(), setting.canonical());
    if (label == axis->labels.end()) continue;
    const auto index = static_cast<size_t>(label - axis->labels.begin());
    const std::string given = AttributeText(record, AttributeName(index, "as_given"));
    if (!given.empty()) setting.text = given;
    setting.control_of = AttributeText(record, AttributeName(index, "control_of"));
  }
}

void ReadPlaceTexts(const Record& record, SweepPlan& plan) {
  const Axis* axis = record.FindAxis("place");
  const auto* shares = OverPlaces<double>(record, kShare);
  if (!shares) return;
  const auto* texts = OverPlaces<std::string>(record, kText);
  plan.place_shares.resize(plan.places.size(), std::numeric_limits<double>::quiet_NaN());
  if (texts) plan.place_texts.resize(plan.places.size());
  for (size_t i = 0; i < axis->values.size(); ++i) {
    const std::ptrdiff_t place = IndexOf(plan, static_cast<int64_t>(axis->values[i]));
    if (place < 0) continue;
    plan.place_shares[static_cast<size_t>(place)] = (*shares)[i];
    if (texts) plan.place_texts[static_cast<size_t>(place)] = (*texts)[i];
  }
}

}  // namespace

std::string PlaceText(const std::vector<int64_t>& places, const std::vector<std::string>& texts,
                      int64_t place) {
  const auto index = static_cast<size_t>(std::ranges::find(places, place) - places.begin());
  const bool named = index < texts.size() && !texts[index].empty();
  return named ? texts[index] : std::to_string(place);
}

std::string PlaceText(const SweepPlan& plan, int64_t place) {
  return PlaceText(plan.places, plan.place_texts, place);
}

std::string PlacesText(const SweepPlan& plan, const std::vector<int64_t>& places) {
  std::string text;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i > 0) text += i + 1 == places.size() ? " and " : ", ";
    text += PlaceText(plan, places[i]);
  }
  return text.empty() ? "-" : text;
}

double PlaceShare(const SweepPlan& plan, int64_t place) {
  const std::ptrdiff_t index = IndexOf(plan, place);
  const bool known = index >= 0 && static_cast<size_t>(index) < plan.place_shares.size();
  return known ? plan.place_shares[static_cast<size_t>(index)]
               : std::numeric_limits<double>::quiet_NaN();
}

void NotePlanTexts(const SweepPlan& plan, Record& record) {
  // One attribute per setting, because an attribute is a single value.
  for (size_t i = 0; i < plan.settings.size(); ++i) {
    record.attributes[AttributeName(i, "as_given")] = plan.settings[i].text;
    if (plan.settings[i].control_of.empty()) continue;
    record.attributes[AttributeName(i, "control_of")] = plan.settings[i].control_of;
  }
  if (plan.place_shares.size() != plan.places.size()) return;
  record.arrays.push_back({kShare,
                           {"place"},
                           plan.place_shares,
                           "",
                           "share of the way from the task's first place to its last, 0 to 1"});
  if (plan.place_texts.size() != plan.places.size()) return;
  record.arrays.push_back(
      {kText, {"place"}, plan.place_texts, "", "how the place is printed, by its share"});
}

void ReadPlanTexts(const Record& record, SweepPlan& plan) {
  ReadSettingTexts(record, plan);
  ReadPlaceTexts(record, plan);
}

}  // namespace midscope
