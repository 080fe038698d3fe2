// SPDX-License-Identifier: MIT
#include "probes/cli/text/scan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "core/base/text.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/sweep/plan_texts.h"

namespace midscope::cli {
namespace {

// Returns the indices of the items with the largest effects, at most `most`, the largest first.
std::vector<size_t> Largest(const std::vector<ScanEffect>& effects, int64_t most) {
  std::vector<size_t> order(effects.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return !std::isfinite(effects[i].effect); });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(effects[a].effect) > std::abs(effects[b].effect);
  });
  order.resize(std::min(order.size(), static_cast<size_t>(most)));
  return order;
}

TextTable TableOf(const SweepPlan& plan, const ScanEffects& effects,
                  const std::vector<ScanEffect>& by, const std::string& column, int64_t most) {
  std::vector<std::string> header = {plan.scan->kind, column, "p"};
  for (const int64_t place : plan.places) header.push_back("place " + PlaceText(plan, place));
  TextTable table(header);
  const size_t places = plan.places.size();
  for (const size_t item : Largest(by, most)) {
    std::vector<std::string> row = {plan.scan->items[item].id,
                                    WithInterval(by[item].effect, by[item].interval),
                                    PText(by[item].p)};
    for (size_t place = 0; place < places; ++place)
      row.push_back(fmt::format("{:.2f}", effects.places[item * places + place].effect));
    table.Add(std::move(row));
  }
  return table;
}

std::string ShareText(const RecoveredShare& share) {
  return std::isnan(share.share) ? "-" : WithInterval(share.share, share.interval);
}

// Returns a table of recovered shares with passages as columns and layers as rows.
TextTable ShareGrid(const SweepPlan& plan, const ScanEffects& effects) {
  const Scan& scan = *plan.scan;
  std::vector<std::string> header = {"layer"};
  std::map<int64_t, std::vector<std::string>> rows;
  for (size_t i = 0; i < scan.items.size(); ++i) {
    const ScanItem& item = scan.items[i];
    if (item.at[0] == scan.items.front().at[0]) header.push_back(SpanOf(item));
    rows[item.at[0]].push_back(ShareText(effects.mean_shares[i]));
  }
  TextTable table(header);
  for (auto& [layer, cells] : rows) {
    cells.insert(cells.begin(), std::to_string(layer));
    table.Add(std::move(cells));
  }
  return table;
}

// Returns a table of the `most` items with the largest recovered shares, with shares by place.
TextTable ShareTable(const SweepPlan& plan, const ScanEffects& effects, int64_t most) {
  std::vector<std::string> header = {plan.scan->kind, "share"};
  for (const int64_t place : plan.places) header.push_back("place " + PlaceText(plan, place));
  TextTable table(header);
  const size_t places = plan.places.size();
  std::vector<ScanEffect> shares;
  for (const RecoveredShare& share : effects.mean_shares)
    shares.push_back({share.share, share.interval, 1});
  for (const size_t item : Largest(shares, most)) {
    std::vector<std::string> row = {plan.scan->items[item].id,
                                    ShareText(effects.mean_shares[item])};
    for (size_t place = 0; place < places; ++place) {
      const double share = effects.shares[item * places + place].share;
      row.push_back(std::isnan(share) ? "-" : fmt::format("{:.2f}", share));
    }
    table.Add(std::move(row));
  }
  return table;
}

void AddShares(const SweepPlan& plan, const ScanEffects& effects, int64_t most, Printout& text) {
  const bool grid = FindScanKind(plan.scan->kind).axes == std::vector<std::string>{"layer", "span"};
  text +=
      "\nShare of the source's answer_nll that comes back: (patched - none) / (source - none), of "
      "means over\nsamples and places; -: both are alike\n";
  text.Add("Share of the source's answer_nll that comes back",
           grid ? ShareGrid(plan, effects) : ShareTable(plan, effects, most));
}

void AddShare(const RecoveredShare& share, nlohmann::ordered_json& json) {
  json["share"] = NumberOrNull(share.share);
  json["share_low"] = NumberOrNull(share.interval.low);
  json["share_high"] = NumberOrNull(share.interval.high);
}

nlohmann::ordered_json EffectJson(const Scan& scan, const ScanItem& item, const ScanEffect& one) {
  nlohmann::ordered_json json = {{"kind", scan.kind},
                                 {"id", item.id},
                                 {"effect", NumberOrNull(one.effect)},
                                 {"low", NumberOrNull(one.interval.low)},
                                 {"high", NumberOrNull(one.interval.high)},
                                 {"p", NumberOrNull(one.p)}};
  const std::vector<std::string>& axes = FindScanKind(scan.kind).axes;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] == "span" && axes.size() > 1) {
      json[axes[axis]] = SpanOf(item);
    } else {
      json[axes[axis]] = item.at[axis];
    }
  }
  return json;
}

}  // namespace

Printout ScanTables(const SweepPlan& plan, const ScanEffects& effects, const PromptCuts& cuts,
                    int64_t most) {
  Printout text(fmt::format(
      "{} over {} {}, {}: answer_nll minus that of {}, nats; above 0 the answer is less "
      "likely.\np is adjusted for all of them.\n",
      plan.scan->term, plan.scan->items.size(), plan.scan->kind,
      CountText(effects.samples, "sample"), ScanSettings(*plan.scan).front()));
  if (const double least = SmallestSignFlipP(effects.samples); least > 0.05) {
    text += fmt::format("{}: p cannot fall below {}\n", CountText(effects.samples, "sample"),
                        PText(least));
  }
  text.AddTitled("Largest on the mean over places",
                 TableOf(plan, effects, effects.means, "mean", most));
  if (!effects.middles.empty()) {
    text.AddTitled("Largest on the middle place, against the mean of the first and the last",
                   TableOf(plan, effects, effects.middles, "middle", most));
  }
  if (!effects.mean_shares.empty()) AddShares(plan, effects, most, text);
  text += PromptCutsText(plan, cuts);
  return text;
}

std::string ScanEffectsJson(const SweepPlan& plan, const ScanEffects& effects,
                            const PromptCuts& cuts) {
  const Scan& scan = *plan.scan;
  nlohmann::ordered_json json = {{"over", scan.kind},
                                 {"with", scan.term},
                                 {"base", ScanSettings(scan).front()},
                                 {"task", plan.task},
                                 {"samples", effects.samples}};
  const size_t places = plan.places.size();
  auto& list = json["effects"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < effects.places.size(); ++i) {
    nlohmann::ordered_json one = EffectJson(scan, scan.items[i / places], effects.places[i]);
    one["place"] = plan.places[i % places];
    if (!effects.shares.empty()) AddShare(effects.shares[i], one);
    list.push_back(std::move(one));
  }
  const auto add = [&](const char* name, const std::vector<ScanEffect>& of_items) {
    auto& means = json[name] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < of_items.size(); ++i)
      means.push_back(EffectJson(scan, scan.items[i], of_items[i]));
  };
  add("mean_effects", effects.means);
  for (size_t i = 0; i < effects.mean_shares.size(); ++i)
    AddShare(effects.mean_shares[i], json["mean_effects"][i]);
  add("middle_effects", effects.middles);
  if (std::any_of(cuts.cut.begin(), cuts.cut.end(), [](int64_t count) { return count > 0; })) {
    json["cut_samples"] = cuts.cut;
    json["gold_cut_samples"] = cuts.gold_cut;
  }
  return json.dump(2) + "\n";
}

}  // namespace midscope::cli
