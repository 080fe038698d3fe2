// SPDX-License-Identifier: MIT
// Notes: they are stored in the session file and in saved results, and can be undone.
#include <QFile>
#include <QPlainTextEdit>
#include <QTemporaryDir>
#include <QTest>

#include "gui/layout/dock_area.h"
#include "gui/panels/notes_panel.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class NotesPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void NotesAreKeptExactlyInTheSession() {
    const QString notes =
        QString::fromUtf8("L12H3 looks at the gold —\n\n\tat place 5 only. \"?\" ");
    QTemporaryDir folder;
    const QString file = folder.filePath("a.midscope");
    {
      WindowRig<> rig;
      QVERIFY(rig.OpenModel());
      auto* panel = rig.window.panel<NotesPanel>();
      QVERIFY(panel->State().is_null());
      panel->editor()->setPlainText(notes);
      rig.window.files()->SaveSession(file);
    }
    WindowRig<> rig;
    auto* panel = rig.window.panel<NotesPanel>();
    panel->editor()->setPlainText("others");
    rig.window.files()->OpenSession(file);
    QVERIFY(rig.Settle());
    QVERIFY(rig.window.errors()->messages().isEmpty());
    QCOMPARE(panel->editor()->toPlainText(), notes);
    QCOMPARE(QString::fromStdString(rig.session->notes()), notes);
    // One undo step restores the previous text.
    panel->editor()->undo();
    QCOMPARE(panel->editor()->toPlainText(), QString("others"));
    panel->editor()->redo();
    QCOMPARE(panel->editor()->toPlainText(), notes);
  }

  void TypingIsTakenBackByItsOwnUndo() {
    WindowRig<> rig;
    rig.Show();
    rig.window.docks()->Show("notes");
    auto* editor = rig.window.panel<NotesPanel>()->editor();
    editor->setFocus();
    QTest::keyClicks(editor, "a head");
    QCOMPARE(QString::fromStdString(rig.session->notes()), QString("a head"));
    QTest::keyClick(editor, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(editor->toPlainText(), QString());
    QVERIFY(rig.session->notes().empty());
  }

  void SavedResultsHaveThem() {
    QTemporaryDir folder;
    const QString file = folder.filePath("run.h5");
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    auto* panel = rig.window.panel<NotesPanel>();
    panel->editor()->setPlainText("seen on Monday");
    rig.window.files()->SaveResultsTo(file);
    panel->editor()->setPlainText("seen on Tuesday");
    QVERIFY(rig.OpenResults(file));
    QVERIFY(!panel->of_file()->isHidden());
    QCOMPARE(panel->of_file()->toPlainText(), QString("seen on Monday"));
    QVERIFY(panel->of_file()->isReadOnly());
    rig.session->ShowDocument(Session::kModelDocument);
    rig.session->FlushChanges();
    QVERIFY(!panel->editor()->isHidden());
    QCOMPARE(panel->editor()->toPlainText(), QString("seen on Tuesday"));
  }

  void ASessionWithOtherNotesIsRefused() {
    QTemporaryDir folder;
    const QString path = folder.filePath("bad.midscope");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"midscope_session": 1, "model": "embedded", "notes": 7})");
    file.close();
    WindowRig<> rig;
    rig.window.files()->OpenSession(path);
    QVERIFY(rig.window.errors()->messages().join(' ').contains("notes"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::NotesPanelTest)
#include "notes_panel_test.moc"
