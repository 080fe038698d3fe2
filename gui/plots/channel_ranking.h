// SPDX-License-Identifier: GPL-3.0-or-later
// Plot data of a search for channels that carry position
// (probes/measure/channels/channel_search.h): the ranking as rows, and the curves of one channel.
#pragma once

#include <QString>
#include <QVector>
#include <cstdint>
#include <optional>

#include "core/base/record.h"
#include "core/intervention/intervention.h"

namespace midscope {

struct RankedChannel {
  int64_t channel = 0;
  int64_t monotone_layers = 0;
  QString trend;  // "rising", "falling"
  double smoothness = 0;
  int64_t smoothest_layer = -1;
  bool has_curves = false;
  // The trial with the least loss; nullopt: none.
  struct Trial {
    ChannelScaling scaling;
    double loss = 0;
    double difference = 0;  // to no change, in nats
  };
  std::optional<Trial> trial{};
};

// In the ranking's order. `search` is channel_search or prompt_channels; `validation` may be null.
QVector<RankedChannel> RankedChannels(const Record& search, const Record* validation);

// "151 channels have a trend in more than 7 of 27 layers; mean of 24 prompts of 1000 random
// tokens".
QString ChannelsSummary(const Record& search);

// Record channel_curves: array hidden_mean [curve, position] of one candidate: after this layer,
// with its cubic fit, or after every layer (`layer` -1). Null: the record has no curves of it.
std::optional<Record> ChannelCurves(const Record& search, int64_t channel, int64_t layer);
QString ChannelCurvesTitle(const Record& search, const RankedChannel& channel, int64_t layer);

}  // namespace midscope
