// SPDX-License-Identifier: GPL-3.0-or-later
// Small multiples: maps with one colour scale, or lines with one value axis, side by side in a
// grid. As App. E of the channel paper (arXiv 2406.02536: a map per layer, or per head of one) and
// Fig. 4 and 6 of Ms-PoE (arXiv 2403.04797: one head's attention row per gold place).
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
    QVector<QVector<double>> rows;  // of a map [row][column]; of lines one row; NaN: no value
    // For lines: columns that are shaded, first and one past the last; equal: none.
    std::pair<int, int> shaded = {0, 0};
  };
  // The axes of all panels. Labels of rows and columns, or no labels: their indices.
  struct Axes {
    QString column_axis;
    QString row_axis;  // of lines the values'
    QString value;
    QStringList columns;
    QStringList rows;
    bool from_zero = true;  // shares and attention; other amounts from the least value on
  };

  explicit PanelsPlot(QWidget* parent = nullptr);

  // Panels in reading order, about twice as wide as high in all. Rows of one panel have equal
  // lengths.
  void ShowMaps(const std::vector<Panel>& panels, const Axes& axes);
  void ShowLines(const std::vector<Panel>& panels, const Axes& axes);
  // A size for files at which panels are legible.
  QSize FileSize() const;

  int panels() const { return static_cast<int>(panels_.size()); }

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 private:
  // An axis rectangle per panel, which is named; the first is the plot's own.
  void MakeGrid(const std::vector<Panel>& panels, const Axes& axes);
  void StyleRect(int index, const QString& name, const Axes& axes, QCPAxisRect* rect);
  void UseColorScale(const QCPRange& range, const QString& name);

  std::vector<Panel> panels_;
  Axes axes_;
  bool maps_ = true;
  int columns_ = 0;
  std::vector<QCPAxisRect*> rects_;
  QCPColorScale* scale_ = nullptr;  // null: lines
};

}  // namespace midscope
