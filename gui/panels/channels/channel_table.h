// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of a channel search as a table that can be sorted by any column.
#pragma once

#include <QTableWidget>
#include <QVector>

#include "gui/plots/channel_ranking.h"

namespace midscope {

class ChannelTable : public QTableWidget {
  Q_OBJECT

 public:
  explicit ChannelTable(QWidget* parent = nullptr);

  // Shows the channels in the given order without emitting itemSelectionChanged. Keeps the chosen
  // channel if it is among them, else chooses the first. `trials`: show the columns of factor and
  // loss.
  void Show(const QVector<RankedChannel>& ranked, bool trials);
  // The chosen channel; nullptr if there is none.
  const RankedChannel* chosen() const;

 private:
  QVector<RankedChannel> ranked_;
};

}  // namespace midscope
