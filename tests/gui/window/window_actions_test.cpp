// SPDX-License-Identifier: MIT
// The window's actions by id, its menus, help and scripts.
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <algorithm>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/action_script.h"
#include "gui/actions/command_palette.h"
#include "gui/base/appearance.h"
#include "gui/files/session_file.h"
#include "gui/help/help_window.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/setting_history.h"
#include "gui/top_bar.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class WindowActionsTest : public QObject {
  Q_OBJECT

 private:
  static QString Status(MainWindow& window, const QStringList& lines, int* status) {
    ActionScript script(&window, lines);
    QString why;
    bool ended = false;
    connect(&script, &ActionScript::Finished, &script, [&] { ended = true; });
    connect(&script, &ActionScript::Failed, &script, [&](const QString& failure, int code) {
      why = failure;
      *status = code;
      ended = true;
    });
    script.Start();
    const bool in_time = QTest::qWaitFor([&] { return ended; }, 60000);
    return in_time ? why : QStringLiteral("it did not end");
  }

 private Q_SLOTS:
  void APictureThatCannotBeWrittenHasARemedy() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    int status = 0;
    const QString why = Status(rig.window, {"screenshot no-such-folder/x.png"}, &status);
    QVERIFY2(why.contains("no-such-folder/x.png") && why.contains("existing folder"),
             qPrintable(why));
    QCOMPARE(status, 1);
  }

  void TheModeOfOwnTextOpensOnTheText() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.actions_list()->Do("layout-text");
    QCOMPARE(rig.window.prompt_panel()->fields().page, 1);
    rig.window.actions_list()->Do("layout-explore");  // without a text, the task returns
    QCOMPARE(rig.window.prompt_panel()->fields().page, 0);
  }

  void NamesOfTwoModelsKeepTheirEnds() {
    WindowRig<> rig;
    rig.Show();
    auto* bar = rig.Find<TopBar>("top_bar");
    bar->ShowModel("SmolLM2-135M-Instruct@init:1 | SmolLM2-135M-Instruct@init:2");
    const QString text = rig.Find<QToolButton>("top_model")->text();
    QVERIFY2(text.contains("t:1 | Sm") && text.endsWith("t:2"), qPrintable(text));
  }

  void TheFieldOfASettingExplainsTheRowsThatItPrints() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.window.actions_list()->Do("setting-b channel(100, factor=-1)");
    const auto* field = rig.Find<QLineEdit>("text_B");
    QVERIFY(field->text().contains("rows=answer"));
    QVERIFY2(field->toolTip().contains("rows=answer changes"), qPrintable(field->toolTip()));
  }

  void IdsAreWordsAndEveryActionHasHelp() {
    WindowRig<> rig;
    const QRegularExpression words("^[a-z0-9]+(-[a-z0-9]+)*$");
    for (const ActionRegistry::Item& item : rig.window.actions_list()->items()) {
      const QString& id = item.entry.id;
      QVERIFY2(words.match(id).hasMatch(), qPrintable(id));
      QVERIFY2(!item.entry.title.isEmpty() && !item.entry.help.isEmpty(), qPrintable(id));
    }
  }

  void NoShortcutIsTakenTwice() {
    WindowRig<> rig;
    QMap<QString, QString> owners;
    for (const ActionRegistry::Item& item : rig.window.actions_list()->items()) {
      const QString keys = item.action->shortcut().toString();
      if (keys.isEmpty()) continue;
      QVERIFY2(!owners.contains(keys), qPrintable(owners[keys] + ", " + item.entry.id));
      owners[keys] = item.entry.id;
    }
  }

  void MenusHaveTheirActions() {
    WindowRig<> rig;
    for (const char* name : {"file", "edit", "run", "view", "help"}) {
      auto* menu = rig.Find<QMenu>(qPrintable(QStringLiteral("menu_") + name));
      QVERIFY2(menu && !menu->actions().isEmpty(), name);
    }
    int shown = 0;
    for (const ActionRegistry::Item& item : rig.window.actions_list()->items()) {
      if (item.entry.menu.isEmpty()) continue;
      auto* menu = rig.Find<QMenu>(qPrintable(QStringLiteral("menu_") + item.entry.menu));
      QVERIFY2(menu && menu->actions().contains(item.action), qPrintable(item.entry.id));
      ++shown;
    }
    QVERIFY(shown > 30);
  }

  void ActionsChangeTheWindow() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    ActionRegistry* actions = rig.window.actions_list();
    actions->Do("head L3H2");
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), (HeadId{3, 2}));
    actions->Do("channel 4");
    QCOMPARE(rig.session->channel(), int64_t{4});
    actions->Do("setting-b pi(1.5)");
    QCOMPARE(PrintIntervention(rig.window.history()->current().b), std::string("pi(1.5)"));
    QVERIFY(rig.Settle());
    actions->Do("swap-settings");
    QCOMPARE(PrintIntervention(rig.window.history()->current().a), std::string("pi(1.5)"));
    actions->Do("undo");
    QCOMPARE(PrintIntervention(rig.window.history()->current().b), std::string("pi(1.5)"));
    actions->Do("place 9");
    QCOMPARE(rig.session->place(), size_t{3});
    QVERIFY_EXCEPTION_THROWN(actions->Do("place 2"), Error);
    actions->Do("layout-parts");
    QCOMPARE(rig.window.docks()->layout_id(), QString("parts"));
  }

  void TheAppearanceSetsThePalette() {
    WindowRig<> rig;
    rig.window.actions_list()->Do("appearance dark");
    QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 100);
    QVERIFY(QApplication::palette().color(QPalette::WindowText).lightness() > 150);
    // A field on a dark sheet has a frame that is seen.
    QLineEdit field;
    field.resize(80, 30);
    const QImage drawn = field.grab().toImage();
    float most = 0;
    for (int x = 0; x < 3; ++x) {
      const float frame = drawn.pixelColor(x, drawn.height() / 2).lightnessF();
      most = std::max(most, frame - drawn.pixelColor(drawn.rect().center()).lightnessF());
    }
    QVERIFY2(most > 0.15F, qPrintable(QString::number(most)));
    rig.window.actions_list()->Do("appearance light");
    QVERIFY(QApplication::palette().color(QPalette::Window).lightness() > 200);
    SetAppearance(Appearance::kDesktop);
  }

  void EveryHelpPageHasText() {
    WindowRig<> rig;
    rig.Show();
    for (const HelpPage& page : HelpPages()) {
      rig.window.actions_list()->Do(QStringLiteral("help-") + page.id);
      const auto* help = rig.Find<HelpWindow>("help_window");
      QVERIFY(help && help->isVisible());
      QVERIFY2(help->text()->toPlainText().size() > 80, qPrintable(page.id));
    }
    rig.window.actions_list()->Do("help-shortcuts");
    const QString keys = rig.Find<HelpWindow>("help_window")->text()->toPlainText();
    for (const ActionRegistry::Item& item : rig.window.actions_list()->items())
      QVERIFY2(keys.contains(item.entry.id), qPrintable(item.entry.id));
    rig.window.actions_list()->Do("help-methods");
    QVERIFY(rig.Find<HelpWindow>("help_window")->text()->toPlainText().contains("2403.04797"));
  }

  void AScriptWaitsForTheNumbersThatItAskedFor() {
    WindowRig<> rig;
    rig.Show();
    rig.window.OpenModel("embedded");
    QTemporaryDir folder;
    const QString picture = folder.filePath("out.svg");
    int status = 0;
    const QString why =
        Status(rig.window,
               {"setting-b pi(1.5)", "head L3H2", "export " + picture, "layout-samples"}, &status);
    QVERIFY2(why.isEmpty(), qPrintable(why));
    QFile file(picture);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString svg = QString::fromUtf8(file.readAll());
    QVERIFY(svg.contains("L3H2"));
    QVERIFY(QFile::exists(folder.filePath("out.csv")));
    QVERIFY(rig.session->settled(Side::kB));
  }

  void AScriptEndsAtItsFirstError() {
    WindowRig<> rig;
    rig.Show();
    rig.window.OpenModel("embedded");
    int status = 0;
    QString why = Status(rig.window, {"head L1H1", "haed L2H2", "head L3H3"}, &status);
    QVERIFY2(why.contains("Did you mean 'head'?"), qPrintable(why));
    QCOMPARE(status, 2);
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), (HeadId{1, 1}));
    why = Status(rig.window, {"export /dev/null/nowhere/x.svg"}, &status);
    QVERIFY(!why.isEmpty());
    QCOMPARE(status, 1);
  }

  void TheLastWorkIsReopened() {
    QTemporaryDir folder;
    const QString file = folder.filePath("window.ini");
    {
      WindowRig<> rig;
      rig.window.Remember(file);
      rig.Show();
      QVERIFY_EXCEPTION_THROWN(rig.window.actions_list()->Do("reopen-last"), Error);
      QVERIFY(rig.OpenModel());
      rig.window.history()->Change({{}, ParseIntervention("pi(1.5)")}, false);
      QVERIFY(rig.Settle());
      rig.window.close();
    }
    for (int start = 0; start < 2; ++start) {
      // The second window restores what the first has open without closing it, as after a crash.
      WindowRig<> rig;
      rig.window.Remember(file);
      rig.Show();
      QVERIFY(rig.window.history()->current().b.empty());
      rig.window.actions_list()->Do("reopen-last");
      QVERIFY(rig.Settle());
      QCOMPARE(PrintIntervention(rig.window.history()->current().b), std::string("pi(1.5)"));
      const QString last = folder.filePath("last.midscope");
      QVERIFY(QTest::qWaitFor([&] { return QFile::exists(last); }, 6000));
    }
  }

  // The session object does not contain switched-off terms.
  void ATermThatIsOffIsKeptAtOnce() {
    QTemporaryDir folder;
    WindowRig<> rig;
    rig.window.Remember(folder.filePath("window.ini"));
    rig.Show();
    QVERIFY(rig.OpenModel());
    const QString last = folder.filePath("last.midscope");
    QVERIFY(QTest::qWaitFor([&] { return QFile::exists(last); }, 6000));
    QTest::qWait(300);
    SettingPair next = rig.window.history()->current();
    next.off_b.push_back({"pi(2)", 0});
    rig.window.history()->Change(next, false);
    const auto kept = [&last] { return ReadSessionFile(last).settings.off_b.size(); };
    QVERIFY(QTest::qWaitFor([&] { return kept() == 1; }, 6000));
  }

  void GeometryLayoutAndRecentActionsAreRemembered() {
    QTemporaryDir folder;
    const QString file = folder.filePath("window.ini");
    QByteArray layout;
    {
      WindowRig<> rig;
      rig.window.Remember(file);
      rig.window.show();
      rig.window.resize(796, 700);  // it fits this platform's screen
      rig.window.actions_list()->Do("layout-parts");
      rig.window.actions_list()->Do("appearance dark");
      QTest::qWait(50);
      layout = rig.window.docks()->State();
      rig.window.close();
    }
    WindowRig<> rig;
    rig.window.Remember(file);
    rig.window.show();
    QCOMPARE(rig.window.size(), QSize(796, 700));
    QVERIFY(rig.window.palette_of_actions()->recent().contains("layout-parts"));
    QCOMPARE(CurrentAppearance(), Appearance::kDark);
    QTRY_VERIFY(!rig.window.docks()->Find("scan")->visibleRegion().isEmpty());
    SetAppearance(Appearance::kDesktop);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::WindowActionsTest)
#include "window_actions_test.moc"
