// SPDX-License-Identifier: MIT
// Names of settings, and which of A to F the outcome draws.
#include <QLabel>
#include <QLineEdit>
#include <QTableWidget>
#include <QTest>
#include <QToolButton>

#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/base/display_text.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/text_line.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class SettingMarksTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    bool Open() {
      Show();
      return OpenModel() && Try("pi(1.5)");
    }
    bool Try(const char* setting) {
      window.history()->Change({{}, ParseIntervention(setting)}, false);
      return Settle();
    }
    QStringList LineNames() {
      session->FlushChanges();
      QStringList names;
      for (const auto& line : window.panel<OutcomePanel>()->plot()->lines()) names << line.name;
      return names;
    }
    void Do(const char* command) { window.actions_list()->Do(QString::fromLatin1(command)); }
    QString NameOfB() {
      session->FlushChanges();
      return NameOf(*session, Side::kB, session->record(Side::kB, "outcome")).text;
    }
  };

 private Q_SLOTS:
  void ANameStandsInLegendsChipsHistoryAndUndo() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("name-setting B paper");
    QCOMPARE(rig.NameOfB(), QString("B: paper"));
    QVERIFY2(rig.LineNames().contains("B “paper”, this sample"),
             qPrintable(rig.LineNames().join(", ")));
    QCOMPARE(rig.Find<QToolButton>("chip_b")->text(), QString("B “paper”"));
    QCOMPARE(rig.window.settings()->text(true)->findChild<QLabel*>()->text(), QString("B “paper”"));
    rig.Do("panel history");
    QTest::qWait(20);
    auto* table = rig.Find<QTableWidget>("history_table");
    QCOMPARE(table->item(0, 6)->text(), QString("paper"));
    // The name belongs to this setting: another setting has none, and it reappears with its
    // setting.
    QVERIFY(rig.Try("pi(2)"));
    QCOMPARE(rig.NameOfB(), QString("B: pi(2)"));
    QVERIFY(rig.Try("pi(1.5)"));
    QCOMPARE(rig.window.history()->stack()->undoText(), QString("B: “paper”"));
    QCOMPARE(rig.NameOfB(), QString("B: paper"));
    for (int i = 0; i < 3; ++i) rig.window.history()->stack()->undo();
    QVERIFY(rig.Settle());
    QCOMPARE(rig.NameOfB(), QString("B: pi(1.5)"));
  }

  void ANameIsTypedIntoTheHistory() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("panel history");
    QTest::qWait(20);
    auto* table = rig.Find<QTableWidget>("history_table");
    QCOMPARE(table->item(0, 1)->text(), QString("pi(1.5)"));
    table->item(0, 6)->setText("mine");
    QCOMPARE(rig.session->marks()->Name("pi(1.5)"), QString("mine"));
    QCOMPARE(rig.NameOfB(), QString("B: mine"));
  }

  void AClickLeavesOutAndADoubleClickShowsAlone() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.window.tried()->Keep("pi(1.5)", true));
    QVERIFY(rig.Try("pi(2)"));
    const QStringList all = {"A, this sample", "B, this sample", "C, this sample"};
    QCOMPARE(rig.LineNames(), all);
    QTest::mouseClick(rig.Find<QToolButton>("chip_a"), Qt::LeftButton);
    QCOMPARE(rig.LineNames(), (QStringList{"B, this sample", "C, this sample"}));
    QTest::mouseClick(rig.Find<QToolButton>("chip_a"), Qt::LeftButton);
    QCOMPARE(rig.LineNames(), all);
    const auto double_click = [&rig](const char* chip) {
      auto* button = rig.Find<QToolButton>(chip);
      QTest::mouseClick(button, Qt::LeftButton);
      QTest::mouseDClick(button, Qt::LeftButton);
    };
    double_click("chip_c");
    QCOMPARE(rig.LineNames(), QStringList{"C, this sample"});
    QVERIFY(!rig.Find<QToolButton>("chip_b")->isChecked());
    double_click("chip_c");
    QCOMPARE(rig.LineNames(), all);
    rig.Do("draw-setting B");
    QCOMPARE(rig.LineNames(), (QStringList{"A, this sample", "C, this sample"}));
  }

  void ASessionKeepsNamesAndWhatIsLeftOut() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("name-setting B paper");
    rig.Do("draw-setting A");
    const SavedSession saved =
        ParseSession(SessionText(rig.window.files()->session()), "test.midscope");
    Rig other;
    QVERIFY(other.Open());
    other.window.files()->Apply(saved);
    QVERIFY(other.Settle());
    QCOMPARE(other.NameOfB(), QString("B: paper"));
    QVERIFY(!other.session->marks()->Draws(0));
    QVERIFY(other.session->marks()->Draws(1));
    QCOMPARE(other.LineNames(), QStringList{"B “paper”, this sample"});
  }

  void FoldersAreLeftOutOfLabels() {
    QCOMPARE(WithoutFolders("ratios(/home/me/a b/r.json, shuffle=2) + pi(2)"),
             QString("ratios(r.json, shuffle=2) + pi(2)"));
    QCOMPARE(WithoutFolders("none"), QString("none"));
    QCOMPARE(WithoutFolders("boost(gold, 1/2)"), QString("boost(gold, 1/2)"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SettingMarksTest)
#include "setting_marks_test.moc"
