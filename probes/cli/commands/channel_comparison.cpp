// SPDX-License-Identifier: MIT
#include "probes/cli/commands/channel_comparison.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/store/record_reader.h"
#include "probes/base/records.h"
#include "probes/cli/commands/model_comparison.h"
#include "probes/cli/text/channels_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/channels/channel_search.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShownChannels = 5;

RankedChannels RankChannelsOf(const CommandInput& input, const std::string& model,
                              const std::string& file) {
  const OptionSet& options = input.options;
  RunOther("channels", input,
           {{"model", model},
            {"seed", options.Integer("seed")},
            {"prompts", options.Integer("channel-prompts")},
            {"tokens", options.Integer("channel-tokens")},
            {"validate", std::string("none")},
            {"top", kShownChannels},
            {"out", file}},
           {"places"});
  const RunReader reader(file);
  const Record record = reader.Read(kChannelSearchRecord);
  RankedChannels channels{ArrayValues<int64_t>(record, "trend"),
                          ArrayValues<int64_t>(record, "monotone_layers"),
                          ArrayValues<double>(record, "smoothness"),
                          {},
                          Value<int64_t>(record, "layers_examined")};
  if (record.FindArray("ranked_channel") != nullptr)
    channels.ranked = ArrayValues<int64_t>(record, "ranked_channel");
  return channels;
}

// The cells that describe one model in a row of the table.
struct Cells {
  std::string rank = "-";
  std::string layers = "-";
  std::string smoothness = "-";
};

Cells ChannelCells(const RankedChannels& channels, int64_t channel, bool is_in_model) {
  if (!is_in_model) return {};
  const auto at = static_cast<size_t>(channel);
  const int64_t rank = channels.RankOf(channel);
  const int64_t trend = channels.trend[at];
  std::string layers = fmt::format("{} of {}", channels.monotone_layers[at], channels.layers);
  if (trend != 0) layers += std::string(" ") + TrendName(trend);
  const double smoothness = channels.smoothness[at];
  return {rank == 0 ? "-" : std::to_string(rank), std::move(layers),
          std::isnan(smoothness) ? "-" : fmt::format("{:.4f}", smoothness)};
}

void AddJson(const RankedChannels& channels, int64_t channel, bool is_in_model,
             const std::string& side, Json* row) {
  const auto at = static_cast<size_t>(channel);
  const int64_t rank = is_in_model ? channels.RankOf(channel) : 0;
  (*row)["rank_" + side] = rank == 0 ? Json() : Json(rank);
  (*row)["trend_" + side] = is_in_model ? Json(TrendName(channels.trend[at])) : Json();
  (*row)["monotone_layers_" + side] = is_in_model ? Json(channels.monotone_layers[at]) : Json();
  (*row)["smoothness_" + side] = is_in_model ? NumberOrNull(channels.smoothness[at]) : Json();
}

void AddArrays(const RankedChannels& channels, const std::string& side, Record* record) {
  const std::string axis = "channel_" + side;
  record->axes.push_back(CountedAxis(axis, std::ssize(channels.trend)));
  std::vector<int64_t> ranks(channels.trend.size(), 0);
  for (size_t rank = 0; rank < channels.ranked.size(); ++rank)
    ranks[static_cast<size_t>(channels.ranked[rank])] = static_cast<int64_t>(rank) + 1;
  record->arrays.push_back(
      {"rank_" + side, {axis}, std::move(ranks), "", "among the candidates, from 1; 0: not one"});
  record->arrays.push_back(
      {"trend_" + side, {axis}, channels.trend, "", "1 rising, -1 falling, 0 none"});
  record->arrays.push_back({"monotone_layers_" + side,
                            {axis},
                            channels.monotone_layers,
                            "",
                            "layers in which the channel has that trend"});
  record->arrays.push_back({"smoothness_" + side,
                            {axis},
                            channels.smoothness,
                            "",
                            "mean size of second differences by position; lower is smoother"});
}

}  // namespace

int64_t RankedChannels::RankOf(int64_t channel) const {
  const auto found = std::find(ranked.begin(), ranked.end(), channel);
  return found == ranked.end() ? 0 : found - ranked.begin() + 1;
}

std::vector<ChannelComparison::Row> ChannelComparison::Largest() const {
  const bool same = before.trend.size() == after.trend.size();
  const auto first = [](const RankedChannels& channels) {
    return std::span(channels.ranked)
        .first(std::min<size_t>(channels.ranked.size(), kShownChannels));
  };
  std::vector<Row> rows;
  for (const int64_t channel : first(before)) rows.push_back({channel, true, same});
  for (const int64_t channel : first(after)) {
    const bool is_known = same && std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
                            return row.channel == channel;
                          });
    if (!is_known) rows.push_back({channel, same, true});
  }
  return rows;
}

ChannelComparison CompareChannels(const CommandInput& input, const std::string& stem) {
  ChannelComparison comparison;
  comparison.before =
      RankChannelsOf(input, input.options.Text("before"), stem + "_before_channels.h5");
  comparison.after =
      RankChannelsOf(input, input.options.Text("after"), stem + "_after_channels.h5");
  return comparison;
}

Printout ChannelComparisonText(const ChannelComparison& comparison) {
  Printout text(fmt::format("channels that carry position: {} before, {} after\n",
                            comparison.before.ranked.size(), comparison.after.ranked.size()));
  TextTable table({"channel", "rank before", "rank after", "monotone layers before",
                   "monotone layers after", "smoothness before", "smoothness after"});
  const std::vector<ChannelComparison::Row> rows = comparison.Largest();
  if (rows.empty()) return text;
  for (const ChannelComparison::Row& row : rows) {
    const Cells before = ChannelCells(comparison.before, row.channel, row.in_before);
    const Cells after = ChannelCells(comparison.after, row.channel, row.in_after);
    table.Add({std::to_string(row.channel), before.rank, after.rank, before.layers, after.layers,
               before.smoothness, after.smoothness});
  }
  text.AddTitled(
      fmt::format("The {} smoothest channels that carry position of each model", kShownChannels),
      std::move(table));
  return text;
}

Json ChannelComparisonJson(const ChannelComparison& comparison) {
  Json rows = Json::array();
  for (const ChannelComparison::Row& row : comparison.Largest()) {
    Json json = {{"channel", row.channel}};
    AddJson(comparison.before, row.channel, row.in_before, "before", &json);
    AddJson(comparison.after, row.channel, row.in_after, "after", &json);
    rows.push_back(std::move(json));
  }
  return rows;
}

Record ChannelComparisonRecord(const ChannelComparison& comparison) {
  Record record;
  record.name = "channel_comparison";
  AddArrays(comparison.before, "before", &record);
  AddArrays(comparison.after, "after", &record);
  record.signal = "monotone_layers_after";
  return record;
}

}  // namespace midscope::cli
