// SPDX-License-Identifier: MIT
// Quick controls, text lines and undo: every way to enter a setting gives the same setting.
#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGroupBox>
#include <QLineEdit>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTest>

#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/panels/settings/knobs_panel.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/sliders.h"
#include "gui/widgets/text_line.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/settings_rig.h"

namespace midscope {

class SettingsTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : SettingsRig {
    template <typename Widget>
    Widget* Find(const char* name) {
      return panel.findChild<Widget*>(QString::fromLatin1(name));
    }
    void Type(bool b, const char* text) {
      QLineEdit* edit = panel.text(b)->edit();
      edit->selectAll();
      QTest::keyClicks(edit, QString::fromLatin1(text));
      QTest::keyClick(edit, Qt::Key_Return);
    }
  };

 private Q_SLOTS:
  void KnobsWriteTheText() {
    Rig rig;
    rig.Find<QGroupBox>("channel_on")->setChecked(true);
    rig.Find<QSpinBox>("channel")->setValue(215);
    rig.Find<QDoubleSpinBox>("factor")->setValue(-0.5);
    rig.Find<QSpinBox>("channel_first_layer")->setValue(3);
    rig.Find<QSpinBox>("channel_last_layer")->setValue(12);
    rig.Find<QComboBox>("rows")->setCurrentIndex(1);
    rig.Find<QComboBox>("scheme")->setCurrentIndex(2);
    rig.Find<QDoubleSpinBox>("ms_poe_max")->setValue(2.5);
    rig.Find<QComboBox>("ms_poe_mode")->setCurrentText("group");
    rig.Find<QComboBox>("ms_poe_order")->setCurrentText("sequential");
    rig.Find<QSpinBox>("ms_poe_first_layer")->setValue(0);
    Intervention expected;
    MsPoe ms_poe;
    ms_poe.max = 2.5;
    ms_poe.mode = MsPoeMode::kGroup;
    ms_poe.order = MsPoeOrder::kSequential;
    ms_poe.layers = {false, {{0, kEveryLayerAfter}}};
    expected.Add(TermOf(ms_poe));
    expected.Add(TermOf(ChannelScaling{215, -0.5, {false, {{3, 12}}}, {ChannelRows::kLast, 1}}));
    QCOMPARE(rig.history.current().b, expected);
    QCOMPARE(rig.panel.text(true)->edit()->text().toStdString(), PrintIntervention(expected));
    QVERIFY(rig.history.current().a.empty());
  }

  void TextTurnsTheKnobs() {
    Rig rig;
    rig.Type(true, "channel(7, factor=0.25, layers=1-4, rows=last:16) + pi(0.8)");
    QVERIFY(rig.Find<QGroupBox>("channel_on")->isChecked());
    QCOMPARE(rig.Find<QSpinBox>("channel")->value(), 7);
    QCOMPARE(rig.Find<QDoubleSpinBox>("factor")->value(), 0.25);
    QCOMPARE(rig.Find<QSlider>("factor_slider")->value(), 25);
    QCOMPARE(rig.Find<QSpinBox>("channel_last_layer")->value(), 4);
    QCOMPARE(rig.Find<QSpinBox>("last_rows")->value(), 16);
    QCOMPARE(rig.Find<QComboBox>("scheme")->currentIndex(), 1);
    QCOMPARE(rig.Find<QDoubleSpinBox>("pi_ratio")->value(), 0.8);
    QCOMPARE(rig.Find<KnobsPanel>("")->intervention(), rig.history.current().b);
  }

  // A drag is one undo step; a value outside the slider's range is kept until its handle is moved.
  void RatiosAreARangeWithTwoHandles() {
    Rig rig;
    rig.Type(true, "ms-poe(min=1.2, max=1.8)");
    auto* range = rig.Find<RangeSlider>("ms_poe_range");
    range->resize(264, 16);  // 250 steps of 0.01, one per pixel
    QCOMPARE(range->first(), 1.2);
    QCOMPARE(range->last(), 1.8);
    const int steps = rig.history.stack()->count();
    const QPoint last = range->HandleAt(1);
    QTest::mousePress(range, Qt::LeftButton, {}, last);
    for (int moved = 10; moved <= 40; moved += 10) {
      QMouseEvent move(QEvent::MouseMove, last + QPoint(moved, 0), last + QPoint(moved, 0),
                       Qt::NoButton, Qt::LeftButton, {});
      QApplication::sendEvent(range, &move);
    }
    QTest::mouseRelease(range, Qt::LeftButton, {}, last + QPoint(40, 0));
    const auto ratios = [&] {
      const auto ms_poe = *rig.history.current().b.Find<MsPoe>();
      return std::pair(ms_poe.min, ms_poe.max);
    };
    QVERIFY(ratios().first == 1.2 && std::abs(ratios().second - 2.2) < 0.015);
    QCOMPARE(rig.Find<QDoubleSpinBox>("ms_poe_max")->value(), ratios().second);
    QCOMPARE(rig.history.stack()->count(), steps + 1);
    // The nearest handle moves, and may pass the other one.
    QTest::mousePress(range, Qt::LeftButton, {}, range->HandleAt(0) + QPoint(2, 0));
    QMouseEvent move(QEvent::MouseMove, QPointF(250, 8), QPointF(250, 8), Qt::NoButton,
                     Qt::LeftButton, {});
    QApplication::sendEvent(range, &move);
    QTest::mouseRelease(range, Qt::LeftButton, {}, QPoint(250, 8));
    QVERIFY(ratios().first > ratios().second);
    rig.Type(true, "ms-poe(min=0.1, max=7)");
    QCOMPARE(range->first(), 0.5);
    QCOMPARE(range->last(), 3.0);
    QTest::keyClick(range, Qt::Key_Up);  // selects the other handle
    QTest::keyClick(range, Qt::Key_Left);
    QCOMPARE(ratios(), std::pair(0.1, 2.99));
  }

