// SPDX-License-Identifier: MIT
#include <QTest>
#include <cmath>
#include <limits>

#include "gui/base/record_access.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/outcome_series.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class OutcomeSeriesTest : public QObject {
  Q_OBJECT

 private:
  static Record Samples() {
    const double none = std::numeric_limits<double>::quiet_NaN();
    Record record;
    record.name = "sweep";
    record.axes = {{"sample", 2, "", {}, {}},
                   {"setting", 1, "", {"none"}, {}},
                   {"place", 3, "", {}, {1, 5, 9}}};
    record.arrays = {{"answer_nll",
                      {"sample", "setting", "place"},
                      std::vector<double>{1, none, none, 4, 3, none},
                      "nat",
                      ""}};
    return record;
  }

 private Q_SLOTS:
  // A scan's file has hundreds of settings, whose lines must not cover the picture.
  void ManyLinesLeaveRoomForThePicture() {
    OutcomePlot plot;
    plot.resize(600, 400);
    std::vector<OutcomePlot::Line> lines;
    for (int i = 0; i < 271; ++i) {
      OutcomePlot::Line line;
      line.series.places = {1, 5, 9};
      line.series.values = {1, 2, 1.0 + i};
      line.name = i == 0 ? QString("none") : QString("ablate(L3H%1, rows=answer)").arg(i);
      line.mean = true;
      lines.push_back(line);
    }
    plot.Show(lines, Measure::kNll);
    plot.replot();
    QCOMPARE(plot.legend->itemCount(), 2);
    QCOMPARE(plot.graph(plot.graphCount() - 1)->name(), QString("none"));  // drawn in front
    QVERIFY(plot.axisRect()->height() > 200);
    QCOMPARE(plot.lines().size(), size_t{271});
  }

  void MeansLeaveOutWhatIsMissing() {
    const std::vector<OutcomeSeries> series = SeriesOf(Samples(), Measure::kNll);
    QCOMPARE(series.size(), size_t{1});
    QCOMPARE(series[0].setting, QString("none"));
    QCOMPARE(series[0].places, (QVector<double>{1, 5, 9}));
    QCOMPARE(series[0].values[0], 2.5);
    QCOMPARE(series[0].values[1], 3.0);
    QVERIFY(std::isnan(series[0].values[2]));
    QVERIFY(SeriesOf(Samples(), Measure::kAccuracy).empty());
  }

  // `correct` is 0 for a setting that was not run on the sample.
  void SamplesThatASettingDidNotRunAreLeftOut() {
    Record record = Samples();
    record.arrays.push_back({"correct",
                             {"sample", "setting", "place"},
                             std::vector<uint8_t>{0, 0, 0, 1, 1, 0},
                             "",
                             ""});
    QCOMPARE(SeriesOf(record, Measure::kAccuracy)[0].values[0], 0.5);
    record.arrays.push_back({"setting_failure",
                             {"sample", "setting"},
                             std::vector<std::string>{"prompt too long", ""},
                             "",
                             ""});
    const std::vector<OutcomeSeries> series = SeriesOf(record, Measure::kAccuracy);
    QCOMPARE(series[0].values, (QVector<double>{1, 1, 0}));
    QCOMPARE(series[0].samples, int64_t{1});
    QVERIFY(!series[0].beyond_context);
    record.arrays.push_back(
        {"beyond_context", {"sample", "setting"}, std::vector<uint8_t>{0, 1}, "", ""});
    QVERIFY(SeriesOf(record, Measure::kAccuracy)[0].beyond_context);

    Record one;  // one sample, as a reader of a sweep's file returns it
    one.axes = {{"setting", 1, "", {"none"}, {}}, {"place", 1, "", {}, {1}}};
    one.arrays = {
        {"correct", {"setting", "place"}, std::vector<uint8_t>{0}, "", ""},
        {"setting_failure", {"setting"}, std::vector<std::string>{"prompt too long"}, "", ""}};
    QVERIFY(std::isnan(SeriesOf(one, Measure::kAccuracy)[0].values[0]));
  }

  void StoredMeansComeBeforeSamples() {
    Record means;
    means.name = "outcome_means";
    means.axes = {{"setting", 1, "", {"none"}, {}}, {"place", 1, "", {}, {1}}};
    means.arrays = {{"answer_nll", {"setting", "place"}, std::vector<double>{7}, "nat", ""},
                    {"answer_nll_low", {"setting", "place"}, std::vector<double>{6}, "nat", ""},
                    {"answer_nll_high", {"setting", "place"}, std::vector<double>{9}, "nat", ""},
                    {"samples", {"setting"}, std::vector<int64_t>{40}, "", ""}};
    const std::vector<OutcomeSeries> series = BestSeriesOf({Samples(), means}, Measure::kNll);
    QCOMPARE(series.size(), size_t{1});
    QCOMPARE(series[0].values, QVector<double>{7});
    QCOMPARE(series[0].low, QVector<double>{6});
    QCOMPARE(series[0].high, QVector<double>{9});
    QCOMPARE(series[0].samples, int64_t{40});
  }

  void RecordsThatDoNotFitGiveNothing() {
    Record broken = Samples();
    std::get<std::vector<double>>(broken.arrays[0].data).pop_back();
    QVERIFY(SeriesOf(broken, Measure::kNll).empty());
    QVERIFY(std::isnan(ValueAt(broken, "answer_nll", {0, 0, 5})));
    QVERIFY(std::isnan(ValueAt(broken, "nothing", {})));
    QVERIFY(LastAxisRow(broken, "answer_nll", {0}).isEmpty());
    QVERIFY(LastAxisRow(broken, "answer_nll", {-1, 0}).isEmpty());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::OutcomeSeriesTest)
#include "outcome_series_test.moc"
