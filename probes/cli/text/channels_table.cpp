// SPDX-License-Identifier: MIT
#include "probes/cli/text/channels_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/text.h"
#include "probes/base/records.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/channels/channel_search.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kTrialsShown = 10;

const Record* Find(const std::vector<Record>& records, const std::string& name) {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const Record& record) { return record.name == name; });
  return found == records.end() ? nullptr : &*found;
}

// Returns the candidates for positional channels in the order of the ranking.
std::vector<int64_t> Ranked(const Record& search) {
  if (!search.FindArray("ranked_channel")) return {};
  return ArrayValues<int64_t>(search, "ranked_channel");
}

double Cell(const Record& record, const std::string& array, size_t index) {
  return ArrayValues<double>(record, array)[index];
}

Json TrialJson(const Record& validation, size_t setting) {
  const size_t places = validation.FindAxis("place")->values.size();
  const auto& place_loss = ArrayValues<double>(validation, "place_loss");
  Json losses = Json::array();
  for (size_t place = 0; place < places; ++place) {
    losses.push_back(NumberOrNull(place_loss[setting * places + place]));
  }
  return {{"setting", validation.FindAxis("setting")->labels[setting]},
          {"channel", ArrayValues<int64_t>(validation, "trial_channel")[setting]},
          {"factor", Cell(validation, "trial_factor", setting)},
          {"control", ArrayValues<uint8_t>(validation, "control")[setting] != 0},
          {"loss", NumberOrNull(Cell(validation, "loss", setting))},
          {"loss_difference", NumberOrNull(Cell(validation, "loss_difference", setting))},
          {"loss_difference_low", NumberOrNull(Cell(validation, "loss_difference_low", setting))},
          {"loss_difference_high", NumberOrNull(Cell(validation, "loss_difference_high", setting))},
          {"place_loss", losses}};
}

Json ValidationJson(const Record& validation) {
  const auto settings = validation.FindAxis("setting")->labels.size();
  Json trials = Json::array();
  for (size_t setting = 1; setting < settings; ++setting) {
    trials.push_back(TrialJson(validation, setting));
  }
  Json places = Json::array();
  for (const double place : validation.FindAxis("place")->values) {
    places.push_back(static_cast<int64_t>(place));
  }
  return {{"task", Value<std::string>(validation, "task")},
          {"seed", Value<int64_t>(validation, "seed")},
          {"examples", Value<int64_t>(validation, "examples")},
          {"places", places},
          {"loss_rule", Value<std::string>(validation, "loss_rule")},
          {"none_loss", NumberOrNull(Cell(validation, "loss", 0))},
          {"none_place_loss", TrialJson(validation, 0)["place_loss"]},
          {"beats_none", Value<int64_t>(validation, "chosen") >= 0},
          {"trials", trials}};
}

const RankingName& RankingOf(const Record& search) {
  return FindRanking(Value<std::string>(search, "ranking"));
}

Printout SearchTable(const Record& search, const std::vector<int64_t>& ranked, size_t top) {
  const int64_t layers = Value<int64_t>(search, "layers_examined");
  const int64_t threshold = Value<int64_t>(search, "layer_threshold");
  const auto& monotone = ArrayValues<int64_t>(search, "monotone_layers");
  const auto over = std::count_if(monotone.begin(), monotone.end(),
                                  [&](int64_t count) { return count > threshold; });
  Printout text(fmt::format(
      "{} examined, {} of {} of random text; {} with a trend in more than {}\n",
      CountText(layers, "layer"), CountText(Value<int64_t>(search, "prompts"), "prompt"),
      CountText(Value<int64_t>(search, "tokens"), "token"), CountText(over, "channel"),
      CountText(threshold, "layer")));
  const RankingName& ranking = RankingOf(search);
  if (ranking.ranking != SearchRanking::kFull) {
    text += fmt::format("ranking {}: {}\n", ranking.name, ranking.text);
  }
  if (ranked.empty()) return text;
  TextTable table({"channel", "monotone layers", "trend", "smoothness", "smoothest layer"});
  for (size_t rank = 0; rank < std::min(top, ranked.size()); ++rank) {
    const auto channel = static_cast<size_t>(ranked[rank]);
    table.Add(
        {std::to_string(channel),
         fmt::format("{} of {}", ArrayValues<int64_t>(search, "monotone_layers")[channel], layers),
         TrendName(ArrayValues<int64_t>(search, "trend")[channel]),
         fmt::format("{:.4f}", Cell(search, "smoothness", channel)),
         std::to_string(ArrayValues<int64_t>(search, "smoothest_layer")[channel])});
  }
  text.Add("Channels that carry position, the smoothest first", std::move(table));
  text +=
      "smoothness: lower is better, the smoothest is first; monotone layers: layers whose fit "
      "rises or falls over all positions, more is better\n";
  return text;
}

std::string DifferenceText(const Record& validation, size_t setting) {
  const double difference = Cell(validation, "loss_difference", setting);
  const double low = Cell(validation, "loss_difference_low", setting);
  if (!std::isfinite(low)) return fmt::format("{:+.3f}", difference);  // only one example
  return fmt::format("{:+.3f} [{:+.3f}, {:+.3f}]", difference, low,
                     Cell(validation, "loss_difference_high", setting));
}

