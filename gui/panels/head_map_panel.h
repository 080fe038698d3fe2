// SPDX-License-Identifier: GPL-3.0-or-later
// The head map with the choice of what it shows: A, B or their difference.
#pragma once

#include <QWidget>

#include "gui/base/view_types.h"

class QComboBox;
class QLabel;

namespace midscope {

class HeadMapPlot;
class HeadSelection;
class Session;

class HeadMapPanel : public QWidget {
  Q_OBJECT

 public:
  HeadMapPanel(Session* session, HeadSelection* selection, QWidget* parent = nullptr);

  HeadMapPlot* plot() const { return plot_; }
  MapMode mode() const;
  void SetMode(MapMode mode);

 private:
  void Refresh();
  // The mode of the box; kA where B has no map.
  MapMode drawn_mode() const;

  Session* session_;
  HeadMapPlot* plot_;
  QComboBox* mode_;
  QLabel* note_;
};

}  // namespace midscope
