// SPDX-License-Identifier: GPL-3.0-or-later
// The hidden channel's plot with the choice of channel, layer and dropped positions.
#pragma once

#include <QWidget>
#include <optional>

#include "gui/plots/channel_plot.h"

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace midscope {

class Session;

class ChannelPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ChannelPanel(Session* session, QWidget* parent = nullptr);

  ChannelPlot* plot() const { return plot_; }

 private:
  void RefreshModel();
  void FillLayers(int64_t layers);
  void FollowFile();
  // Selects the channel that B scales, if the check box is set.
  void FollowKnob();
  std::optional<int64_t> knob_channel() const;
  void Refresh();
  ChannelPlot::View view() const;  // as set in the boxes

  Session* session_;
  ChannelPlot* plot_;
  ChannelPlot::View shown_;
  QSpinBox* channel_;
  QCheckBox* follow_;
  QComboBox* layer_;
  QSpinBox* dropped_;
  QSpinBox* smoothing_;
};

}  // namespace midscope
