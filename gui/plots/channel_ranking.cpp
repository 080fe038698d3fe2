// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/channel_ranking.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "probes/measure/channels/channel_search.h"

namespace midscope {
namespace {

constexpr const char* kMeanArray = "hidden_mean";
constexpr const char* kFitArray = "cubic_fit";

QString TrendText(double trend) {
  return trend > 0 ? QObject::tr("rising") : trend < 0 ? QObject::tr("falling") : QString();
}

// Returns nullopt if the setting was written by a later version and cannot be parsed.
std::optional<ChannelScaling> ScalingOf(const QString& setting) {
  try {
    const Intervention intervention = ParseIntervention(setting.toStdString());
    if (const auto* scaling = intervention.Find<ChannelScaling>()) return *scaling;
  } catch (const Error&) {
  }
  return std::nullopt;
}

std::optional<RankedChannel::Trial> BestTrial(const Record& validation, int64_t channel) {
  std::optional<RankedChannel::Trial> best;
  const QStringList settings = AxisLabels(validation, "setting");
  for (int64_t i = 0; i < settings.size(); ++i) {
    const double tried = ValueAt(validation, "trial_channel", {i});
    const double loss = ValueAt(validation, "loss", {i});
    if (tried != static_cast<double>(channel) || !std::isfinite(loss)) continue;
    if (best && best->loss <= loss) continue;
    const auto scaling = ScalingOf(settings[i]);
    if (scaling) best = {*scaling, loss, ValueAt(validation, "loss_difference", {i})};
  }
  return best;
}

int64_t WholeAt(const Record& record, const std::string& array, int64_t index) {
  const double value = ValueAt(record, array, {index});
  return std::isnan(value) ? -1 : static_cast<int64_t>(value);
}

void AddRow(const Record& search, const char* array, int64_t candidate, int64_t layer,
            const QString& name, Record& curves) {
  curves.axes[0].labels.push_back(name.toStdString());
  ++curves.axes[0].size;
  auto& values = std::get<std::vector<double>>(curves.arrays[0].data);
  const QVector<double> row = LastAxisRow(search, array, {candidate, layer});
  values.insert(values.end(), row.begin(), row.end());
}

}  // namespace

QVector<RankedChannel> RankedChannels(const Record& search, const Record* validation) {
  QVector<RankedChannel> ranked;
  const QVector<double> order = LastAxisRow(search, "ranked_channel", {});
  ranked.reserve(order.size());
  for (const double number : order) {
    RankedChannel one;
    one.channel = static_cast<int64_t>(number);
    one.monotone_layers = WholeAt(search, "monotone_layers", one.channel);
    one.trend = TrendText(ValueAt(search, "trend", {one.channel}));
    one.smoothness = ValueAt(search, "smoothness", {one.channel});
    one.smoothest_layer = WholeAt(search, "smoothest_layer", one.channel);
    one.has_curves = AxisIndexOf(search, "candidate", number) >= 0;
    if (validation) one.trial = BestTrial(*validation, one.channel);
    ranked.push_back(std::move(one));
  }
  return ranked;
}

bool IsPreliminary(const Record& search) { return search.attributes.contains(kPlannedPrompts); }

QString ChannelsSummary(const Record& search) {
  const int64_t prompts = IntegerAttribute(search, "prompts", 0);
  const int64_t tokens = IntegerAttribute(search, "tokens", 0);
  const int64_t threshold = IntegerAttribute(search, "layer_threshold", 0);
  int64_t over = 0;
  for (const double count : LastAxisRow(search, "monotone_layers", {}))
    over += count > static_cast<double>(threshold) ? 1 : 0;
  const QString text =
      search.name == kChannelSearchRecord
          ? QObject::tr("mean of %1 prompts of %2 random tokens").arg(prompts).arg(tokens)
          : QObject::tr("this prompt alone, %1 tokens").arg(tokens);
  const QString preliminary = IsPreliminary(search)
                                  ? QObject::tr("Preliminary, after %1 of %2 prompts: ")
                                        .arg(prompts)
                                        .arg(IntegerAttribute(search, kPlannedPrompts, 0))
                                  : QString();
  return preliminary + QObject::tr("%1 channels have a trend in more than %2 of %3 layers; %4")
                           .arg(over)
                           .arg(threshold)
                           .arg(IntegerAttribute(search, "layers_examined", 0))
                           .arg(text);
}

std::optional<Record> ChannelCurves(const Record& search, int64_t channel, int64_t layer) {
  const int64_t candidate = AxisIndexOf(search, "candidate", static_cast<double>(channel));
  const std::vector<std::string> axes = {"candidate", "layer", "position"};
  if (candidate < 0 || !HasArray(search, kMeanArray, axes)) return std::nullopt;
  Record curves;
  curves.name = "channel_curves";
  curves.axes = {{"curve", 0, "", {}, {}}, *search.FindAxis("position")};
  curves.arrays = {{kMeanArray, {"curve", "position"}, std::vector<double>(), "", ""}};
  const QVector<double> layers = AxisValues(search, "layer");
  for (int64_t i = 0; i < layers.size(); ++i) {
    if (layer >= 0 && layers[i] != static_cast<double>(layer)) continue;
    const QString name = QObject::tr("layer %1").arg(layers[i]);
    AddRow(search, kMeanArray, candidate, i, name, curves);
    if (layer >= 0 && HasArray(search, kFitArray, axes))
      AddRow(search, kFitArray, candidate, i, QObject::tr("its cubic fit"), curves);
  }
  if (curves.axes[0].size == 0) return std::nullopt;
  return curves;
}

QString ChannelCurvesTitle(const Record& search, const RankedChannel& channel, int64_t layer) {
  const int64_t layers = IntegerAttribute(search, "layers_examined", 0);
  const QString where = layer < 0 ? QObject::tr("all layers") : QObject::tr("layer %1").arg(layer);
  const QString of =
      search.name == kChannelSearchRecord ? QObject::tr("random text") : QObject::tr("this prompt");
  return QObject::tr("Channel %1, %2: %3 in %4 of %5 layers — %6")
      .arg(channel.channel)
      .arg(where, channel.trend)
      .arg(channel.monotone_layers)
      .arg(layers)
      .arg(of);
}

}  // namespace midscope
