// SPDX-License-Identifier: MIT
// Actions run from lines of text, and the items that the command palette lists for a text.
#include <QAction>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QWidget>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "gui/actions/command_palette.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class PaletteItemsTest : public QObject {
  Q_OBJECT

 private:
  // A registry of four actions, which record how they were run.
  struct Registered {
    QWidget window;
    ActionRegistry registry{&window};
    QStringList runs;

    Registered() {
      window.resize(800, 600);
      const auto note = [this](const char* id) {
        return [this, id](const QString& text) {
          runs << QString::fromLatin1(id) + QLatin1Char(':') + text;
        };
      };
      Parameter head = TextParameter("head", "a head, such as L12H3");
      head.kind = ParameterKind::kHeads;
      registry.Add("save-results", "file", "&Save results…", "Writes",
                   {.shortcut = QKeySequence(Qt::CTRL | Qt::Key_S),
                    .argument = TextParameter("file", "path")},
                   note("save-results"));
      registry.Add("head", "view", "&Head…", "Shows a head", {.argument = Required(head)},
                   note("head"));
      registry.Add("channel", "view", "Channel…", "Shows a channel",
                   {.argument = Required(WholeNumberParameter("channel", "a number", 0, 1000))},
                   note("channel"));
      registry.Add("panel", "view", "Panel…", "To the front",
                   {.argument = Required(ChoiceParameter("panel", "one", {"outcome", "head-map"})),
                    .offers =
                        [] {
                          return QStringList{"outcome", "head-map"};
                        }},
                   note("panel"));
    }
    QString ErrorOf(const QString& line) {
      try {
        registry.Do(line);
      } catch (const Error& error) {
        return QString::fromUtf8(error.what());
      }
      return {};
    }
    QStringList Lines(const QString& text, const QStringList& recent = {}) {
      QStringList lines;
      for (const PaletteItem& item : PaletteItems(registry, text, recent)) lines << item.line;
      return lines;
    }
  };

 private Q_SLOTS:
  void LinesRunActions() {
    Registered rig;
    QSignalSpy done(&rig.registry, &ActionRegistry::Done);
    rig.registry.Do("head L12H3");
    rig.registry.Do("  save-results ");
    rig.registry.Do("save-results a b.h5");
    QCOMPARE(rig.runs, (QStringList{"head:L12H3", "save-results:", "save-results:a b.h5"}));
    QCOMPARE(done.size(), 3);
    QCOMPARE(done[2][0].toString(), QString("save-results a b.h5"));
  }

  void WhatIsRefusedIsNamed() {
    Registered rig;
    QVERIFY(rig.ErrorOf("haed L1H1").contains("Did you mean 'head'?"));
    QVERIFY(rig.ErrorOf("head").contains("its argument is missing: a head"));
    QVERIFY(rig.ErrorOf("channel 5000").contains("out of range"));
    QVERIFY(rig.ErrorOf("panel outcme").contains("Did you mean 'outcome'?"));
    rig.registry.Find("save-results")->action->setEnabled(false);
    QVERIFY(rig.ErrorOf("save-results").contains("cannot be done now"));
    QVERIFY(rig.runs.isEmpty());
  }

  void ScriptsAreSplitAtSemicolons() {
    QCOMPARE(ActionRegistry::SplitScript(" head L1H2;; export a b.svg ; quit"),
             (QStringList{"head L1H2", "export a b.svg", "quit"}));
  }

  void AMenuAsksForAMissingArgument() {
    Registered rig;
    QSignalSpy asked(&rig.registry, &ActionRegistry::ArgumentRequested);
    rig.registry.Find("head")->action->trigger();
    QCOMPARE(asked.size(), 1);
    QVERIFY(rig.runs.isEmpty());
    rig.registry.Find("save-results")->action->trigger();
    QCOMPARE(rig.runs, QStringList{"save-results:"});
  }

  void AHeadOrAnIdWithItsArgumentComesFirst() {
    Registered rig;
    QCOMPARE(rig.Lines("L12H3").first(), QString("head L12H3"));
    QCOMPARE(rig.Lines("channel 100").first(), QString("channel 100"));
    QCOMPARE(rig.Lines("outc").first(), QString("panel outcome"));
    QCOMPARE(rig.Lines("save").first(), QString("save-results"));
    QVERIFY(rig.Lines("xyzzy").isEmpty());
  }

  void RecentLinesComeFirstOfAll() {
    Registered rig;
    QCOMPARE(rig.Lines(QString()).first(), QString("save-results"));
    QCOMPARE(rig.Lines(QString(), {"head", "channel"}).mid(0, 2),
             (QStringList{"head ", "channel "}));
  }

  void LettersMatchInOrderAndWordsFirst() {
    QVERIFY(MatchScore("sr", "Save results") > MatchScore("sr", "Least reliable"));
    QVERIFY(MatchScore("sz", "Save results") < 0);
    QVERIFY(MatchScore("save", "Save results") > MatchScore("save", "Do save"));
    // The first s begins a word, but no t follows it in that word.
    QVERIFY(MatchScore("st", "last sample") >= 0);
  }

  void EnterRunsTheChosenOneAndEscLeaves() {
    Registered rig;
    CommandPalette palette(&rig.registry, &rig.window);
    rig.window.show();
    palette.Open();
    QTest::keyClicks(palette.line(), "L2H1");
    QTest::keyClick(palette.line(), Qt::Key_Return);
    QCOMPARE(rig.runs, QStringList{"head:L2H1"});
    QVERIFY(!palette.isVisible());
    QCOMPARE(palette.recent(), QStringList{"head L2H1"});
    // Choosing an action without its argument inserts its name into the line.
    palette.Open();
    QTest::keyClicks(palette.line(), "Channel");
    QTest::keyClick(palette.line(), Qt::Key_Return);
    QCOMPARE(palette.line()->text(), QString("channel "));
    QTest::keyClicks(palette.line(), "7");
    QTest::keyClick(palette.line(), Qt::Key_Return);
    QCOMPARE(rig.runs.last(), QString("channel:7"));
    palette.Open();
    QTest::keyClick(palette.line(), Qt::Key_Down);
    QTest::keyClick(palette.line(), Qt::Key_Escape);
    QVERIFY(!palette.isVisible());
    QCOMPARE(rig.runs.size(), 2);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PaletteItemsTest)
#include "palette_items_test.moc"