// Adds a table of `none` and the validation trials with the lowest losses.
void AddTrials(const Record& validation, Printout& text) {
  const auto& labels = validation.FindAxis("setting")->labels;
  const auto& loss = ArrayValues<double>(validation, "loss");
  const std::vector<double>& places = validation.FindAxis("place")->values;
  std::vector<size_t> order(labels.size() - 1);
  std::iota(order.begin(), order.end(), size_t{1});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return loss[a] < loss[b]; });
  const size_t all = order.size();
  order.resize(std::min(order.size(), kTrialsShown));
  const auto control = Value<int64_t>(validation, "best_control");
  if (control > 0 && std::find(order.begin(), order.end(), control) == order.end()) {
    order.push_back(static_cast<size_t>(control));
  }
  order.insert(order.begin(), 0);
  std::vector<std::string> header = {"setting", "loss", "difference [95 %]"};
  for (const double place : places) header.push_back(fmt::format("place {}", place));
  TextTable table(header);
  for (const size_t setting : order) {
    const bool drawn = ArrayValues<uint8_t>(validation, "control")[setting] != 0;
    std::vector<std::string> cells = {labels[setting] + (drawn ? " (control)" : ""),
                                      fmt::format("{:.3f}", loss[setting]),
                                      setting == 0 ? "" : DifferenceText(validation, setting)};
    for (size_t place = 0; place < places.size(); ++place) {
      const double here = Cell(validation, "place_loss", setting * places.size() + place);
      cells.push_back(fmt::format("{:.3f}", here));
    }
    table.Add(cells);
  }
  const size_t left = all + 1 - order.size();
  text.Add("none and the trials with the lowest losses", std::move(table));
  if (left == 0) return;
  text += fmt::format("... and {} with larger losses, which --json and the file have\n",
                      CountText(static_cast<int64_t>(left), "trial"));
}

Printout ValidationTable(const Record& validation) {
  const size_t trials = validation.FindAxis("setting")->labels.size() - 1;
  Printout text(fmt::format(
      "\n{} on {} of {} (seed {}); loss: {}\n", CountText(static_cast<int64_t>(trials), "trial"),
      CountText(Value<int64_t>(validation, "examples"), "example"),
      Value<std::string>(validation, "task"), Value<int64_t>(validation, "seed"),
      Value<std::string>(validation, "loss_rule")));
  AddTrials(validation, text);
  const auto best = static_cast<size_t>(Value<int64_t>(validation, "best"));
  if (Value<int64_t>(validation, "chosen") < 0) {
    const bool lower = Cell(validation, "loss_difference", best) < 0;
    text +=
        fmt::format("No candidate beats none: the best, {}, differs by {}{}\n",
                    validation.FindAxis("setting")->labels[best], DifferenceText(validation, best),
                    lower ? ", and no interval excludes 0" : "");
    return text;
  }
  text += fmt::format(
      "The best of {} differs from none by {} nats; the interval is not widened for the choice.\n",
      trials, DifferenceText(validation, best));
  text += Value<std::string>(validation, "setting") + "\n";
  return text;
}

}  // namespace

const char* TrendName(int64_t trend) {
  return trend > 0 ? "rising" : trend < 0 ? "falling" : "none";
}

std::string LeaderText(const Record& search) {
  const std::vector<int64_t> ranked = Ranked(search);
  const std::string prompts =
      fmt::format("after {} of {} prompts: ", Value<int64_t>(search, "prompts"),
                  Value<int64_t>(search, kPlannedPrompts));
  if (ranked.empty()) return prompts + "no channel has a trend in enough layers";
  const auto first = static_cast<size_t>(ranked.front());
  return prompts + fmt::format("channel {} leads, {} in {} of {} layers", ranked.front(),
                               TrendName(ArrayValues<int64_t>(search, "trend")[first]),
                               ArrayValues<int64_t>(search, "monotone_layers")[first],
                               Value<int64_t>(search, "layers_examined"));
}

std::string ChannelsJson(const std::vector<Record>& records, const std::string& file) {
  const Record& search = *Find(records, "channel_search");
  const Record* validation = Find(records, "channel_validation");
  const std::vector<int64_t> ranked = Ranked(search);
  Json json;
  for (const char* name : {"layers_examined", "layer_threshold", "prompts", "tokens", "seed",
                           "trend_skip", "smoothness_skip", "smoothing_window"}) {
    json[name] = Value<int64_t>(search, name);
  }
  json["ranking"] = RankingOf(search).name;
  json["channels"] = Json::array();
  for (const int64_t number : ranked) {
    const auto channel = static_cast<size_t>(number);
    json["channels"].push_back(
        {{"channel", number},
         {"monotone_layers", ArrayValues<int64_t>(search, "monotone_layers")[channel]},
         {"smoothness", NumberOrNull(Cell(search, "smoothness", channel))},
         {"trend", TrendName(ArrayValues<int64_t>(search, "trend")[channel])},
         {"smoothest_layer", ArrayValues<int64_t>(search, "smoothest_layer")[channel]}});
  }
  json["validation"] = validation ? ValidationJson(*validation) : Json(nullptr);
  const bool chosen = validation && Value<int64_t>(*validation, "chosen") >= 0;
  json["setting"] = chosen ? Json(Value<std::string>(*validation, "setting")) : Json(nullptr);
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  return json.dump(2) + "\n";
}

Printout ChannelTables(const std::vector<Record>& records, size_t top) {
  const Record& search = *Find(records, "channel_search");
  Printout text = SearchTable(search, Ranked(search), top);
  if (const Record* validation = Find(records, "channel_validation")) {
    text += ValidationTable(*validation);
  }
  return text;
}

}  // namespace midscope::cli
