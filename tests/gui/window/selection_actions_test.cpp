// SPDX-License-Identifier: MIT
// Actions that choose what panels show, and actions that paint ratios.
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "core/base/error.h"
#include "gui/actions/action_registry.h"
#include "gui/actions/command_palette.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/head_map/ratio_painter.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class SelectionActionsTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    QTemporaryDir folder;
    Selection* selection = window.selection();
    bool Open() {
      Show();
      window.panel<HeadMapPanel>()->painter()->SetFolder(folder.path());
      return OpenModel();
    }
    void Do(const QString& line) { window.actions_list()->Do(line); }
    // The error message of a line; "" if it is accepted.
    QString Refusal(const QString& line) {
      try {
        Do(line);
      } catch (const Error& error) {
        return error.kind() == ErrorKind::kUsage ? QString::fromUtf8(error.what()) : QString();
      }
      return {};
    }
  };

 private Q_SLOTS:
  void WhatTheModelLacksIsRefused() {
    Rig rig;
    QVERIFY(rig.Open());
    const HeadId head = rig.selection->head();
    QVERIFY(rig.Refusal("head L99H99").contains("L0H0 to L5H3"));
    QCOMPARE(rig.selection->head(), head);
    QVERIFY(rig.Refusal("channel 9999").contains("0 to 127"));
    QCOMPARE(rig.session->channel(), int64_t{100});
    // Pins and a head of a session file of a larger model.
    rig.selection->SetPinned({{23, 8}, {1, 1}});
    rig.window.OpenModel("embedded");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.selection->pinned().size(), size_t{1});
  }

  void HeadsArePinned() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("pin L1H2");
    QVERIFY(rig.selection->PinOf({1, 2}));
    rig.Do("pin L1H2");
    QVERIFY(rig.selection->pinned().empty());
    QVERIFY(rig.Refusal("pin L99H0").contains("L0H0 to"));
    QVERIFY(!rig.Refusal("pin nobody").isEmpty());
    for (const char* head : {"L0H0", "L0H1", "L0H2", "L1H0", "L1H1", "L1H2"})
      rig.Do(QStringLiteral("pin ") + head);
    QVERIFY(rig.Refusal("pin L2H0").contains("unpin-all"));
    rig.Do("unpin-all");
    QVERIFY(rig.selection->pinned().empty());
  }

  void TokensAreLockedAndSelected() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("lock-token 2");
    QCOMPARE(rig.selection->locked_token(), int64_t{2});
    rig.Do("range 1:3");
    QCOMPARE(rig.selection->range().begin, int64_t{1});
    QCOMPARE(rig.selection->range().end, int64_t{3});
    for (const char* bad :
         {"range 3", "range 3:3", "range 1:99999", "range a:b", "range 1:2:3", "lock-token 99999"})
      QVERIFY2(!rig.Refusal(bad).isEmpty(), bad);
    QCOMPARE(rig.selection->range().begin, int64_t{1});
    rig.Do("release");
    QCOMPARE(rig.selection->locked_token(), int64_t{-1});
    QVERIFY(rig.selection->range().empty());
  }

  void TheMapShowsAQuantity() {
    Rig rig;
    QVERIFY(rig.Open());
    auto* map = rig.window.panel<HeadMapPanel>();
    rig.Do("quantity gold");
    QCOMPARE(map->quantity_id(), std::string("gold"));
    QVERIFY(rig.Refusal("quantity golden").contains("gold"));
    QCOMPARE(map->quantity_id(), std::string("gold"));
    bool offered = false;
    for (const PaletteItem& item : PaletteItems(*rig.window.actions_list(), "quantity gold", {}))
      offered = offered || item.line == "quantity gold";
    QVERIFY(offered);
    rig.Do("compare-difference");
    QCOMPARE(rig.selection->compare(), Compare::kDifference);
  }

  void RatiosOfHeadsAreSet() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("ratio L2H1=1.5, L0H0=0.8");
    const auto ratio = [&rig](HeadId head) {
      const auto& table = *rig.window.history()->current().b.Find<HeadRatioTable>();
      return table.ratios[static_cast<size_t>(head.layer * table.heads + head.head)];
    };
    QCOMPARE(ratio({2, 1}), 1.5);
    QCOMPARE(ratio({0, 0}), 0.8);
    QCOMPARE(ratio({2, 0}), 1.0);
    QCOMPARE(rig.window.panel<HeadMapPanel>()->quantity_id(), std::string(HeadMapPanel::kRatioId));
    QCOMPARE(rig.window.history()->stack()->undoText(), QString("B: position ratios"));
    // Sets all ratios or none.
    QVERIFY(rig.Refusal("ratio L2H1=2, L99H0=1.5").contains("L99H0"));
    for (const char* bad :
         {"ratio L2H1", "ratio L2H1=x", "ratio =1.5", "ratio L2H1=0", "ratio L2H1=nan"})
      QVERIFY2(!rig.Refusal(bad).isEmpty(), bad);
    QCOMPARE(ratio({2, 1}), 1.5);
    QVERIFY(rig.Settle());
    rig.Do("undo");
    QVERIFY(rig.window.history()->current().b.empty());
    QCOMPARE(rig.window.errors()->messages(), QStringList());
  }

  void AnotherSampleIsRun() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("sample 4");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->live().prompt_request->sample, int64_t{4});
    const int steps = rig.window.history()->stack()->count();
    rig.Do("sample 4");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.window.history()->stack()->count(), steps);
  }

  void WordsOfTheTextAreGold() {
    Rig rig;
    QVERIFY(rig.Open());
    PromptEditor* editor = rig.window.prompt_panel()->editor();
    editor->Load("The sky is blue. Grass is green.");
    rig.Do("gold Grass is green.");
    QCOMPARE(editor->GoldText(), QString("Grass is green."));
    QVERIFY(!rig.Refusal("gold Snow").isEmpty());
    QCOMPARE(editor->GoldText(), QString("Grass is green."));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SelectionActionsTest)
#include "selection_actions_test.moc"
