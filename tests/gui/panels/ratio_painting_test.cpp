// SPDX-License-Identifier: MIT
// Position ratios of B painted on the head map: wheel, drag, keys, blocks, groups and controls.
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/base/head_ratios.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/head_map/ratio_painter.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class RatioPaintingTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    QTemporaryDir folder;
    HeadMapPanel* panel = nullptr;
    bool Open(bool edits = true) {
      Show();
      if (!OpenModel()) return false;
      panel = window.panel<HeadMapPanel>();
      panel->painter()->SetFolder(folder.path());
      panel->ChooseQuantity(HeadMapPanel::kRatioId);
      window.ShowPanel(panel);
      if (edits) Find<QToolButton>("ratios_edits")->setChecked(true);
      QApplication::processEvents();
      return panel->quantity_id() == HeadMapPanel::kRatioId;
    }
    HeadMapPlot* map() {
      return window.selection()->compare() == Compare::kSplit && !panel->plot_of_b()->isHidden()
                 ? panel->plot_of_b()
                 : panel->plot();
    }
    static QPointF At(HeadMapPlot* plot, HeadId head) {
      return {plot->xAxis->coordToPixel(static_cast<double>(head.head)),
              plot->yAxis->coordToPixel(static_cast<double>(head.layer))};
    }
    double RatioOf(HeadId head) {
      const auto* table = window.history()->current().b.Find<HeadRatioTable>();
      if (!table) return -1;
      return table->ratios[static_cast<size_t>(head.layer * table->heads + head.head)];
    }
    void Wheel(HeadId head, int notches) {
      HeadMapPlot* plot = map();
      const QPointF at = At(plot, head);
      QWheelEvent event(at, plot->mapToGlobal(at), {}, QPoint(0, 120 * notches), Qt::NoButton, {},
                        Qt::NoScrollPhase, false);
      QApplication::sendEvent(plot, &event);
    }
    void Drag(HeadId head, int up, Qt::KeyboardModifiers keys = {}, int right = 0) {
      HeadMapPlot* plot = map();
      const QPoint begin = At(plot, head).toPoint();
      const QPoint end = begin + QPoint(right, -up);
      QTest::mousePress(plot, Qt::LeftButton, keys, begin);
      for (const double share : {0.3, 0.7, 1.0}) {
        const QPointF at = begin + QPointF(right, -up) * share;
        QMouseEvent move(QEvent::MouseMove, at, plot->mapToGlobal(at), Qt::NoButton, Qt::LeftButton,
                         keys);
        QApplication::sendEvent(plot, &move);
      }
      QTest::mouseRelease(plot, Qt::LeftButton, keys, end);
    }
    qsizetype Files() { return QDir(folder.path()).entryList(QDir::Files).size(); }
    int Steps() { return window.history()->stack()->count(); }
    void Trigger(const char* id) { window.findChild<QAction*>(QString::fromLatin1(id))->trigger(); }
  };

 private Q_SLOTS:
  void ADragUpOnACellIsALargerRatioInOneStep() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.panel->plot()->paintable());
    QCOMPARE(rig.panel->plot()->CellValue({2, 1}), 1.0);
    const QCPRange x = rig.panel->plot()->xAxis->range();
    rig.Drag({2, 1}, 100);
    QVERIFY2(std::abs(rig.RatioOf({2, 1}) - 1.5) < 0.03,
             qPrintable(QString::number(rig.RatioOf({2, 1}))));
    QCOMPARE(rig.RatioOf({2, 0}), 1.0);
    QCOMPARE(rig.Steps(), 1);
    QCOMPARE(rig.Files(), 1);  // not one file per step of the drag
    // The map shows the ratio before its run is done, and the view has not moved.
    rig.session->FlushChanges();
    QCOMPARE(rig.map()->CellValue({2, 1}), rig.RatioOf({2, 1}));
    QVERIFY(rig.panel->plot()->xAxis->range() == x);
    const Intervention b = rig.window.history()->current().b;
    QCOMPARE(ParseIntervention(PrintIntervention(b)), b);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.window.errors()->messages(), QStringList());
    rig.window.history()->stack()->undo();
    QVERIFY(rig.window.history()->current().b.empty());
  }

  void TheWheelChangesTheCellBelowIt() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Wheel({1, 2}, 1);
    rig.Wheel({1, 2}, 1);
    QVERIFY(std::abs(rig.RatioOf({1, 2}) - 1.05 * 1.05) < 0.001);
    QTRY_COMPARE(rig.Files(), 1);  // after the wheel has stopped
    QCOMPARE(rig.Steps(), 1);
    rig.Wheel({1, 2}, -1);
    QTRY_COMPARE(rig.Files(), 2);
    QVERIFY(std::abs(rig.RatioOf({1, 2}) - 1.05) < 0.002);
    // For another quantity, the wheel zooms.
    rig.panel->ChooseQuantity("gold");
    QVERIFY(!rig.map()->paintable());
    const QCPRange x = rig.map()->xAxis->range();
    rig.Wheel({1, 2}, 1);
    QVERIFY(rig.map()->xAxis->range().size() < x.size());
    QCOMPARE(rig.Files(), 2);
  }

  // The map is edited only if Edit ratios is on; Ms-PoE then becomes a table with its name.
  void RatiosAreEditedOnRequest() {
    Rig rig;
    QVERIFY(rig.Open(false));
    rig.window.history()->Change({{}, ParseIntervention("ms-poe(min=1.2, max=1.8)")}, false);
    QVERIFY(rig.Settle());
    rig.session->FlushChanges();
    QVERIFY(!rig.map()->paintable());
    rig.Wheel({1, 2}, 1);
    QVERIFY(rig.window.history()->current().b.Find<MsPoe>());
    QVERIFY(rig.Find<QToolButton>("ratios_edits")->isVisible());
    rig.Find<QToolButton>("ratios_edits")->setChecked(true);
    QVERIFY2(rig.Find<QLabel>("map_note")->text().contains("Ms-PoE"),
             qPrintable(rig.Find<QLabel>("map_note")->text()));
    rig.Wheel({1, 2}, 1);
    QTRY_COMPARE(rig.Files(), 1);
    rig.Wheel({1, 2}, 1);
    QTRY_COMPARE(rig.Files(), 2);
    QVERIFY(!rig.window.history()->current().b.Find<MsPoe>());
    QCOMPARE(rig.Find<QToolButton>("card_face_0")->text(), QString("Ms-PoE, edited"));
  }

  // After undo during a turn of the wheel, the rest of the turn does not paint the undone ratio
  // again.
  void UndoBeforeTheWheelRestsStays() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Wheel({1, 2}, 1);
    QVERIFY(rig.RatioOf({1, 2}) > 1);
    rig.window.history()->stack()->undo();
    QVERIFY(rig.window.history()->current().b.empty());
    QTest::qWait(1200);  // longer than the delay that ends a turn of the wheel
    QVERIFY(rig.window.history()->current().b.empty());
    QVERIFY(rig.window.history()->stack()->canRedo());
    rig.Wheel({1, 2}, 1);
    QVERIFY(std::abs(rig.RatioOf({1, 2}) - 1.05) < 0.002);
  }

  // Painting on the map of A changes B, so B is shown.
  void PaintingOnTheMapOfAShowsB() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.selection()->SetCompare(Compare::kA);
    rig.Wheel({1, 2}, 1);
    QVERIFY(rig.window.selection()->compare() != Compare::kA);
    rig.session->FlushChanges();
    QVERIFY(rig.map()->CellValue({1, 2}) > 1);
  }

  void ABlockChangesAsOne() {
    Rig rig;
    QVERIFY(rig.Open());
    HeadMapPlot* plot = rig.map();
    const QPointF from = Rig::At(plot, {1, 0});
    const QPointF to = Rig::At(plot, {2, 1});
    rig.Drag({1, 0}, static_cast<int>(from.y() - to.y()), Qt::ShiftModifier,
             static_cast<int>(to.x() - from.x()));
    QVERIFY(rig.window.history()->current().b.empty());  // marking changes nothing
    QCOMPARE(plot->painted_heads().size(), size_t{4});
    rig.Drag({1, 0}, 50);
    QVERIFY(rig.RatioOf({2, 1}) > 1.1);
    QCOMPARE(rig.RatioOf({2, 1}), rig.RatioOf({1, 0}));
    QCOMPARE(rig.RatioOf({3, 1}), 1.0);
    QTest::keyClick(rig.map(), Qt::Key_Escape);
    QCOMPARE(rig.map()->painted_heads().size(), size_t{1});
  }

  void KeysPaintTheSelectedHead() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.selection()->Choose({3, 2});
    QTest::keyClick(rig.map(), Qt::Key_Plus);
    QCOMPARE(rig.RatioOf({3, 2}), 1.05);
    QTest::keyClick(rig.map(), Qt::Key_Right, Qt::ShiftModifier);
    QTest::keyClick(rig.map(), Qt::Key_Minus);
    QCOMPARE(rig.RatioOf({3, 2}), 1.0);
    QCOMPARE(rig.RatioOf({3, 3}), 0.952);
  }

  void HeadsOfAGroupChangeTogether() {
    Rig rig;
    QVERIFY(rig.Open());
    const int64_t group = rig.session->model()->config.heads_per_key_value_head();
    QVERIFY(group > 1);
    auto* grouped = rig.Find<QToolButton>("ratios_grouped");
    rig.panel->options()->show();
    QVERIFY(grouped->isVisible());
    QTest::mouseClick(grouped, Qt::LeftButton);
    rig.Drag({0, 0}, 60);
    QVERIFY(rig.RatioOf({0, 0}) > 1.1);
    QCOMPARE(rig.RatioOf({0, group - 1}), rig.RatioOf({0, 0}));
    QCOMPARE(rig.RatioOf({0, group}), 1.0);
    QTest::mouseClick(grouped, Qt::LeftButton);
    rig.Drag({0, 0}, -60);
    QVERIFY(rig.RatioOf({0, 0}) != rig.RatioOf({0, 1}));
    rig.Trigger("ratios-same-in-group");
    QCOMPARE(rig.RatioOf({0, 0}), rig.RatioOf({0, 1}));
  }

  void ControlsAreOneClickAway() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Trigger("ratios-from-score");
    const auto table = [&rig] { return *rig.window.history()->current().b.Find<HeadRatioTable>(); };
    const HeadRatioTable by_score = table();
    HeadMapPanel* panel = rig.panel;
    panel->ChooseQuantity(HeadMapPanel::kScoreId);
    rig.window.selection()->SetCompare(Compare::kA);  // B has not been run yet
    for (int64_t layer = 0; layer < 2; ++layer) {
      int64_t best = 0;
      for (int64_t head = 1; head < by_score.heads; ++head) {
        if (panel->plot()->CellValue({layer, head}) > panel->plot()->CellValue({layer, best}))
          best = head;
      }
      QCOMPARE(by_score.ratios[static_cast<size_t>(layer * by_score.heads + best)], 1.2);
    }
    QCOMPARE(*std::max_element(by_score.ratios.begin(), by_score.ratios.end()), 1.8);
    rig.Trigger("ratios-reversed");
    const HeadRatioTable reversed = table();
    for (size_t i = 0; i < reversed.ratios.size(); ++i)
      QVERIFY(std::abs(reversed.ratios[i] + by_score.ratios[i] - 3.0) < 1e-9);
    rig.Trigger("ratios-random");
    const HeadRatioTable random = table();
    QVERIFY(random.shuffle.has_value());
    QVERIFY(random.ratios != reversed.ratios);
    const Intervention b = rig.window.history()->current().b;
    QCOMPARE(ParseIntervention(PrintIntervention(b)), b);
    for (auto [some, other] : {std::pair(random, reversed)}) {
      std::sort(some.ratios.begin(), some.ratios.end());
      std::sort(other.ratios.begin(), other.ratios.end());
      QCOMPARE(some.ratios, other.ratios);
    }
    rig.Trigger("ratios-ones");
    QCOMPARE(table().ratios.front(), 1.0);
    rig.window.history()->stack()->undo();
    QCOMPARE(table().ratios, random.ratios);
    QCOMPARE(rig.window.errors()->messages(), QStringList());
  }

  // An error in writing the file is reported, and B is unchanged.
  void AFileThatCantBeWrittenIsTold() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.panel->painter()->SetFolder("/dev/null/nowhere");
    rig.Trigger("ratios-from-score");
    QCOMPARE(rig.window.errors()->messages().size(), 1);
    QVERIFY(rig.window.history()->current().b.empty());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::RatioPaintingTest)
#include "ratio_painting_test.moc"
