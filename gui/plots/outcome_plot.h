// SPDX-License-Identifier: GPL-3.0-or-later
// Plots the outcome for every place of the gold passage. Hollow dots: the sample on the screen;
// filled dots with bars: means over samples with their 95 % intervals, dotted for fewer than six
// samples; dashed lines with diamonds: published numbers, with a cross if a number is known to be
// wrong.
#pragma once

#include <QVector>
#include <map>

#include "gui/base/view_types.h"
#include "gui/plots/outcome_series.h"
#include "gui/plots/plot.h"

namespace midscope {

class OutcomePlot : public Plot {
  Q_OBJECT

 public:
  explicit OutcomePlot(QWidget* parent = nullptr);

  struct Line {
    OutcomeSeries series;
    QString name;  // in the legend
    QColor color;
    bool mean = false;
    bool in_legend = true;
    bool reference = false;  // published, or of another run
    // The series' places were mapped to the published places' share of the range.
    bool same_share = false;
    bool older = false;            // for a setting that is no longer requested
    QStringList point_names = {};  // one per place, for tooltips; empty: "place N"
    QStringList notes = {};        // known errors in a number, one per place; empty: none
    bool faint = false;            // one of many: thin and without marks
    bool hidden = false;           // not drawn; its numbers count in the range of the axes
    // Half the height of a grey band around the line, in nats: changes within it are rounding
    // noise. 0: no band.
    double noise = 0;
    bool around_zero = false;  // whether the band is drawn around 0 instead
    bool operator==(const Line&) const = default;
  };
  void Show(const std::vector<Line>& lines, Measure measure);
  // Sets the place of the shown prompt, counted from 1; 0: none.
  void SetCurrentPlace(int64_t place);

  // Sets the names of places that differ from their rank, such as "50 %". Call before Show.
  void SetPlaceNames(std::map<double, QString> names);
  // The name of the place on the axis.
  QString NameOfPlace(double place) const;

  const std::vector<Line>& lines() const { return lines_; }
  // A distinct colour per setting, for any number of settings.
  static QColor SettingColor(size_t index);
  static QCPScatterStyle::ScatterShape ShapeOf(const QColor& color);

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;
  std::optional<QPointF> CurrentPoint() const override;

 Q_SIGNALS:
  void PlaceChosen(qint64 place);

 protected:
  void ClickAt(const QPointF& position) override;
  // Left and Right choose the place before and after the shown one.
  void keyPressEvent(QKeyEvent* event) override;
  void RestyleData() override;

 private:
  void AddLine(const Line& line, double shift);
  void StyleGraph(const Line& line, QCPGraph* graph) const;
  void AddBand(const Line& line);
  void MarkNotes(const Line& line);
  // The places of the run; empty if only published lines are drawn.
  QVector<double> Places() const;
  void NameMeasure();

  std::map<double, QString> place_names_;
  // Whether the place names are depths, for which place p is at p - 1 percent.
  bool NamesAreDepths() const;
  std::vector<Line> lines_;
  Measure measure_ = Measure::kNll;
  QCPItemStraightLine* current_;
};

}  // namespace midscope
