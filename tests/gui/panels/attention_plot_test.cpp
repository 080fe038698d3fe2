// SPDX-License-Identifier: MIT
// The attention plot: the tooltip and the mark of the gold passage.
#include <QImage>
#include <QTest>
#include <string>
#include <vector>

#include "gui/plots/attention_plot.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class AttentionPlotTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void TheTooltipHasAllHeads() {
    AttentionPlot plot;
    const QVector<double> row = {0.1, 0.2, 0.3, 0.4};
    plot.SetRows(row, {});
    plot.SetOthers({{"L1H2", Qt::red, row, {}}, {"L3H4", Qt::green, row, row}});
    plot.resize(600, 300);
    plot.replot();
    const QPointF at(plot.xAxis->coordToPixel(2), plot.axisRect()->center().y());
    QVERIFY2(plot.TooltipAt(at).contains("L1H2: A 0.3\nL3H4: A 0.3, B 0.3"),
             qPrintable(plot.TooltipAt(at)));
  }

  void AShortGoldHasThreePixels() {
    Record prompt;
    prompt.name = "prompt";
    constexpr int kKeys = 5000;
    prompt.axes = {{"token", kKeys, "", {}, {}}, {"span", 1, "", {}, {}}};
    prompt.arrays = {{"token_text", {"token"}, std::vector<std::string>(kKeys, "x"), "", ""},
                     {"span_name", {"span"}, std::vector<std::string>{"gold"}, "", ""},
                     {"span_token_begin", {"span"}, std::vector<int64_t>{100}, "", ""},
                     {"span_token_end", {"span"}, std::vector<int64_t>{102}, "", ""}};
    AttentionPlot plot;
    plot.SetPrompt(&prompt);
    plot.SetRows(QVector<double>(kKeys, 0.001), {});
    QCOMPARE(plot.gold().begin, int64_t{100});
    plot.resize(500, 300);
    plot.replot();
    int gold = 0;
    const QImage image = plot.toPixmap().toImage();
    const int row = plot.axisRect()->bottom() - 20;
    for (int x = plot.axisRect()->left() + 2; x < plot.axisRect()->right(); ++x) {
      const QColor color = image.pixelColor(x, row);
      if (color.blue() < color.red() - 60) ++gold;
    }
    QVERIFY2(gold >= 3, qPrintable(QString::number(gold)));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::AttentionPlotTest)
#include "attention_plot_test.moc"
