// SPDX-License-Identifier: GPL-3.0-or-later
// Plots the rows of an array [line, along] as lines against the values of the last axis, for
// records whose first axis lists a few things to compare. Up to 12 lines are named in the legend;
// of more, only the first and the last. If the record has ARRAY_low and ARRAY_high, they are drawn
// as error bars.
#pragma once

#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/plots/plot.h"

namespace midscope {

class LinesPlot : public Plot {
  Q_OBJECT

 public:
  // A horizontal line with its name in the legend.
  struct Mark {
    double value;
    QString name;
    bool operator==(const Mark&) const = default;
  };
  struct View {
    std::string array;
    bool logarithmic = false;  // the axis of values
    std::vector<Mark> marks = {};
    int fit = -1;  // index of the line drawn thick over the others; -1: none
    int dashed =
        0;  // number of the last lines that are dashed, each with the colour of a first one
    bool operator==(const View&) const = default;
  };

  explicit LinesPlot(QWidget* parent = nullptr, const QString& file_stem = QStringLiteral("lines"));

  // Shows an empty plot if the record is null or does not have the array with two axes.
  void Show(const Record* record, const View& view);
  // Number of the array's lines that are drawn.
  int lines() const { return lines_; }

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 protected:
  void RestyleData() override;

 private:
  void Draw(const Record& record, const Array& array);
  void DrawBounds(const Record& record, const Array& array, int line, const QVector<double>& keys);
  void DrawMarks();
  void UseLogarithm(bool used);

  View view_;
  QStringList along_labels_;  // of the last axis; empty if it has none
  int lines_ = 0;
};

}  // namespace midscope
