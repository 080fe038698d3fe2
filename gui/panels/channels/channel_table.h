// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking of a channel search as a table that can be sorted by any column. Rows have one fixed
// height and columns have fixed widths, so that thousands of rows cost nothing until they are
// visible.
#pragma once

#include <QTableView>
#include <QVector>

#include "gui/plots/channel_ranking.h"

namespace midscope {

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
