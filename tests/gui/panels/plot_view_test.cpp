// SPDX-License-Identifier: MIT
// Plots in little space, in a dark window, and before they have numbers.
#include <QTest>
#include <algorithm>
#include <cmath>

#include "gui/plots/attention_plot.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/plots/plot_style.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

namespace {

// Smallest distance in pixels between two numbers of the y axis.
double NearestTicks(const QCustomPlot& plot) {
  const QVector<double> ticks = plot.yAxis->tickVector();
  double nearest = plot.height();
  for (int i = 1; i < ticks.size(); ++i) {
    nearest = std::min(nearest, std::abs(plot.yAxis->coordToPixel(ticks[i]) -
                                         plot.yAxis->coordToPixel(ticks[i - 1])));
  }
  return nearest;
}

}  // namespace

class PlotViewTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Heads of unfinished layers have no numbers; the first numbers that arrive set the range.
  void TheFirstNumbersSetTheRange() {
    AttentionPlot plot;
    plot.SetRows(QVector<double>(40, std::nan("")), {});
    const QVector<double> row(40, 0.025);
    plot.SetRows(row, {});
    QVERIFY2(plot.yAxis->range().contains(0.025), qPrintable(QStringLiteral("%1 to %2")
                                                                 .arg(plot.yAxis->range().lower)
                                                                 .arg(plot.yAxis->range().upper)));
  }

  // On the screen, maps beside each other share their scale and labels; each picture has its own.
  void APictureOfAMapHasItsScaleAndLabels() {
    HeadMapPlot map(nullptr, QStringLiteral("head_map"));
    map.resize(300, 300);
    map.Show({{{0.25, 0.5}, 1, 2}, QStringLiteral("attention"), QStringLiteral("share")});
    map.ShowScale(false);
    map.ShowScaleLabel(false);
    map.yAxis->setLabel(QString());
    {
      const PlotPicture picture(map, 85);
      QVERIFY(map.scale_rect().isValid());
      QCOMPARE(map.yAxis->label(), QStringLiteral("layer"));
      QCOMPARE(map.findChild<QCPColorScale*>()->label(), QStringLiteral("share"));
    }
    QVERIFY(!map.scale_rect().isValid());
    QCOMPARE(map.yAxis->label(), QString());
  }

  // Not after "thin", the label of a list that does not fit.
  void ATitleEndsAtAWholePart() {
    AttentionPlot plot;
    plot.SetTitle(
        QStringLiteral("Channel 3 against position — mean ± s.d.; thin: layers, dark first"));
    plot.show();
    const QList<QCPTextElement*> texts = plot.findChildren<QCPTextElement*>();
    QVERIFY(!texts.isEmpty());
    QSet<QString> shown;
    for (int width = 200; width < 700; width += 10) {
      plot.resize(width, 300);
      plot.replot();
      for (const QCPTextElement* text : texts) shown.insert(text->text());
    }
    QVERIFY(shown.contains(QStringLiteral("Channel 3 against position — mean ± s.d.")));
    for (const QString& title : shown) QVERIFY2(!title.endsWith("thin"), qPrintable(title));
  }

  void ALowPlotElidesItsLabelAndItsCsvDoesNot() {
    OutcomePlot low;
    OutcomePlot::Line line;
    line.name = "A";
    line.series.places = {1, 2};
    line.series.values = {2, 3};
    low.Show({line}, Measure::kDifference);
    low.show();
    low.resize(300, 180);
    low.replot();
    const QFontMetrics metrics(low.yAxis->labelFont());
    const QString full = OutcomePlot::tr("nats: B − A of −log p(answer)");
    QVERIFY2(low.yAxis->label() != full && low.yAxis->label().startsWith("nats"),
             qPrintable(low.yAxis->label()));
    QVERIFY(metrics.horizontalAdvance(low.yAxis->label()) <= low.axisRect()->height());
    QCOMPARE(low.yAxis->label(), QString("nats"));  // a part of the label, not a cut one
    QCOMPARE(FullLabel(*low.yAxis), full);
    QVERIFY(PlotCsv(low).contains(full));
    low.resize(300, 900);
    low.replot();
    QCOMPARE(low.yAxis->label(), full);
  }

  void NumbersOfALowPlotDoNotLieOverEachOther() {
    AttentionPlot low;
    QVector<double> row;
    for (int i = 0; i < 40; ++i) row.append(std::pow(10.0, -7.0 * i / 40));
    low.SetRows(row, {});
    low.show();
    low.resize(300, 180);
    const int line = QFontMetrics(low.yAxis->tickLabelFont()).height();
    QTRY_VERIFY(low.yAxis->tickVector().size() >= 2);
    QTRY_VERIFY2(NearestTicks(low) >= line, qPrintable(QString::number(NearestTicks(low))));
    low.resize(300, 600);
    QTRY_COMPARE(low.yAxis->ticker()->tickCount(), 5);
  }

  void AnEmptyPlotHasNoTicksAndAReadableMessage() {
    OutcomePlot plot;
    plot.resize(300, 200);
    QVERIFY(!plot.xAxis->visible() && !plot.yAxis->visible());
    plot.UsePalette(LightPalette());
    QPalette dark = LightPalette();
    dark.setColor(QPalette::Base, QColor(30, 30, 30));
    dark.setColor(QPalette::Text, QColor(240, 240, 240));
    plot.UsePalette(dark);
    QColor message;
    for (int i = 0; i < plot.itemCount(); ++i) {
      const auto* text = qobject_cast<QCPItemText*>(plot.item(i));
      if (text && text->visible()) message = text->color();
    }
    QVERIFY2(message.lightnessF() > 0.8, qPrintable(message.name()));
    OutcomePlot::Line line;
    line.series.places = {1, 2};
    line.series.values = {2, 3};
    plot.Show({line}, Measure::kNll);
    QVERIFY(plot.xAxis->visible() && plot.yAxis->visible());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PlotViewTest)
#include "plot_view_test.moc"
