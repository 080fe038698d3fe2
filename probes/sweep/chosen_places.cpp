// SPDX-License-Identifier: MIT
#include "probes/sweep/chosen_places.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "probes/measure/statistics/outcome_measures.h"
#include "probes/sweep/place_arrays.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {
namespace {

std::string WithoutSpaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Returns the printed places, separated by commas.
std::string ListOf(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::vector<std::string> PrintedPlaces(const std::vector<int64_t>& places,
                                       const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const int64_t place : places) names.push_back(PlaceText(places, texts, place));
  return names;
}

// Keeps only the chosen places in every row of [row, place, width].
template <typename T>
void KeepColumns(const std::vector<size_t>& chosen, size_t places, size_t width,
                 std::vector<T>& values) {
  if (values.empty()) return;
  if (values.size() % (places * width) != 0) {
    throw std::logic_error("an outcome does not have the places of the plan");
  }
  values = TakeAlongAxis(values, places, width, chosen);
}

}  // namespace

std::vector<size_t> ParseChosenPlaces(const std::string& text, const std::vector<int64_t>& places,
                                      const std::vector<std::string>& texts) {
  const std::vector<std::string> names = PrintedPlaces(places, texts);
  const auto fail = [&](const std::string& reason) {
    throw UsageError("option --places", reason, "The places of the sweep are " + ListOf(names));
  };
  std::vector<size_t> chosen;
  const auto add = [&](size_t at, const std::string& item) {
    if (at == places.size()) fail(Quote(item) + " is not a place of the sweep");
    if (std::find(chosen.begin(), chosen.end(), at) != chosen.end()) {
      fail(Quote(item) + " occurs twice");
    }
    chosen.push_back(at);
  };
  const auto index_of = [&](int64_t place) {
    return static_cast<size_t>(std::find(places.begin(), places.end(), place) - places.begin());
  };
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string item = WithoutSpaces(text.substr(begin, comma - begin));
    begin = comma + 1;
    const auto named = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return WithoutSpaces(name) == item;
    });
    const size_t dash = item.find('-');
    int64_t first = 0;
    int64_t last = 0;
    if (named != names.end()) {
      add(static_cast<size_t>(named - names.begin()), item);
    } else if (ReadWhole(item, first)) {
      add(index_of(first), item);
    } else if (dash != std::string::npos && ReadWhole(item.substr(0, dash), first) &&
               ReadWhole(item.substr(dash + 1), last)) {
      const size_t before = chosen.size();
      for (size_t at = 0; at < places.size(); ++at) {
        if (places[at] >= first && places[at] <= last) add(at, item);
      }
      if (chosen.size() == before) fail(Quote(item) + " contains no place of the sweep");
    } else {
      add(places.size(), item);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::string ChosenPlacesText(const std::vector<size_t>& chosen, const std::vector<int64_t>& places,
                             const std::vector<std::string>& texts) {
  const std::vector<std::string> names = PrintedPlaces(places, texts);
  std::vector<std::string> kept;
  kept.reserve(chosen.size());
  for (const size_t at : chosen) kept.push_back(names.at(at));
  return fmt::format("{} {} of {}", kept.size() == 1 ? "place" : "places", ListOf(kept),
                     ListOf(names));
}

void KeepPlaces(const std::vector<size_t>& chosen, SweepPlan& plan, SweepResult& result) {
  const size_t places = plan.places.size();
  const auto keep = [&](auto& values, size_t width = 1) {
    KeepColumns(chosen, places, width, values);
  };
  for (SampleOutcome& outcome : result.outcomes) {
    keep(outcome.answer_nll);
    keep(outcome.correct);
    keep(outcome.choice_correct);
    keep(outcome.generation_score);
    keep(outcome.rouge, kRougeKinds);
    keep(outcome.answer_tokens);
    keep(outcome.source_nll);
    keep(outcome.generation_cut);
    keep(outcome.generation_empty);
    keep(outcome.answered_place);
    keep(outcome.first_piece_place);
    keep(outcome.last_piece_place);
    keep(outcome.prompt_cut);
    keep(outcome.gold_token_begin);
    keep(outcome.gold_rank);
    keep(outcome.right_share);
  }
  result.tests.clear();
  keep(plan.places);
  keep(plan.place_shares);
  keep(plan.place_texts);
}

}  // namespace midscope
