// SPDX-License-Identifier: GPL-3.0-or-later
// A grid of tokens, each on a colour for its probability (Viridis, 0 to 1), as for the logit lens.
// The first row is at the bottom.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <limits>

#include "gui/plots/plot.h"

namespace midscope {

class TokenGridPlot : public Plot {
  Q_OBJECT

 public:
  struct Cell {
    QString text;
    double probability = std::numeric_limits<double>::quiet_NaN();  // NaN: no colour
    bool marked = false;                                            // drawn with a frame
    QString note = {};                                              // further lines of the tooltip
    QString brief = {};  // replaces a text that does not fit; "": the text is elided
    bool operator==(const Cell&) const = default;
  };
  struct Grid {
    QStringList columns;  // column names, below the axis
    QVector<Cell> cells;  // [row, column]
    bool operator==(const Grid&) const = default;
    qsizetype rows() const { return columns.isEmpty() ? 0 : cells.size() / columns.size(); }
  };

  TokenGridPlot(const QString& row_name, const QString& file_stem, QWidget* parent = nullptr);

  // If the grid is empty, the plot shows its reason.
  void Show(const Grid& grid);
  const Grid& grid() const { return grid_; }
  // The cell at these indices; an empty cell if they are out of range.
  Cell CellAt(qsizetype row, qsizetype column) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 protected:
  void RestyleData() override;
  void draw(QCPPainter* painter) override;
  // A line of text per row.
  int PictureArea(int width) override;

 private:
  // Sizes and elides the texts to fit the current cells.
  void FitCells();

  Grid grid_;
  QCPColorMap* map_;
  QCPColorScale* scale_;
  QVector<QCPItemText*> texts_;  // one per cell
  QVector<QCPItemRect*> frames_;
};

}  // namespace midscope
