// SPDX-License-Identifier: GPL-3.0-or-later
// Small multiples in a grid: maps with one colour scale, or lines with one value axis. Follows App.
// E of the channel paper (arXiv 2406.02536; a map per layer, or per head of one layer) and Fig. 4
// and 6 of Ms-PoE (arXiv 2403.04797; the attention row of one head per gold place).
#pragma once

#include <QStringList>
#include <QVector>
#include <utility>
#include <vector>

#include "gui/plots/plot.h"

namespace midscope {

class PanelsPlot : public Plot {
  Q_OBJECT

 public:
  struct Panel {
    QString name;
    QVector<QVector<double>> rows;  // for maps [row][column]; for lines one row; NaN: no value
    // For lines: shaded columns as [first, second); equal: none.
    std::pair<int, int> shaded = {0, 0};
    // For lines: 1 for columns whose value is ringed; empty: none.
    QVector<double> ringed = {};
  };
  // The axes that all panels share. If there are no labels of rows or columns, their indices are
  // shown.
  struct Axes {
    QString column_axis;
    QString row_axis;  // for lines, the name of the values
    QString value;
    QStringList columns;
    QStringList rows;
    // For shares and attention; false: the range begins at the smallest value.
    bool from_zero = true;
    int panels_in_row = 0;  // 0: a grid about twice as wide as high
  };

  explicit PanelsPlot(QWidget* parent = nullptr);

  // Shows panels in reading order. All rows of one panel must have the same length.
  void ShowMaps(const std::vector<Panel>& panels, const Axes& axes);
  void ShowLines(const std::vector<Panel>& panels, const Axes& axes);
  int panels() const { return static_cast<int>(panels_.size()); }

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 protected:
  // All panels at a legible size, in as many rows as they need.
  int PictureArea(int width) override;
  void RestyleData() override;

 private:
  // Makes one titled axis rectangle per panel; the first is the plot's default one.
  void MakeGrid(const std::vector<Panel>& panels, const Axes& axes);
  // Puts the panels into a grid with that number of columns.
  void Arrange(int columns);
  void StyleRect(int index, QCPAxisRect* rect);
  void AlignRects();
  // The number of columns whose panels are legible at that width.
  int ColumnsAt(int width) const;
  void UseColorScale(const QCPRange& range, const QString& name);
  void AddRings(const Panel& panel, QCPAxis* x, QCPAxis* y);

  std::vector<Panel> panels_;
  Axes axes_;
  bool maps_ = true;
  int columns_ = 0;
  QCPLayoutGrid* grid_ = nullptr;
  std::vector<QCPTextElement*> names_;  // null: the panel has no name
  std::vector<QCPAxisRect*> rects_;
  QCPColorScale* scale_ = nullptr;  // null if lines are shown
};

}  // namespace midscope
