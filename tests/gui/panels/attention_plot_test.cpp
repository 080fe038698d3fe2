// SPDX-License-Identifier: MIT
// The attention plot: sums of passages as lines and as bars, tokens as stems, and the mark of the
// gold passage.
#include <QImage>
#include <QTest>
#include <cmath>
#include <string>
#include <vector>

#include "gui/plots/attention_plot.h"
#include "gui/plots/plot_files.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class AttentionPlotTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void PassagesOfALongPromptHaveTheirSums() {
    constexpr int kKeys = 400;
    Record prompt;
    prompt.name = "prompt";
    prompt.axes = {{"token", kKeys, "", {}, {}}, {"span", 3, "", {}, {}}};
    std::vector<std::string> texts(kKeys, "x");
    // The document contains both lines, so it has no sum of its own.
    prompt.arrays = {
        {"token_text", {"token"}, texts, "", ""},
        {"span_name", {"span"}, std::vector<std::string>{"document", "line 0", "line 1"}, "", ""},
        {"span_token_begin", {"span"}, std::vector<int64_t>{10, 10, 200}, "", ""},
        {"span_token_end", {"span"}, std::vector<int64_t>{300, 200, 300}, "", ""}};
    AttentionPlot plot;
    plot.SetLogarithmic(true);
    plot.SetPrompt(&prompt);
    QVector<double> row(kKeys, 0.001);
    row[250] = 0.5;
    plot.SetRows(row, {});
    const auto& sums = *plot.sums_of(Side::kA)->data();
    QCOMPARE(sums.size(), 6);
    QCOMPARE(sums.at(0)->key, 9.5);
    QVERIFY(std::abs(sums.at(0)->value - 0.19) < 1e-9);
    QCOMPARE(sums.at(3)->key, 199.5);
    QVERIFY(std::abs(sums.at(3)->value - (0.099 + 0.5)) < 1e-9);
    QVERIFY(std::isnan(sums.at(2)->value));
    QVERIFY(plot.sums_of(Side::kA)->visible());
    QVERIFY(plot.yAxis->range().contains(0.599));
    // For few tokens the weights are visible individually, so there are no sums.
    plot.SetRows(row.first(120), {});
    QVERIFY(plot.sums_of(Side::kA)->data()->isEmpty());
    // A linear axis has bars, beside each other for A and B; a few tokens are stems.
    plot.SetLogarithmic(false);
    plot.SetRows(row, row);
    QVERIFY(plot.shows_sums() && !plot.graph_of(Side::kA)->visible());
    const auto& bars = *plot.sums_of(Side::kA)->data();
    QCOMPARE(bars.size(), 20);  // two lines, and the tokens before and after them
    QCOMPARE(bars.at(6)->key, 9.5);
    QCOMPARE(bars.at(7)->key, 9.5 + 95);
    QVERIFY(std::abs(bars.at(6)->value - 0.19) < 1e-9);
    QCOMPARE(plot.sums_of(Side::kB)->data()->at(6)->key, 9.5 + 95);
    double sum = 0;
    for (int bar = 0; bar < 4; ++bar) {
      // The points of a bar are in order even if their keys are equal.
      QCOMPARE(bars.at(5 * bar)->value, 0.0);
      QCOMPARE(bars.at(5 * bar + 1)->value, bars.at(5 * bar + 2)->value);
      QCOMPARE(bars.at(5 * bar + 3)->value, 0.0);
      QVERIFY(std::isnan(bars.at(5 * bar + 4)->value));
      sum += bars.at(5 * bar + 1)->value;
    }
    QVERIFY(std::abs(sum - (0.399 + 0.5)) < 1e-9);  // no token is left out
    QVERIFY(plot.yAxis->range().contains(0.599) && plot.yAxis->range().upper < 1);
    plot.resize(600, 300);
    plot.replot();
    const QPointF on_bar(plot.xAxis->coordToPixel(250), plot.yAxis->coordToPixel(0.1));
    QVERIFY2(plot.TooltipAt(on_bar).contains("sum of the passage: A 0.599"),
             qPrintable(plot.TooltipAt(on_bar)));
    plot.SetOthers({{"L1H2", Qt::red, row, {}}, {"L3H4", Qt::green, row, row}});
    QVERIFY2(plot.TooltipAt(on_bar).contains("L1H2: A 0.5\nL3H4: A 0.5, B 0.5"),
             qPrintable(plot.TooltipAt(on_bar)));
    // The numbers are those of tokens, as without bars.
    QVERIFY2(PlotCsv(plot).contains("name,token,attention weight\nA,0,0.001\nA,1,0.001\n"),
             qPrintable(PlotCsv(plot).left(300)));
    QVERIFY(!PlotCsv(plot).contains("9.5"));
    plot.ShowAlongX({240, 260});
    QVERIFY(!plot.shows_sums() && plot.graph_of(Side::kA)->visible());
    QCOMPARE(plot.graph_of(Side::kA)->lineStyle(), QCPGraph::lsImpulse);
    plot.ShowAllAlongX();
    QVERIFY(plot.shows_sums());
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
