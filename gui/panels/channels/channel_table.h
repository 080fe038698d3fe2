// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of a channel search as a table that can be sorted by any column. Rows have one fixed
// height and columns have fixed widths, so that thousands of rows cost nothing until they are
// visible.
#pragma once

#include <QString>
#include <QTableView>
#include <QVector>
#include <cstdint>
#include <optional>

#include "core/base/record.h"
#include "core/intervention/intervention.h"

namespace midscope {

// Plot data for a search for channels that carry position
// (probes/measure/channels/channel_search.h): the ranking as rows, and the curves of one channel.

struct RankedChannel {
  int64_t channel = 0;
  int64_t monotone_layers = 0;
  QString trend;  // "rising", "falling"
  double smoothness = 0;
  int64_t smoothest_layer = -1;
  bool has_curves = false;
  // The trial with the smallest loss; nullopt: no trials.
  struct Trial {
    ChannelScaling scaling;
    double loss = 0;
    double difference = 0;  // to the loss without a change, in nats
    bool operator==(const Trial&) const = default;
  };
  std::optional<Trial> trial{};
  bool operator==(const RankedChannel&) const = default;
};

// Rows in the order of the ranking. `search`: a record channel_search or prompt_channels;
// `validation` may be null.
QVector<RankedChannel> RankedChannels(const Record& search, const Record* validation);

// Whether a search was still reading prompts when it made the record, or stopped there.
bool IsPreliminary(const Record& search);

// Returns text such as "151 channels have a trend in more than 7 of 27 layers; mean of 24 prompts
// of 1000 random tokens".
QString ChannelsSummary(const Record& search);

// Makes a record channel_curves with the array hidden_mean [curve, position] of one candidate
// channel: its mean after `layer` with the cubic fit, or, if `layer` is -1, after every layer.
// nullopt if the record has no curves of it.
std::optional<Record> ChannelCurves(const Record& search, int64_t channel, int64_t layer);
QString ChannelCurvesTitle(const Record& search, const RankedChannel& channel, int64_t layer);

class ChannelTable : public QTableView {
  Q_OBJECT

 public:
  explicit ChannelTable(QWidget* parent = nullptr);

  // Shows the channels in the given order without emitting ChosenChanged; does nothing if it shows
  // them already. Keeps the chosen channel if it is among them, else chooses the first. `trials`:
  // show the columns of factor and loss.
  void Show(const QVector<RankedChannel>& ranked, bool trials);
  // The chosen channel; nullptr if there is none.
  const RankedChannel* chosen() const;

 Q_SIGNALS:
  // Emitted when another row was chosen.
  void ChosenChanged();

 private:
  class Model;

  Model* model_;
  bool trials_ = false;
};

}  // namespace midscope
