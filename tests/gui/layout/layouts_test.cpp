// SPDX-License-Identifier: MIT
// Modes name only panels that exist; docks are placed as the mode states, and restored to their
// previous arrangement.
#include <QAction>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>
#include <QTabBar>
#include <QTest>
#include <QToolButton>

#include "gui/actions/action_registry.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/command_row.h"
#include "gui/panels/panel_list.h"
#include "gui/plots/plot.h"
#include "gui/widgets/elided_label.h"
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
  static bool InScrollArea(const QWidget* widget) {
    while (widget && !qobject_cast<const QScrollArea*>(widget)) widget = widget->parentWidget();
    return widget != nullptr;
  }
  // Whether the panel is at the front of its tabs and not hidden.
  static bool IsSeen(const DockArea& area, const char* id) {
    const QDockWidget* dock = area.Find(QString::fromLatin1(id));
    return dock->isVisible() && !dock->visibleRegion().isEmpty();
  }

 private Q_SLOTS:
  // Its window covers the modes, so it must be easy to close.
  void ThePoppedUpModelIsShownWholeAndClosedByEscOrByItsButton() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());  // the panel names it
    const QDockWidget* dock = rig.window.docks()->Find(QStringLiteral("model"));
    auto* button = rig.Find<QToolButton>("top_model");
    button->click();
    QVERIFY(dock->isVisible() && dock->isFloating());
    QTRY_COMPARE(dock->findChild<QScrollArea*>()->verticalScrollBar()->maximum(), 0);
    QTest::keyClick(dock->findChild<QLineEdit*>(), Qt::Key_Escape);
    QVERIFY(!dock->isVisible());
    button->click();
    QVERIFY(dock->isVisible());
    button->click();
    QVERIFY(!dock->isVisible());
  }

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
        QVERIFY(named.contains("settings"));
      }
    }
  }

  // On a screen of 1366 x 768 at 150 % no two panels are above each other, and nothing is cut.
  void ALowWindowHasTabsInsteadOfColumns() {
    for (const LayoutEntry& layout : LayoutList()) {
      const Arrangement high = layout.arrange({910, 900});
      const Arrangement low = ArrangementFor(layout, {910, 512});
      QCOMPARE(PanelsOf(low), PanelsOf(high));
      for (const Arrangement& part : low.parts) QVERIFY(part.kind != Arrangement::Kind::kColumn);
    }
    WindowRig<> rig;
    rig.Show();
    rig.window.resize(910, 512);
    QTest::qWait(50);
    QCOMPARE(rig.window.size(), QSize(910, 512));
    DockArea* area = rig.window.docks();
    for (const LayoutEntry& layout : LayoutList()) {
      area->Arrange(layout);
      QTest::qWait(20);
      QCOMPARE(rig.window.size(), QSize(910, 512));
      for (const QDockWidget* dock : area->docks()) {
        if (!dock->isVisible()) continue;
        QVERIFY2(PlaceOf(*area, qPrintable(dock->objectName())).bottom() <= area->height(),
                 qPrintable(layout.id + ": " + dock->objectName()));
      }
    }
  }

  // In a window of 1280 x 720, no panel of a mode is below another one or cuts its own buttons.
  void EveryPanelOfAModeIsWholeOnASmallScreen() {
    WindowRig<> rig;
    rig.Show();
    rig.window.resize(1280, 720);
    QVERIFY(rig.OpenModel());
    DockArea* area = rig.window.docks();
    for (const LayoutEntry& layout : LayoutList()) {
      area->Arrange(layout);
      for (const QString& id : PanelsOf(ArrangementFor(layout, rig.window.size()))) {
        area->Show(id);
        QTest::qWait(20);
        const QByteArray which = (layout.id + ": " + id).toUtf8();
        QCOMPARE(rig.window.size(), QSize(1280, 720));
        const QRect place = PlaceOf(*area, qPrintable(id));
        QVERIFY2(area->rect().contains(place), which);
        for (const QTabBar* tabs : area->findChildren<QTabBar*>(Qt::FindDirectChildrenOnly))
          QVERIFY2(!tabs->isVisible() || !tabs->geometry().intersects(place), which);
        for (const auto* button : area->Find(id)->findChildren<QPushButton*>()) {
          if (!button->isVisible() || InScrollArea(button)) continue;
          QVERIFY2(button->visibleRegion().boundingRect() == button->rect(),
                   which + ": " + button->text().toUtf8());
        }
      }
    }
  }

  void NotesFitASmallScreen() {
    WindowRig<> rig;
    rig.Show();
    rig.window.resize(1280, 720);
    QVERIFY(rig.OpenModel());
    rig.window.docks()->Arrange(*FindLayout("explore"));
    QTest::qWait(20);
    const auto* note = rig.Find<ElidedLabel>("channel_length");
    QVERIFY2(note->isVisible() && note->sizeHint().width() <= note->width(),
             qPrintable(note->text()));
    const auto* progress = rig.window.findChild<ProgressRow*>();
    for (const Plot* plot : rig.window.plots()) {
      QVERIFY2(rig.window.fontMetrics().horizontalAdvance(plot->statusTip()) < progress->x(),
               qPrintable(plot->statusTip()));
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

  void ExploreHasTheChangeBesideItsOutcome() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    area->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    QVERIFY(PlaceOf(*area, "settings").right() < PlaceOf(*area, "outcome").left());
    QVERIFY(PlaceOf(*area, "outcome").bottom() < PlaceOf(*area, "head-map").top());
    QVERIFY(PlaceOf(*area, "head-map").right() < PlaceOf(*area, "channel").left());
    QVERIFY(PlaceOf(*area, "channel").right() < PlaceOf(*area, "text").left());
    for (const char* seen : {"settings", "outcome", "head-map", "channel", "text"})
      QVERIFY2(IsSeen(*area, seen), seen);
    for (const char* hidden : {"prompt", "model", "scan", "sweep", "notes", "positions"})
      QVERIFY2(area->Find(QString::fromLatin1(hidden))->isHidden(), hidden);
  }

  void ASmallWindowShowsTheSliderBesideThePlots() {
    WindowRig<> rig;
    rig.window.resize(1024, 700);
    rig.window.show();
    QVERIFY(rig.OpenModel());
    rig.window.docks()->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*rig.window.docks(), "outcome"));
    QCOMPARE(rig.window.size(), QSize(1024, 700));
    const auto* slider = rig.Find<QWidget>("term_channel_factor_slider");
    QVERIFY(!slider->visibleRegion().isEmpty());
    for (const char* seen : {"settings", "outcome", "head-map", "channel"})
      QVERIFY2(IsSeen(*rig.window.docks(), seen), seen);
  }

  void TheFocusGoesFromPanelToPanel() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&rig.window));
    DockArea* area = rig.window.docks();
    area->Arrange(*FindLayout("explore"));
    QTest::qWait(50);
    const auto focused = [area] {
      for (const QDockWidget* dock : area->docks()) {
        if (dock->isAncestorOf(QApplication::focusWidget())) return dock->objectName();
      }
      return QString();
    };
    QStringList visited;
    for (int i = 0; i < 5; ++i) {
      rig.window.actions_list()->Do("next-panel");
      visited << focused();
    }
    QCOMPARE(visited, QStringList({"settings", "outcome", "head-map", "channel", "text"}));
    rig.window.actions_list()->Do("previous-panel");
    QCOMPARE(focused(), QString("channel"));
  }

  void AModeIsFoundAsItWasLeft() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    area->Show("notes");
    QTRY_VERIFY(IsSeen(*area, "notes"));
    rig.window.modes()->setCurrentIndex(1);
    QCOMPARE(area->layout_id(), QString("parts"));
    QTRY_VERIFY(IsSeen(*area, "scan"));
    QVERIFY(area->Find("notes")->isHidden());
    rig.window.modes()->setCurrentIndex(0);
    QTRY_VERIFY(IsSeen(*area, "notes"));
    // Chosen again, its panels are where they were at first.
    rig.window.actions_list()->Do("layout-explore");
    QTRY_VERIFY(area->Find("notes")->isHidden());
  }

  void OnePanelFillsTheAreaAndGoesBack() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    area->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    QTest::qWait(50);  // the sizes of an arrangement are applied once more
    const QRect before = PlaceOf(*area, "text");
    area->ToggleWhole(area->Find("text"));
    QTRY_VERIFY(!area->Find("outcome")->isVisible());
    QTRY_VERIFY(PlaceOf(*area, "text").width() > 1300);
    area->ToggleWhole(nullptr);
    QTRY_COMPARE(PlaceOf(*area, "text"), before);
    QVERIFY(IsSeen(*area, "outcome"));
  }

  void AStateIsRestoredAndAnotherOneRefused() {
    WindowRig<> rig;
    rig.Show();
    DockArea* area = rig.window.docks();
    QTRY_VERIFY(IsSeen(*area, "outcome"));
    area->Arrange(*FindLayout("parts"));
    QTRY_VERIFY(!IsSeen(*area, "channel"));
    const QByteArray state = area->State();
    area->Arrange(*FindLayout("explore"));
    QTRY_VERIFY(IsSeen(*area, "channel"));
    QVERIFY(!area->Restore("not a state"));
    QVERIFY(IsSeen(*area, "channel"));
    QVERIFY(area->Restore(state));
    QTRY_VERIFY(!IsSeen(*area, "channel"));
    QVERIFY(IsSeen(*area, "scan"));
  }

  void ADockTearsOffAndHasHelpAndOptions() {
    WindowRig<> rig;
    rig.Show();
    QDockWidget* dock = rig.window.docks()->Find("channel");
    const auto entry = [dock](const char* name) {
      return dock->titleBarWidget()->findChild<QAction*>(QString::fromLatin1(name));
    };
    entry("dock_float")->trigger();
    QVERIFY(dock->isFloating());
    entry("dock_float")->trigger();
    QVERIFY(!dock->isFloating());
    const auto* smoothing = rig.Find<QWidget>("smoothing");
    QVERIFY(!smoothing->isVisible());
    entry("dock_options")->trigger();
    QVERIFY(smoothing->isVisible());
    for (const QDockWidget* each : rig.window.docks()->docks())
      QVERIFY2(!each->titleBarWidget()->toolTip().isEmpty(), qPrintable(each->objectName()));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::LayoutsTest)
#include "layouts_test.moc"
