// SPDX-License-Identifier: GPL-3.0-or-later
// Named signed values as bars, blue above 0 and red below.
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

  explicit BarPlot(QWidget* parent = nullptr);

  // From left to right; empty: the plot shows its reason.
  void Show(const QVector<Bar>& bars, const QString& value_name);
  const QVector<Bar>& bars() const { return shown_; }

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 protected:
  void RestyleData() override;

 private:
  QVector<Bar> shown_;
  QCPBars* more_;
  QCPBars* less_;
};

}  // namespace midscope
