// SPDX-License-Identifier: GPL-3.0-or-later
// The hidden channel's plot with the choice of channel, layer and dropped positions.
#pragma once

#include <QWidget>

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace midscope {

class ChannelPlot;
class Session;

class ChannelPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ChannelPanel(Session* session, QWidget* parent = nullptr);

  ChannelPlot* plot() const { return plot_; }

 private:
  void RefreshModel();
  void Refresh();

  Session* session_;
  ChannelPlot* plot_;
  QSpinBox* channel_;
  QComboBox* layer_;
  QSpinBox* dropped_;
  QSpinBox* smoothing_;
};

}  // namespace midscope
