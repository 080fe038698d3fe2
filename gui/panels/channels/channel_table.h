// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of a search for channels as a table, which sorts by any column.
#pragma once

#include <QTableWidget>
#include <QVector>

#include "gui/plots/channel_ranking.h"

namespace midscope {

class ChannelTable : public QTableWidget {
  Q_OBJECT

 public:
  explicit ChannelTable(QWidget* parent = nullptr);

  // Shows the channels in their order without emitting itemSelectionChanged. The chosen channel
  // stays so where it is among them, else the first is. `trials`: with factor and loss.
  void Show(const QVector<RankedChannel>& ranked, bool trials);
  // The row that is chosen; null: none.
  const RankedChannel* chosen() const;

 private:
  QVector<RankedChannel> ranked_;
};

}  // namespace midscope
