// SPDX-License-Identifier: MIT
// The terms of a setting as cards: switching off, moving, duplicating, copying, and undo.
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/files/session_file.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/input_boxes.h"
#include "gui/widgets/term_chip.h"
#include "gui/widgets/text_line.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/settings_rig.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class CardsTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : SettingsRig {
    explicit Rig(const std::string& b) {
      panel.resize(380, 700);
      panel.show();
      history.Change({{}, ParseIntervention(b)}, false);
    }
    StackEditor* stack() { return panel.stack(); }
    void Switch(size_t card) {
      QTest::mouseClick(panel.findChild<QCheckBox*>(QStringLiteral("card_on_%1").arg(card)),
                        Qt::LeftButton, {}, QPoint(6, 8));
    }
    // An entry of the card's menu, as it is when the menu is opened.
    QAction* Entry(size_t card, const char* name) {
      QMenu* menu = stack()->chip(card)->menu();
      Q_EMIT menu->aboutToShow();
      for (QAction* action : menu->actions()) {
        if (action->objectName() == QLatin1String(name)) return action;
      }
      return nullptr;
    }
    QStringList Texts() {
      QStringList texts;
      for (size_t i = 0; i < stack()->cards().size(); ++i) {
        texts << (stack()->cards()[i].on ? QString() : QStringLiteral("off: ")) +
                     stack()->chip(i)->text();
      }
      return texts;
    }
  };

 private Q_SLOTS:
  // Otherwise the button would cut both ends of its text.
  void ANarrowCardElidesItsText() {
    TermChip chip(0);
    const QString text = QStringLiteral("channel 100 · factor -1 · layers 8-25");
    chip.ShowTerm(text, text, true, QString());
    chip.resize(180, 30);
    chip.show();
    const QString shown = chip.face()->text();
    QVERIFY2(shown.startsWith("channel") && shown.endsWith(QChar(0x2026)), qPrintable(shown));
    chip.resize(600, 30);
    QCOMPARE(chip.face()->text(), text);
  }

  void CardsHaveNameAndWhatDiffersFromTheDefaults() {
    Rig rig("pi(1.5) + channel(100, factor=-1, layers=8-25) + boost(span=gold, factor=2)");
    QCOMPARE(rig.Texts(), QStringList({"pi 1.5", "channel 100 · factor -1 · layers 8-25",
                                       "boost gold · factor 2"}));
    for (size_t i = 0; i < 3; ++i) {
      QVERIFY(!rig.stack()->chip(i)->face()->accessibleName().isEmpty());
      QVERIFY(!rig.panel.findChild<QWidget*>(QStringLiteral("card_form_%1").arg(i))->isVisible());
    }
    QTest::mouseClick(rig.stack()->chip(1)->face(), Qt::LeftButton);
    QVERIFY(rig.panel.findChild<QWidget*>("card_form_1")->isVisible());
    QTest::keyClick(rig.stack()->chip(0)->face(), Qt::Key_Space);
    QVERIFY(rig.panel.findChild<QWidget*>("card_form_0")->isVisible());
    QTest::mouseClick(rig.stack()->chip(1)->face(), Qt::LeftButton);
    QVERIFY(!rig.panel.findChild<QWidget*>("card_form_1")->isVisible());
    auto* together = rig.panel.findChild<QLabel*>("changes_together");
    QCOMPARE(together->text(), QString("3 act together"));
    rig.Switch(0);
    rig.Switch(1);
    QCOMPARE(together->text(), QString());
    rig.Switch(0);
    rig.Switch(1);
    // A setting of few terms shows all of their forms.
    rig.panel.text(true)->Enter("pi(1.5)");
    QVERIFY(rig.panel.findChild<QWidget*>("card_form_0")->isVisible());
  }

  void ATermThatIsOffIsKeptAndNotRun() {
    Rig rig("pi(1.5) + crop(span=gold, layers=0-1) + crop(span=gold, layers=2-3)");
    rig.Switch(1);
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(1.5) + crop(span=gold, layers=2-3)"));
    QVERIFY(!rig.panel.text(true)->edit()->text().contains("0-1"));
    QCOMPARE(rig.Texts(),
             QStringList({"pi 1.5", "off: crop gold · layers 0-1", "crop gold · layers 2-3"}));
    // Other changes of the setting do not affect a switched-off term; switched on, it returns to
    // its place.
    rig.panel.text(true)->Enter("pi(2) + crop(span=gold, layers=2-3)");
    QCOMPARE(rig.stack()->cards().size(), size_t{3});
    rig.Switch(1);
    QCOMPARE(
        rig.history.current().b,
        ParseIntervention("pi(2) + crop(span=gold, layers=0-1) + crop(span=gold, layers=2-3)"));
    QVERIFY(rig.history.current().off_b.empty());
    for (int i = 0; i < 3; ++i) rig.history.stack()->undo();
    QCOMPARE(
        rig.history.current().b,
        ParseIntervention("pi(1.5) + crop(span=gold, layers=0-1) + crop(span=gold, layers=2-3)"));
    rig.history.stack()->redo();
    QCOMPARE(rig.stack()->cards()[1].on, false);
  }

  // A drag is one undo step; its end is emitted, so that postponed runs start.
  void AnArgumentHasASliderWhereItsDescriptionSaysSo() {
    Rig rig("pi(1.5)");
    QSignalSpy changed(&rig.panel, &SettingsPanel::Changed);
    auto* slider = rig.panel.findChild<QWidget*>("card_form_0")->findChild<QSlider*>();
    QVERIFY(slider);
    QCOMPARE(slider->value(), 150);
    const int steps = rig.history.stack()->index();
    slider->setSliderDown(true);
    for (const int value : {160, 170, 200}) slider->setValue(value);
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(2)"));
    QVERIFY(changed.last()[1].toBool());
    slider->setSliderDown(false);
    QVERIFY(!changed.last()[1].toBool());
    QCOMPARE(rig.history.stack()->index(), steps + 1);
    rig.history.stack()->undo();
    QCOMPARE(slider->value(), 150);
    // The box accepts values outside the slider's range.
    rig.panel.text(true)->Enter("pi(7)");
    QCOMPARE(slider->value(), slider->maximum());
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(7)"));
  }

  // At most one scheme is in force; the other is kept, switched off.
  void ASchemeThatIsSwitchedOnSwitchesTheOtherOff() {
    Rig rig("pi(1.5)");
    rig.Switch(0);
    QVERIFY(rig.history.current().b.empty());
    rig.stack()->Add("ms-poe");
    QCOMPARE(rig.stack()->cards().size(), size_t{2});
    rig.Switch(0);
    QCOMPARE(rig.history.current().b, ParseIntervention("pi(1.5)"));
    QCOMPARE(rig.history.current().off_b.size(), size_t{1});
    QVERIFY(rig.history.current().off_b[0].text.find("ms-poe") == 0);
  }

  // Editing a switched-off term changes the stored term, as a separate undo step.
  void ATermThatIsOffIsEdited() {
    Rig rig("boost(span=gold, factor=2)");
    rig.Switch(0);
    const int steps = rig.history.stack()->count();
    rig.panel.findChild<NumberBox*>("term_boost_factor")->setValue(3.5);
    QVERIFY(rig.history.current().b.empty());
    QVERIFY(rig.history.current().off_b[0].text.find("factor=3.5") != std::string::npos);
    QCOMPARE(rig.history.stack()->count(), steps + 1);
    QCOMPARE(rig.history.stack()->undoText(), QString("B: a term that is off"));
    QTest::keyClick(rig.stack()->chip(0)->face(), Qt::Key_Delete);
    QVERIFY(rig.stack()->cards().empty());
    rig.history.stack()->undo();
    QCOMPARE(rig.Texts(), QStringList({"off: boost gold · factor 3.5"}));
  }

  void CardsAreDraggedAmongTheirKind() {
    Rig rig(
        "pi(1.5) + crop(span=gold, layers=0-1) + crop(span=gold, layers=2-3) + "
        "crop(span=gold, layers=4-5)");
    const auto drag = [&rig](size_t from, size_t to) {
      QWidget* face = rig.stack()->chip(from)->face();
      const QPoint target = rig.stack()->chip(to)->mapToGlobal(QPoint(5, 5));
      QTest::mousePress(face, Qt::LeftButton, {}, QPoint(4, 4));
      for (const QPoint& at : {face->mapToGlobal(QPoint(40, 4)), target}) {
        QMouseEvent move(QEvent::MouseMove, face->mapFromGlobal(at), at, Qt::NoButton,
                         Qt::LeftButton, {});
        QApplication::sendEvent(face, &move);
      }
      QMouseEvent release(QEvent::MouseButtonRelease, face->mapFromGlobal(target), target,
                          Qt::LeftButton, Qt::NoButton, {});
      QApplication::sendEvent(face, &release);
    };
    QApplication::processEvents();
    drag(3, 1);
    QCOMPARE(rig.history.current().b.Find<Crop>()->layers.Text(), std::string("4-5"));
    QCOMPARE(rig.history.current().b.All<Crop>().back().layers.Text(), std::string("2-3"));
    // A drag does not open the form, and has no effect between kinds.
    for (size_t i = 0; i < 4; ++i) QVERIFY(!rig.stack()->chip(i)->open());
    const SettingPair before = rig.history.current();
    drag(1, 0);
    QCOMPARE(rig.history.current(), before);
    QTest::keyClick(rig.stack()->chip(1)->face(), Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(rig.history.current().b.All<Crop>()[1].layers.Text(), std::string("4-5"));
    rig.history.stack()->undo();
    rig.history.stack()->undo();
    QCOMPARE(rig.history.current().b.Find<Crop>()->layers.Text(), std::string("0-1"));
  }

  void CardsAreDuplicated() {
    Rig rig("pi(1.5) + crop(span=gold, layers=0-1)");
    QTest::keyClick(rig.stack()->chip(1)->face(), Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(rig.history.current().b.All<Crop>().size(), size_t{2});
    // A second scheme cannot be in force, so the copy is switched off.
    rig.Entry(0, "card_duplicate")->trigger();
    QCOMPARE(rig.Texts().mid(0, 2), QStringList({"pi 1.5", "off: pi 1.5"}));
    QVERIFY(rig.Entry(0, "card_copy_A"));
    rig.Entry(0, "card_copy_A")->trigger();
    QCOMPARE(rig.history.current().a, ParseIntervention("pi(1.5)"));
    rig.history.stack()->undo();
    QVERIFY(rig.history.current().a.empty());
  }

  void TheCardsOfAAreEdited() {
    Rig rig("pi(1.5)");
    QTest::mouseClick(rig.panel.findChild<QToolButton*>("cards_of_a"), Qt::LeftButton);
    QVERIFY(rig.stack()->cards().empty());
    rig.stack()->Add("ms-poe");
    QVERIFY(rig.history.current().a.Find<MsPoe>() != nullptr);
    rig.Switch(0);
    QVERIFY(rig.history.current().a.empty());
    QCOMPARE(rig.history.current().off_a.size(), size_t{1});
    QVERIFY(rig.history.current().off_b.empty());
    QTest::mouseClick(rig.panel.findChild<QWidget*>("swap"), Qt::LeftButton);
    QCOMPARE(rig.history.current().off_b.size(), size_t{1});
    QCOMPARE(rig.history.current().a, ParseIntervention("pi(1.5)"));
  }

  void RangesAreTheModels() {
    Rig rig("channel(100, factor=-1, layers=8-25)");
    auto* channel = rig.panel.findChild<NumberBox*>("term_channel_channel");
    QCOMPARE(channel->maximum(), 575.0);
    auto* layers = rig.panel.findChild<QComboBox*>("term_channel_layers");
    QVERIFY(layers->findText("15-29") >= 0);
    QVERIFY2(layers->toolTip().contains("0-29"), qPrintable(layers->toolTip()));
    // A channel that the model lacks is shown unchanged, and marked.
    rig.panel.text(true)->Enter("channel(2393, factor=0)");
    QCOMPARE(rig.panel.findChild<NumberBox*>("term_channel_channel")->value(), 2393.0);
    QTRY_VERIFY2(rig.stack()->chip(0)->warning().contains("2393"),
                 qPrintable(rig.stack()->chip(0)->warning()));
    rig.panel.text(true)->Enter("channel(100, factor=0)");
    QTRY_VERIFY(rig.stack()->chip(0)->warning().isEmpty());
  }

  void SessionFilesKeepWhatIsOff() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.window.SetSetting(Side::kB, "pi(1.5) + temperature(L1H2, 1.5)");
    StackEditor* stack = rig.window.settings()->stack();
    stack->SwitchCard(1, false);
    QTemporaryDir folder;
    const QString path = folder.filePath("work.midscope");
    rig.window.files()->SaveSession(path);
    const SettingPair saved = ReadSessionFile(path).settings;
    QCOMPARE(saved, rig.window.history()->current());
    QCOMPARE(saved.off_b.size(), size_t{1});
    rig.window.history()->Change({}, false);
    QVERIFY(stack->cards().empty());
    rig.window.OpenPath(path);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.window.errors()->messages(), QStringList());
    QCOMPARE(stack->cards().size(), size_t{2});
    QCOMPARE(rig.window.history()->current(), saved);
    // An invalid term is rejected with the file's name; files without switched-off terms have the
    // same text as before.
    QVERIFY(!QString::fromStdString(SessionText(SavedSession())).contains("_off"));
    std::string bad = SessionText(SavedSession());
    bad.insert(bad.find("\"setting_a\""), "\"setting_b_off\": [{\"term\": \"pie(2)\"}], ");
    try {
      ParseSession(bad, "work.midscope");
      QFAIL("read");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains("work.midscope"), error.what());
      QVERIFY2(QString(error.what()).contains("pie"), error.what());
    }
  }

  void CardsAreCopiedIntoKeptSettings() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.window.SetSetting(Side::kB, "pi(1.5) + temperature(L1H2, 1.5)");
    QVERIFY(rig.Settle());
    StackEditor* stack = rig.window.settings()->stack();
    Q_EMIT stack->CopyRequested("pi(ratio=1.5)", "C");
    QCOMPARE(QString::fromStdString(rig.window.tried()->TextOf(0)), QString("pi(1.5)"));
    Q_EMIT stack->CopyRequested("temperature(L1H2, 2)", "C");
    QVERIFY(rig.window.tried()->TextOf(0).find("temperature") != std::string::npos);
    rig.window.history()->stack()->undo();
    QCOMPARE(QString::fromStdString(rig.window.tried()->TextOf(0)), QString("pi(1.5)"));
    rig.window.history()->stack()->undo();
    QVERIFY(rig.window.tried()->TextOf(0).empty());
    QCOMPARE(rig.window.errors()->messages(), QStringList());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::CardsTest)
#include "cards_test.moc"
