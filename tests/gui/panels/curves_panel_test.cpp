// SPDX-License-Identifier: MIT
// Curves made in the window from sweep files: over a chosen parameter and quantity, until a file
// that contains curves is opened.
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include "data/sweep/sweep_store.h"
#include "gui/panels/outcome/curves_panel.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/widgets/error_bar.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/spy_until.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class CurvesPanelTest : public QObject {
  Q_OBJECT

 private:
  using Ratios = std::vector<double>;
  static constexpr int64_t kSamples = 4;

  // The planted loss at places 1, 5, ...: ratio + sample + place / 10 + lines / 100.
  static double Nll(double ratio, int64_t sample, int64_t place, int lines) {
    return ratio + static_cast<double>(sample) + 0.1 * static_cast<double>(place) + 0.01 * lines;
  }

  static Record Sample(const Ratios& ratios, const std::vector<int64_t>& places, int64_t sample,
                       int lines) {
    Record record;
    record.name = "sweep";
    std::vector<double> nll;
    for (const double ratio : ratios) {
      for (const int64_t place : places) nll.push_back(Nll(ratio, sample, place, lines));
    }
    record.axes = {{"setting", static_cast<int64_t>(ratios.size()), "", {}, {}},
                   {"place", static_cast<int64_t>(places.size()), "rank", {}, {}}};
    record.axes[1].values.assign(places.begin(), places.end());
    const std::vector<uint8_t> correct(nll.size(), 1);
    const std::vector<int64_t> tokens(places.size(), int64_t{7} * lines);
    record.arrays = {{"answer_nll", {"setting", "place"}, nll, "nats", ""},
                     {"correct", {"setting", "place"}, correct, "", ""},
                     {"prompt_tokens", {"place"}, tokens, "tokens", ""}};
    record.signal = "answer_nll";
    return record;
  }

  // Writes a sweep of list:lines=LINES under pi(RATIO).
  static QString WriteRun(const QTemporaryDir& folder, const char* name, const Ratios& ratios,
                          const std::vector<int64_t>& places, int lines) {
    QString path = folder.filePath(QString::fromLatin1(name));
    std::vector<std::string> settings;
    for (const double ratio : ratios)
      settings.push_back("pi(" + QString::number(ratio).toStdString() + ")");
    const nlohmann::json plan = {{"task", "list:lines=" + std::to_string(lines)},
                                 {"seed", 1},
                                 {"samples", kSamples},
                                 {"places", places},
                                 {"settings", settings}};
    SweepStore store = SweepStore::Create(path.toStdString(), plan.dump(), {});
    for (int64_t sample = 0; sample < kSamples; ++sample)
      store.Append(sample, Sample(ratios, places, sample, lines));
    store.Finish({OutcomeMeansRecord(
        settings, places, std::vector<CellStatistics>(settings.size() * places.size()))});
    return path;
  }

  struct Rig : WindowRig<> {
    CurvesPanel* panel = window.panel<CurvesPanel>();
    QComboBox* over = Find<QComboBox>("curves_over");
    QComboBox* what = Find<QComboBox>("curves_what");
    QSignalSpy read{panel, &CurvesPanel::RunsRead};
    bool OpenRuns(const QStringList& paths) {
      const auto before = read.count();
      panel->OpenRuns(paths);
      return SpyUntil(read, [&] { return read.count() > before; });
    }
    double At(int line, int point) { return panel->plot()->graph(line)->data()->at(point)->value; }
    QStringList Names(const QComboBox* box) {
      QStringList names;
      for (int i = 0; i < box->count(); ++i) names << box->itemText(i);
      return names;
    }
  };

 private Q_SLOTS:
  // An empty legend must not limit the axes to its own width.
  void AnEmptyPlotIsAsWideAsOneWithCurves() {
    LinesPlot plot;
    plot.resize(400, 300);
    plot.show();
    plot.replot();
    QCOMPARE(plot.lines(), 0);
    const int width = plot.axisRect()->width();
    QVERIFY2(width > 250, qPrintable(QString::number(width)));
  }

  void AFolderOfRunsIsDrawnOverTheChosenParameter() {
    QTemporaryDir folder;
    WriteRun(folder, "short.h5", {1.5, 2, 4}, {1, 5}, 10);
    WriteRun(folder, "long.h5", {1.5, 2, 4}, {1, 5}, 40);
    Rig rig;
    rig.Show();
    QVERIFY(rig.over->isHidden());
    QVERIFY(rig.OpenRuns({folder.path()}));
    QVERIFY2(rig.window.errors()->messages().isEmpty(),
             qPrintable(rig.window.errors()->messages().join(' ')));
    QVERIFY(!rig.over->isHidden());
    QCOMPARE(rig.Names(rig.over), (QStringList{"pi.ratio", "lines", "length"}));
    QCOMPARE(rig.panel->plot()->lines(), 2);  // for 10 and 40 lines
    // Means over samples 0 to 3 and places 1 and 5; the longer task was read first.
    QCOMPARE(rig.At(0, 1), 2 + 1.5 + 0.3 + 0.4);
    QCOMPARE(rig.At(1, 2), 4 + 1.5 + 0.3 + 0.1);
    QCOMPARE(rig.Find<QLabel>("curves_note")->text(), QString("2 sweeps"));

    rig.what->setCurrentText("answer_nll_gap");
    QCOMPARE(rig.At(0, 0), 0.4);
    rig.over->setCurrentText("length");
    QCOMPARE(rig.what->currentText(), QString("answer_nll_gap"));  // the quantity is kept
    QCOMPARE(rig.panel->plot()->lines(), 3);                       // one curve per ratio
    rig.what->setCurrentText("answer_nll_mean");
    QCOMPARE(rig.panel->plot()->graph(0)->data()->at(0)->key, 70.0);
    QCOMPARE(rig.panel->plot()->graph(0)->data()->at(1)->key, 280.0);
    QCOMPARE(rig.At(2, 1), 4 + 1.5 + 0.3 + 0.4);
    QCOMPARE(rig.panel->plot()->title(), QString("answer_nll_mean over length"));
    QCOMPARE(rig.panel->plots(), std::vector<Plot*>{rig.panel->plot()});
    QVERIFY(rig.panel->plot()->caption().contains("2 sweeps"));
  }

  void OfOnePlaceNoGapIsOffered() {
    QTemporaryDir folder;
    const QString run = WriteRun(folder, "one.h5", {1.5, 2}, {5}, 10);
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenRuns({run}));
    QCOMPARE(rig.Names(rig.what), (QStringList{"answer_nll_mean", "accuracy_mean",
                                               "answer_nll by place", "accuracy by place"}));
    QCOMPARE(rig.At(0, 1), 2 + 1.5 + 0.5 + 0.1);
  }

  void WhatIsNoRunIsToldAndThePictureStays() {
    QTemporaryDir folder;
    const QString run = WriteRun(folder, "one.h5", {1.5, 2}, {1, 5}, 10);
    const QString single = WriteRun(folder, "single.h5", {1.5}, {1, 5}, 10);
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenRuns({run}));
    QVERIFY(rig.OpenRuns({folder.filePath("none.h5")}));
    QVERIFY(rig.window.errors()->messages().join(' ').contains("none.h5"));
    QVERIFY(rig.OpenRuns({single}));  // a single setting is not a curve
    QVERIFY(rig.window.errors()->messages().join(' ').contains("no two settings"));
    QCOMPARE(rig.panel->plot()->lines(), 1);
    QTemporaryDir empty;
    QVERIFY(rig.OpenRuns({empty.path()}));
    QVERIFY(rig.window.errors()->messages().join(' ').contains(
        "must contain a file of midscope sweep"));
    QCOMPARE(rig.panel->plot()->lines(), 1);
  }

  void CurvesOfAFileTakeTheirPlace() {
    QTemporaryDir folder;
    const QString run = WriteRun(folder, "one.h5", {1.5, 2}, {1, 5}, 10);
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenRuns({run}));
    Record stored;
    stored.name = "outcome_curves";
    stored.axes = {{"curve", 3, "", {"a", "b", "c"}, {}}, {"factor", 2, "", {}, {0, 1}}};
    stored.arrays = {
        {"accuracy_mean", {"curve", "factor"}, std::vector<double>{1, 2, 3, 4, 5, 6}, "", ""}};
    rig.session->ShowFile({{stored}, {}, {}});
    rig.session->FlushChanges();
    QCOMPARE(rig.panel->plot()->lines(), 3);
    QVERIFY(rig.over->isHidden());
    // Opening a file without curves keeps the curves of the opened runs.
    QVERIFY(rig.OpenRuns({run}));
    rig.session->ShowFile({{}, {}, {}});
    rig.session->FlushChanges();
    QCOMPARE(rig.panel->plot()->lines(), 1);
    QVERIFY(!rig.over->isHidden());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::CurvesPanelTest)
#include "curves_panel_test.moc"
