// SPDX-License-Identifier: MIT
// Layouts name only panels that exist; docks are placed as the layout states, and restored to their
// previous arrangement.
#include <QDockWidget>
#include <QLabel>
#include <QSet>
#include <QTest>
#include <QToolButton>

#include "gui/layout/dock_area.h"
#include "gui/panels/panel_list.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class LayoutsTest : public QObject {
  Q_OBJECT

 private:
  static QRect PlaceOf(const DockArea& area, const char* id) {
    const QDockWidget* dock = area.Find(QString::fromLatin1(id));
    return {dock->mapTo(&area, QPoint(0, 0)), dock->size()};
  }
  // Whether the panel is at the front of its tabs and not hidden.
  static bool IsSeen(const DockArea& area, const char* id) {
    const QDockWidget* dock = area.Find(QString::fromLatin1(id));
    return dock->isVisible() && !dock->visibleRegion().isEmpty();
  }

 private Q_SLOTS:
  void LayoutsNamePanelsOnceAndNoOthers() {
    WindowRig<> rig;
    QSet<QString> ids;
    for (const LayoutEntry& layout : LayoutList()) {
      QVERIFY(!ids.contains(layout.id));
      ids.insert(layout.id);
      for (const QSize& size : {QSize(1024, 700), QSize(1600, 1000)}) {
        QStringList named = PanelsOf(layout.arrange(size));
        for (const QString& id : named) {
          QVERIFY2(rig.window.docks()->Find(id) != nullptr, qPrintable(layout.id + ": " + id));
        }
        QCOMPARE(named.removeDuplicates(), 0);
        QVERIFY(named.contains("settings") && named.contains("prompt") && named.contains("model"));
      }
    }
  }

  void EveryPanelHasADockInEveryLayout() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    QCOMPARE(area->docks().size(), PanelList().size() + 5);
    for (const LayoutEntry& layout : LayoutList()) {
      area->Arrange(layout);
      for (const PanelEntry& panel : PanelList()) {
        area->Show(panel.id);
        QVERIFY2(QTest::qWaitFor([&] { return IsSeen(*area, qPrintable(panel.id)); }),
                 qPrintable(layout.id + ": " + panel.id));
      }
    }
  }

  void ExploreHasControlsBesidePlots() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    area->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    QVERIFY(PlaceOf(*area, "settings").right() < PlaceOf(*area, "head-map").left());
    QVERIFY(PlaceOf(*area, "head-map").bottom() < PlaceOf(*area, "attention").top());
    QVERIFY(PlaceOf(*area, "attention").right() < PlaceOf(*area, "outcome").left());
    QVERIFY(PlaceOf(*area, "channel").bottom() < PlaceOf(*area, "outcome").top());
    for (const char* seen : {"settings", "prompt", "head-map", "attention", "channel", "outcome"})
      QVERIFY2(IsSeen(*area, seen), seen);
  }

  // The factor control is visible beside the plots that it changes.
  void ASmallWindowShowsTheKnobBesideThePlots() {
    WindowRig<> rig;
    rig.window.resize(1024, 700);
    rig.window.show();
    rig.window.docks()->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*rig.window.docks(), "outcome"));
    QCOMPARE(rig.window.size(), QSize(1024, 700));
    const auto* slider = rig.Find<QWidget>("factor_slider");
    QVERIFY(!slider->visibleRegion().isEmpty());
    for (const char* seen : {"settings", "head-map", "attention", "outcome"})
      QVERIFY2(IsSeen(*rig.window.docks(), seen), seen);
  }

  void OnePanelFillsTheAreaAndGoesBack() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    const QRect before = PlaceOf(*area, "attention");
    area->ToggleWhole(area->Find("attention"));
    QTRY_VERIFY(!area->Find("outcome")->isVisible());
    QTRY_VERIFY(PlaceOf(*area, "attention").width() > 1300);
    area->ToggleWhole(nullptr);
    QTRY_COMPARE(PlaceOf(*area, "attention"), before);
    QVERIFY(IsSeen(*area, "outcome"));
  }

  void AStateIsRestoredAndAnotherOneRefused() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    area->Arrange(*FindLayout("channels"));
    QTRY_VERIFY(!IsSeen(*area, "head-map"));
    const QByteArray state = area->State();
    area->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*area, "head-map"));
    QVERIFY(!area->Restore("not a state"));
    QVERIFY(IsSeen(*area, "head-map"));
    QVERIFY(area->Restore(state));
    QTRY_VERIFY(!IsSeen(*area, "head-map"));
    QVERIFY(IsSeen(*area, "channels"));
  }

  void ADockTearsOffAndHasHelp() {
    WindowRig<> rig;
    rig.Show();
    QDockWidget* dock = rig.window.docks()->Find("attention");
    QTest::mouseClick(dock->titleBarWidget()->findChild<QToolButton*>("dock_float"),
                      Qt::LeftButton);
    QVERIFY(dock->isFloating());
    QTest::mouseClick(dock->titleBarWidget()->findChild<QToolButton*>("dock_float"),
                      Qt::LeftButton);
    QVERIFY(!dock->isFloating());
    for (const QDockWidget* each : rig.window.docks()->docks())
      QVERIFY2(!each->titleBarWidget()->toolTip().isEmpty(), qPrintable(each->objectName()));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::LayoutsTest)
#include "layouts_test.moc"
