// SPDX-License-Identifier: MIT
// The first screen, on the embedded model: few controls, one switch of A and B, one click to each
// first finding, and nothing that moves when something runs, fails, or comes.
#include <QAbstractButton>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QPushButton>
#include <QScrollBar>
#include <QTabBar>
#include <QTest>
#include <QTextEdit>
#include <QToolButton>
#include <map>

#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/help/help_window.h"
#include "gui/layout/dock_area.h"
#include "gui/main_window.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/top_bar.h"
#include "gui/widgets/error_bar.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

constexpr int kLongest = 90000;  // milliseconds, on a loaded machine
constexpr int kMostControls = 45;

class FirstScreenTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static bool Seen(const QWidget* widget) {
    return widget->isVisible() && !widget->visibleRegion().isEmpty();
  }
  // The part of the window that holds the widget.
  QString PartOf(const QWidget* widget) const {
    for (; widget && widget != window_.get(); widget = widget->parentWidget()) {
      if (qobject_cast<const QDockWidget*>(widget)) return widget->objectName();
      if (widget->objectName() == QLatin1String("top_bar")) return QStringLiteral("top bar");
      if (widget->objectName() == QLatin1String("answer_strip")) return QStringLiteral("answers");
    }
    return QStringLiteral("window");
  }
  // Number of controls that a widget is: 0 for what neither takes focus nor a click.
  static int ControlsOf(const QWidget* widget) {
    if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) return tabs->count();
    if (const auto* bar = qobject_cast<const QMenuBar*>(widget))
      return static_cast<int>(bar->actions().size());
    const QWidget* parent = widget->parentWidget();
    const bool part = qobject_cast<const QAbstractSpinBox*>(parent) ||
                      qobject_cast<const QComboBox*>(parent) ||
                      qobject_cast<const QTabBar*>(parent) || qobject_cast<const QMenuBar*>(parent);
    const bool control =
        qobject_cast<const QAbstractButton*>(widget) ||
        qobject_cast<const QAbstractSpinBox*>(widget) || qobject_cast<const QComboBox*>(widget) ||
        qobject_cast<const QLineEdit*>(widget) ||
        (qobject_cast<const QAbstractSlider*>(widget) && !qobject_cast<const QScrollBar*>(widget));
    return control && !part ? 1 : 0;
  }
  // Places of all widgets of the window that are neither in a scrolled area nor in a plot.
  std::map<QString, QRect> Places() const {
    std::map<QString, QRect> places;
    for (const QWidget* widget : window_->findChildren<QWidget*>()) {
      if (widget->objectName().isEmpty() || widget->objectName().startsWith("qt_")) continue;
      const bool fixed = qobject_cast<const QDockWidget*>(widget) ||
                         qobject_cast<const QAbstractButton*>(widget) ||
                         qobject_cast<const QComboBox*>(widget) ||
                         qobject_cast<const QAbstractSpinBox*>(widget);
      if (!fixed || !Seen(widget)) continue;
      places[PartOf(widget) + "/" + widget->objectName()] = {
          widget->mapTo(window_.get(), QPoint(0, 0)), widget->size()};
    }
    return places;
  }
  static QString Moved(const std::map<QString, QRect>& before,
                       const std::map<QString, QRect>& after) {
    QStringList moved;
    for (const auto& [name, place] : before) {
      const auto found = after.find(name);
      if (found == after.end() || found->second == place) continue;
      moved << QStringLiteral("%1: %2,%3 %4x%5 to %6,%7 %8x%9")
                   .arg(name)
                   .arg(place.x())
                   .arg(place.y())
                   .arg(place.width())
                   .arg(place.height())
                   .arg(found->second.x())
                   .arg(found->second.y())
                   .arg(found->second.width())
                   .arg(found->second.height());
    }
    return moved.join('\n');
  }

 private Q_SLOTS:
  void initTestCase() {  // NOLINT(readability-identifier-naming): Qt calls it by this name
    Make({1600, 1000});
    window_->OpenModel(QStringLiteral("embedded"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    // The platform's screen is smaller, and the window began for it.
    window_->docks()->Arrange(LayoutList().front());
    QApplication::processEvents();
  }
  void cleanupTestCase() {  // NOLINT(readability-identifier-naming): as above
    window_.reset();
  }

  void FewControlsAreInSight() {
    std::map<QString, QStringList> names;
    int all = 0;
    int switches = 0;
    for (const QWidget* widget : window_->findChildren<QWidget*>()) {
      if (!Seen(widget)) continue;
      if (qobject_cast<const CompareSwitch*>(widget)) ++switches;
      const int controls = ControlsOf(widget);
      if (controls == 0) continue;
      all += controls;
      names[PartOf(widget)] << (widget->objectName().isEmpty()
                                    ? QString::fromLatin1(widget->metaObject()->className())
                                    : widget->objectName()) +
                                   (controls > 1 ? QStringLiteral(" (%1)").arg(controls) : "");
    }
    for (const auto& [part, controls] : names)
      qInfo("%s: %s", qPrintable(part), qPrintable(controls.join(", ")));
    qInfo("%d controls, %d compare switches", all, switches);
    QVERIFY2(all <= kMostControls, qPrintable(QString::number(all)));
    QCOMPARE(switches, 1);
  }

  // No click, one click, one drag.
  void TheFirstFindingsAreThere() {
    auto* outcome = window_->panel<OutcomePanel>();
    QVERIFY(Seen(outcome->plot()));
    QCOMPARE(outcome->plot()->lines().front().series.values.size(), 5);
    QVERIFY(Seen(window_->panel<ChannelPanel>()->plot()));
    QVERIFY(Seen(Find<QWidget>("term_channel_factor_slider")));
    QTest::mouseClick(Find<QPushButton>("try_0"), Qt::LeftButton);
    QCOMPARE(window_->history()->current().b,
             ParseIntervention("channel(100, factor=-1, layers=8-25)"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QTRY_VERIFY(Find<QLabel>("answer_difference")->text().contains("nats"));
    window_->history()->Change({}, false);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
  }

  void NothingMovesWhenSomethingRunsFailsOrComes() {
    QApplication::processEvents();
    const std::map<QString, QRect> before = Places();
    QVERIFY(before.size() > 25);
    const auto compare = [&](const char* when) {
      QApplication::processEvents();
      const QString moved = Moved(before, Places());
      QVERIFY2(moved.isEmpty(), qPrintable(QString::fromLatin1(when) + "\n" + moved));
    };
    window_->settings()->stack()->SwitchCard(0, true);
    compare("ticked");
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    compare("settled with B");
    window_->errors()->Add(
        QStringLiteral("A message that is long enough for two lines: ").repeated(6));
    compare("failed");
    window_->errors()->DismissTop();
    compare("dismissed");
    window_->history()->Change({}, false);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    compare("back");
    window_->Run();
    compare("running");
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    compare("run");
  }

  void TheTourShowsRealControls() {
    window_->actions_list()->Do(QStringLiteral("tour"));
    auto* tour = window_->findChild<Tour*>();
    QVERIFY(tour);
    QCOMPARE(tour->steps().size(), size_t{6});
    auto* note = Find<QWidget>("tour_note");
    for (int step = 0; step < 6; ++step) {
      QCOMPARE(tour->step(), step);
      QApplication::processEvents();
      QVERIFY2(Seen(tour->target()), qPrintable(QString::number(step)));
      QVERIFY(window_->rect().contains(note->geometry()));
      QTest::mouseClick(Find<QPushButton>("tour_next"), Qt::LeftButton);
    }
    QCOMPARE(tour->step(), -1);
    QVERIFY(!note->isVisible());
    window_->modes()->setCurrentIndex(0);
  }

  void PlacesAreButtonsAndOwnTextIsAMode() {
    auto* second = Find<QToolButton>("place_1");
    QVERIFY(Seen(second) && !Seen(Find<QComboBox>("place")));
    QTest::mouseClick(second, Qt::LeftButton);
    QCOMPARE(session_->place(), size_t{1});
    QVERIFY(second->isChecked());
    window_->modes()->setCurrentIndex(window_->modes()->count() - 1);
    QTRY_VERIFY(Seen(window_->prompt_panel()));
    window_->ShowOwnText();
    QTRY_VERIFY(Seen(Find<QWidget>("own_text_gold")));
    QVERIFY(!Find<QWidget>("sample")->isEnabled());
    window_->modes()->setCurrentIndex(0);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::FirstScreenTest)
#include "first_screen_test.moc"
