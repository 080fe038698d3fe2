// SPDX-License-Identifier: MIT
// Cards, settings to try, text lines and undo: every way to enter a setting gives the same setting.
#include <QAbstractButton>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>

#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/term_fields.h"
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
  void ASettingWithoutTermsSuggestsAChannel() {
    Rig rig;
    StackEditor* stack = rig.panel.stack();
    QVERIFY(stack->suggests() && stack->cards().empty());
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_channel")->value(), 100.0);
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_factor")->value(), 1.0);
    QCOMPARE(rig.Find<QComboBox>("term_channel_layers")->currentText(), QString("8-25"));
    QVERIFY(rig.history.current() == SettingPair());
    // An edit puts it into the setting; undo takes it back.
    rig.Find<QDoubleSpinBox>("term_channel_factor")->setValue(-0.5);
    QCOMPARE(rig.history.current().b, ParseIntervention("channel(100, factor=-0.5, layers=8-25)"));
    QVERIFY(!stack->suggests());
    rig.history.stack()->undo();
    QVERIFY(stack->suggests());
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_factor")->value(), 1.0);
    // It is no term of a setting that has others, and A has none.
    stack->Add("pi");
    QCOMPARE(rig.history.current().b.terms.size(), size_t{1});
    QVERIFY(rig.history.current().off_b.empty());
    rig.panel.ShowCardsOf(Side::kA);
    QVERIFY(!stack->suggests() && stack->cards().empty());
  }

  void CardsWriteTheText() {
    Rig rig;
    rig.Find<QDoubleSpinBox>("term_channel_channel")->setValue(215);
    rig.Find<QDoubleSpinBox>("term_channel_factor")->setValue(-0.5);
    rig.Find<QComboBox>("term_channel_layers")->setEditText("3-12");
    rig.Find<QComboBox>("term_channel_rows")->setCurrentText("last");
    rig.panel.stack()->Add("ms-poe");
    rig.Find<QDoubleSpinBox>("term_ms-poe_max")->setValue(2.5);
    rig.Find<QComboBox>("term_ms-poe_mode")->setCurrentText("group");
    rig.Find<QComboBox>("term_ms-poe_order")->setCurrentText("sequential");
    Intervention expected;
    MsPoe ms_poe;
    ms_poe.max = 2.5;
    ms_poe.mode = MsPoeMode::kGroup;
    ms_poe.order = MsPoeOrder::kSequential;
    expected.Add(TermOf(ms_poe));
    expected.Add(TermOf(ChannelScaling{215, -0.5, {false, {{3, 12}}}, {ChannelRows::kLast, 1}}));
    QCOMPARE(rig.TextB(), PrintIntervention(expected));
    QCOMPARE(rig.panel.text(true)->edit()->text().toStdString(), PrintIntervention(expected));
    QVERIFY(rig.history.current().a.empty());
  }

  void TextTurnsTheFields() {
    Rig rig;
    rig.Type(true, "channel(7, factor=0.25, layers=1-4, rows=last:16) + pi(0.8)");
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_channel")->value(), 7.0);
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_factor")->value(), 0.25);
    QCOMPARE(rig.Find<QSlider>("term_channel_factor_slider")->value(), 25);
    QCOMPARE(rig.Find<QComboBox>("term_channel_layers")->currentText(), QString("1-4"));
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_pi_ratio")->value(), 0.8);
  }

  // Fields that have their defaults are shown on request.
  void ACardShowsTheArgumentsThatMatter() {
    Rig rig;
    rig.panel.show();
    auto* rows = rig.Find<QWidget>("term_channel_rows");
    QVERIFY(!rows->isVisible());
    QVERIFY(rig.Find<QWidget>("term_channel_factor")->isVisible());
    rig.Find<TermFields>("card_form_0")->ShowAll(true);
    QVERIFY(rows->isVisible());
  }

  void OneClickTriesASetting() {
    Rig rig;
    rig.Find<QPushButton>("try_0")->click();
    QCOMPARE(rig.history.current().b, ParseIntervention("channel(100, factor=-1, layers=8-25)"));
    rig.Find<QPushButton>("try_1")->click();
    QCOMPARE(rig.history.current().b, ParseIntervention("ms-poe(min=1.2, max=1.8)"));
    rig.Find<QPushButton>("try_2")->click();
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(1.5)"));
    // A model whose channel is not known offers the search.
    ModelConfig other = SettingsRig::Model();
    other.name = "another";
    rig.panel.SetModel(other);
    QSignalSpy searched(&rig.panel, &SettingsPanel::SearchRequested);
    rig.Find<QPushButton>("try_0")->click();
    QCOMPARE(searched.size(), 1);
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
    rig.panel.stack()->SwitchCard(0, true);
    const SettingPair before = rig.history.current();
    auto* slider = rig.Find<QSlider>("term_channel_factor_slider");
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
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_factor")->value(), 1.0);
    rig.history.stack()->redo();
    QCOMPARE(rig.history.current().b.Find<ChannelScaling>()->factor, -1.0);
  }

  void TwoDragsAreTwoSteps() {
    Rig rig;
    rig.panel.stack()->SwitchCard(0, true);
    auto* slider = rig.Find<QSlider>("term_channel_factor_slider");
    for (const int end : {0, -100}) {
      slider->setSliderDown(true);
      slider->setSliderPosition(end / 2 + 10);
      slider->setSliderPosition(end);
      slider->setSliderDown(false);
    }
    rig.history.stack()->undo();
    QCOMPARE(rig.history.current().b.Find<ChannelScaling>()->factor, 0.0);
  }

  void EveryControlHasATooltip() {
    Rig rig;
    for (const QWidget* widget : rig.panel.findChildren<QWidget*>()) {
      const bool control = qobject_cast<const QAbstractButton*>(widget) ||
                           qobject_cast<const QComboBox*>(widget) ||
                           qobject_cast<const QDoubleSpinBox*>(widget);
      if (control && !widget->objectName().isEmpty())
        QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
    }
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SettingsTest)
#include "settings_test.moc"
