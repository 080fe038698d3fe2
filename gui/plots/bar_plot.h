// SPDX-License-Identifier: GPL-3.0-or-later
// Plots named signed values as bars, blue above 0 and red below.
#pragma once

#include <QString>
#include <QVector>

#include "gui/plots/plot.h"

namespace midscope {

class BarPlot : public Plot {
  Q_OBJECT

 public:
  struct Bar {
    QString name;
    double value = 0;
    bool operator==(const Bar&) const = default;
  };

  explicit BarPlot(QWidget* parent = nullptr, const QString& file_stem = QStringLiteral("bars"));

  // Shows the bars from left to right; if there are none, the plot shows its reason.
  void Show(const QVector<Bar>& bars, const QString& value_name);
  const QVector<Bar>& bars() const { return shown_; }

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  // Emitted when the user has clicked a bar, or the space above or below it.
  void BarChosen(qsizetype bar);

 protected:
  void RestyleData() override;
  // Draws the first bars only if the names of all of them do not fit.
  void ArrangePicture() override;
  void ClickAt(const QPointF& position) override;

 private:
  // Index of the bar at the position; -1: none.
  qsizetype BarAt(const QPointF& position) const;

  QVector<Bar> shown_;
  QCPBars* more_;
  QCPBars* less_;
};

}  // namespace midscope
