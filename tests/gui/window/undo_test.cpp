// SPDX-License-Identifier: MIT
// Undo and redo of everything that the user chooses or writes, in one order, without runs if the
// numbers were shown before.
#include <QAction>
#include <QCheckBox>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "gui/actions/action_registry.h"
#include "gui/files/session_file.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class UndoTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    QUndoStack* stack = window.history()->stack();
    PromptEditor* editor = window.prompt_panel()->editor();
    void Do(const QString& line) { window.actions_list()->Do(line); }
    QString UndoText() { return stack->undoText(); }
    bool Open() {
      Show();
      return OpenModel();
    }
  };

 private Q_SLOTS:
  void PinsComeBackWithTheirColours() {
    Rig rig;
    QVERIFY(rig.Open());
    Selection* selection = rig.window.selection();
    for (const int64_t head : {0, 1, 2}) selection->TogglePin({1, head});
    const std::vector<PinnedHead> three = selection->pinned();
    selection->TogglePin({1, 0});
    QCOMPARE(rig.UndoText(), QString("unpin L1H0"));
    const std::vector<PinnedHead> two = selection->pinned();
    rig.Do("undo");
    QCOMPARE(selection->pinned(), three);
    QCOMPARE(rig.UndoText(), QString("pin L1H2"));
    rig.Do("redo");
    QCOMPARE(selection->pinned(), two);
    for (int step = 0; step < 4; ++step) rig.Do("undo");
    QVERIFY(selection->pinned().empty());
    QVERIFY(!rig.stack->canUndo());
    // Choosing a head is not a step.
    rig.Do("head L2H1");
    QVERIFY(!rig.stack->canUndo());
    // The menu names the step.
    selection->TogglePin({2, 1});
    bool named = false;
    for (const QAction* action : rig.window.findChildren<QAction*>())
      named = named || action->text().endsWith("pin L2H1");
    QVERIFY(named);
  }

  void APlaceComesBackWithoutARun() {
    Rig rig;
    QVERIFY(rig.Open());
    const size_t first = rig.session->place();
    const QString attention = QString::fromStdString(
        AttributeText(*rig.session->record(Side::kA, kLastQueryAttention), "prompt_hash"));
    rig.Do("place 9");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->place(), size_t{3});
    QCOMPARE(rig.UndoText(), QString("place 9"));
    const size_t runs = rig.control->capture_runs();
    const size_t what_ifs = rig.control->what_ifs().size();
    rig.Do("undo");
    QCOMPARE(rig.session->place(), first);
    QVERIFY(rig.session->settled(Side::kA));
    QVERIFY(
        rig.session->IsRequested(Side::kA, *rig.session->record(Side::kA, kLastQueryAttention)));
    QCOMPARE(QString::fromStdString(
                 AttributeText(*rig.session->record(Side::kA, kLastQueryAttention), "prompt_hash")),
             attention);
    rig.Do("redo");
    QVERIFY(rig.session->settled(Side::kA));
    QTest::qWait(50);
    QVERIFY(!rig.session->has_pending_request());
    QCOMPARE(rig.control->capture_runs(), runs);
    QCOMPARE(rig.control->what_ifs().size(), what_ifs);
    // Under a setting that was never run at that place, it is run.
    rig.Do("setting-b pi(1.5)");
    QVERIFY(rig.Settle());
    const size_t with_b = rig.control->capture_runs();
    rig.window.choices()->ChoosePlace(first);
    QVERIFY(rig.Settle());
    QVERIFY(rig.session->settled(Side::kB));
    QCOMPARE(rig.control->capture_runs(), with_b + 1);  // a run of B alone
  }

  void TheChannelComesBackWithItsLink() {
    Rig rig;
    QVERIFY(rig.Open());
    auto* box = rig.Find<QSpinBox>("shown_channel");
    const int before = box->value();
    const bool linked = rig.Find<QCheckBox>("follow_knob")->isChecked();
    box->setValue(3);
    QCOMPARE(rig.UndoText(), QString("channel 3"));
    rig.Do("channel 5");
    rig.session->FlushChanges();
    QCOMPARE(box->value(), 5);
    rig.Do("undo");
    rig.session->FlushChanges();
    QCOMPARE(rig.session->channel(), int64_t{3});
    QCOMPARE(box->value(), 3);
    rig.Do("undo");
    rig.session->FlushChanges();
    QCOMPARE(box->value(), before);
    QCOMPARE(rig.Find<QCheckBox>("follow_knob")->isChecked(), linked);
    QVERIFY(!rig.stack->canUndo());
    // Following B's channel is part of the step of the setting.
    rig.Do("setting-b channel(2, factor=0)");
    QVERIFY(rig.Settle());
    QCOMPARE(box->value(), 2);
    QCOMPARE(rig.stack->count(), 1);
  }

  void APromptComesBackWithItsNumbers() {
    Rig rig;
    QVERIFY(rig.Open());
    const PromptRequest first = *rig.session->live().prompt_request;
    rig.Do("place 9");
    QVERIFY(rig.Settle());
    rig.Do("sample 3");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->live().prompt_request->sample, int64_t{3});
    QCOMPARE(rig.UndoText(), QString("sample 3"));
    rig.Do("place 1");
    QVERIFY(rig.Settle());
    const size_t runs = rig.control->capture_runs();
    // Two undos without waiting: the place of the second prompt, then the prompt.
    rig.Do("undo");
    rig.Do("undo");
    QVERIFY(QTest::qWaitFor([&] { return rig.session->live().prompt_request->sample == 0; }, 5000));
    QVERIFY(QTest::qWaitFor([&] { return !rig.session->has_pending_request(); }, 5000));
    QCOMPARE(rig.window.prompt_panel()->prompt_request().sample, int64_t{0});
    QCOMPARE(PromptRequestText(*rig.session->live().prompt_request), PromptRequestText(first));
    QCOMPARE(rig.session->place(), size_t{3});
    QVERIFY(rig.session->settled(Side::kA));
    QVERIFY(rig.session->record(Side::kA, kLastQueryAttention));
    QCOMPARE(rig.control->capture_runs(), runs);
    rig.Do("redo");
    rig.Do("redo");
    QVERIFY(QTest::qWaitFor([&] { return rig.session->live().prompt_request->sample == 3; }, 5000));
    QVERIFY(QTest::qWaitFor([&] { return !rig.session->has_pending_request(); }, 5000));
    QCOMPARE(rig.session->place(), size_t{0});
    QCOMPARE(rig.control->capture_runs(), runs);
    // A repeated run is executed again.
    rig.window.Run();
    QVERIFY(QTest::qWaitFor([&] { return rig.control->capture_runs() > runs; }, 5000));
  }

  void AFieldThatWasNotRunComesBack() {
    Rig rig;
    QVERIFY(rig.Open());
    const PromptFields before = rig.window.prompt_panel()->fields();
    PromptFields fields = before;
    fields.seed = 7;
    rig.window.prompt_panel()->SetFields(fields);
    QCOMPARE(rig.UndoText(), QString("seed 7"));
    rig.Do("undo");
    QCOMPARE(rig.window.prompt_panel()->fields(), before);
    QVERIFY(!rig.stack->canUndo());
    rig.Do("redo");
    QCOMPARE(rig.window.prompt_panel()->fields(), fields);
  }

  // Regression: a deletion permanently lost the marks inside it.
  void ADeletedPassageComesBackWithItsMarks() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.ShowOwnText();
    QPlainTextEdit* editor = rig.editor;
    rig.editor->Load("one two three four");
    rig.Do("gold two");
    rig.editor->SetPieces({{"", 0, 7}, {"", 8, 13}});
    const MarkedText marked = rig.editor->marked_text();
    QCOMPARE(marked.gold, (std::pair<int, int>(4, 7)));
    QCOMPARE(marked.pieces.size(), size_t{2});
    QTextCursor cursor = editor->textCursor();
    cursor.setPosition(2);
    cursor.setPosition(10, QTextCursor::KeepAnchor);
    editor->setTextCursor(cursor);
    QTest::keyClick(editor, Qt::Key_Delete);
    QCOMPARE(rig.editor->Text(), QString("onree four"));
    QVERIFY(rig.editor->GoldText().isEmpty());
    QCOMPARE(rig.UndoText(), QString("own text"));
    QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier);  // also in the editor
    QCOMPARE(rig.editor->marked_text(), marked);
    QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(rig.editor->Text(), QString("onree four"));
    rig.Do("undo");
    QCOMPARE(rig.UndoText(), QString("pieces"));
    rig.Do("undo");
    QVERIFY(rig.editor->Pieces().empty());
    QCOMPARE(rig.UndoText(), QString("gold mark"));
    rig.Do("undo");
    QVERIFY(rig.editor->GoldText().isEmpty());
    QCOMPARE(rig.editor->Text(), QString("one two three four"));
  }

  void TypingInOneGoIsOneStep() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.ShowOwnText();
    const int steps = rig.stack->count();
    QTest::keyClicks(rig.editor, "abc");
    QCOMPARE(rig.stack->count(), steps + 1);
    // A step in between ends continuous typing.
    rig.window.selection()->TogglePin({0, 0});
    QTest::keyClicks(rig.editor, "d");
    QCOMPARE(rig.stack->count(), steps + 3);
    rig.Do("undo");
    QCOMPARE(rig.editor->Text(), QString("abc"));
    rig.Do("undo");
    rig.Do("undo");
    QCOMPARE(rig.editor->Text(), QString());
    // After an undo, typing is a separate step.
    rig.Do("redo");
    QTest::keyClicks(rig.editor, "x");
    rig.Do("undo");
    QCOMPARE(rig.editor->Text(), QString("abc"));
  }

  void StepsOfAllKindsKeepTheirOrder() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("pin L1H1");
    rig.Do("setting-b pi(1.5)");
    QVERIFY(rig.Settle());
    rig.Do("place 9");
    QVERIFY(rig.Settle());
    rig.Do("sample 2");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.stack->count(), 4);
    rig.Do("undo");
    rig.Do("undo");
    rig.Do("undo");
    rig.Do("undo");
    QVERIFY(QTest::qWaitFor([&] { return !rig.session->has_pending_request(); }, 5000));
    QVERIFY(rig.window.selection()->pinned().empty());
    QVERIFY(rig.window.history()->current().b.empty());
    QCOMPARE(rig.session->place(), rig.session->prompts().size() / 2);
    QCOMPARE(rig.session->live().prompt_request->sample, int64_t{0});
    QCOMPARE(rig.window.errors()->messages(), QStringList());
  }

  void UndoBeginsWithTheSessionThatWasOpened() {
    QTemporaryDir folder;
    const QString file = folder.filePath("one.midscope");
    Rig rig;
    QVERIFY(rig.Open());
    rig.Do("pin L1H1");
    rig.window.files()->SaveSession(file);
    rig.Do("pin L1H2");
    rig.window.files()->OpenPath(file);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.window.selection()->pinned().size(), size_t{1});
    QVERIFY(!rig.stack->canUndo());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::UndoTest)
#include "undo_test.moc"