  void RowsThatSeeTheSchemeAreBesideIt() {
    Rig rig;
    auto* rows = rig.Find<QComboBox>("position_rows");
    rig.Type(true, "ms-poe(rows=last)");
    QCOMPARE(rows->currentText(), QString("last"));
    rows->setCurrentText("answer");
    QVERIFY(PositionSchemeRows(rig.history.current().b).rows == ChannelRows::kAnswer);
    rows->setCurrentText("all");
    QCOMPARE(rig.history.current().b, ParseIntervention("ms-poe"));
    // The N of last:N is kept while other controls change.
    rig.Type(true, "pi(1.5, rows=last:7)");
    rig.Find<QDoubleSpinBox>("pi_ratio")->setValue(1.7);
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(1.7, rows=last:7)"));
    rows->setCurrentText("last");
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(1.7, rows=last)"));
    rig.Find<QComboBox>("scheme")->setCurrentIndex(0);
    QVERIFY(rig.history.current().b.empty());
  }

  void WhatKnobsCannotSayStays() {
    Rig rig;
    rig.Type(true, "channel([100,215], factor=[-1,0.5], layers=[2-8,12])");
    rig.Find<QDoubleSpinBox>("factor")->setValue(0.75);
    const auto channels = rig.history.current().b.All<ChannelScaling>();
    QCOMPARE(channels.size(), size_t{2});
    QCOMPARE(channels[0].factor, 0.75);
    QCOMPARE(channels[0].layers.Text(), std::string("[2-8,12]"));
    QCOMPARE(channels[1].channel, int64_t{215});
    QCOMPARE(channels[1].factor, 0.5);
  }

  void BadTextKeepsTheTextAndNamesTheColumn() {
    Rig rig;
    rig.Type(true, "pi(1.5)");
    const char bad[] = "pi(1.5) + chanel(3)";
    rig.Type(true, bad);
    QCOMPARE(rig.panel.text(true)->edit()->text(), QString::fromLatin1(bad));
    QVERIFY2(rig.panel.text(true)->error().contains(QRegularExpression("column 11\\b")),
             qPrintable(rig.panel.text(true)->error()));
    // The last valid setting stays in force, and leaving the line keeps its text.
    QCOMPARE(rig.TextB(), PrintIntervention(ParseIntervention("pi(1.5)")));
    QTest::keyClick(rig.panel.text(true)->edit(), Qt::Key_Return);
    rig.panel.Show(rig.history.current());
    QCOMPARE(rig.panel.text(true)->edit()->text(), QString::fromLatin1(bad));
    QVERIFY(!rig.panel.text(true)->error().isEmpty());
    rig.Type(true, "none");
    QVERIFY(rig.panel.text(true)->error().isEmpty());
    QVERIFY(rig.history.current().b.empty());
  }

  void PinAndSwap() {
    Rig rig;
    rig.Type(true, "pi(1.5)");
    const Intervention pi = rig.history.current().b;
    QCOMPARE(rig.history.stack()->undoText().toStdString(), "B: " + rig.TextB());
    QTest::mouseClick(rig.Find<QWidget>("swap"), Qt::LeftButton);
    QCOMPARE(rig.history.stack()->undoText(), QString("swap of A and B"));
    QCOMPARE(rig.history.current().a, pi);
    QVERIFY(rig.history.current().b.empty());
    QTest::mouseClick(rig.Find<QWidget>("swap"), Qt::LeftButton);
    QTest::mouseClick(rig.Find<QWidget>("pin"), Qt::LeftButton);
    QCOMPARE(rig.history.current().a, pi);
    QCOMPARE(rig.history.current().b, pi);
  }

  void OneDragIsOneStepBack() {
    Rig rig;
    rig.Find<QGroupBox>("channel_on")->setChecked(true);
    const SettingPair before = rig.history.current();
    auto* slider = rig.Find<QSlider>("factor_slider");
    QSignalSpy applied(&rig.history, &SettingHistory::Applied);
    slider->setSliderDown(true);
    for (const int position : {50, 0, -60, -100}) slider->setSliderPosition(position);
    slider->setSliderDown(false);
    QCOMPARE(applied.size(), 5);  // four during the drag, one at its end
    QCOMPARE(applied.first().at(1).toBool(), true);
    QCOMPARE(applied.last().at(1).toBool(), false);
    QCOMPARE(rig.history.current().b.Find<ChannelScaling>()->factor, -1.0);
    rig.history.stack()->undo();
    QCOMPARE(rig.history.current(), before);
    QCOMPARE(rig.Find<QDoubleSpinBox>("factor")->value(), 1.0);
    rig.history.stack()->redo();
    QCOMPARE(rig.history.current().b.Find<ChannelScaling>()->factor, -1.0);
  }

  void TwoDragsAreTwoSteps() {
    Rig rig;
    rig.Find<QGroupBox>("channel_on")->setChecked(true);
    auto* slider = rig.Find<QSlider>("factor_slider");
    for (const int end : {0, -100}) {
      slider->setSliderDown(true);
      slider->setSliderPosition(end / 2 + 10);
      slider->setSliderPosition(end);
      slider->setSliderDown(false);
    }
    rig.history.stack()->undo();
    QCOMPARE(rig.history.current().b.Find<ChannelScaling>()->factor, 0.0);
  }

  void EveryKnobHasATooltip() {
    Rig rig;
    for (const QWidget* widget : rig.panel.findChildren<QWidget*>()) {
      const bool knob = widget->objectName().size() > 0 && !widget->objectName().startsWith("qt_");
      if (knob) QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
    }
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SettingsTest)
#include "settings_test.moc"
