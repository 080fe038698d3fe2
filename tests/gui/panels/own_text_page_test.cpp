// SPDX-License-Identifier: MIT
// The page of own text: search, pieces, previews of tokens and prompts, undo, files, sessions.
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "gui/base/head_quantities.h"
#include "gui/files/session_file.h"
#include "gui/panels/prompt/own_text_page.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class OwnTextPageTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    PromptPanel* panel = window.prompt_panel();
    OwnTextPage* page = panel->own_text();
    PromptEditor* editor = panel->editor();
    explicit Rig(bool with_model = false) {
      Show();
      opened = !with_model || OpenModel();
      window.ShowOwnText();
    }
    bool opened = false;
    void Select(const QString& words) {
      const auto at = static_cast<int>(editor->Text().indexOf(words));
      QTextCursor cursor = editor->textCursor();
      cursor.setPosition(at);
      cursor.setPosition(at + static_cast<int>(words.size()), QTextCursor::KeepAnchor);
      editor->setTextCursor(cursor);
    }
    void Press(const char* button) { Find<QPushButton>(button)->click(); }
    QStringList PieceTexts() {
      const QByteArray text = editor->Text().toUtf8();
      QStringList texts;
      for (const ByteSpan& piece : editor->Pieces())
        texts << QString::fromUtf8(text.mid(piece.begin, piece.end - piece.begin));
      return texts;
    }
  };

 private Q_SLOTS:

  void FindCountsAndGoesRound() {
    Rig rig;
    rig.editor->SetText(QStringLiteral("One two one\ntwo ONE"));
    auto* find = rig.Find<QLineEdit>("own_text_find");
    auto* found = rig.Find<QLabel>("own_text_found");
    QTest::keyClick(rig.page, Qt::Key_F, Qt::ControlModifier);
    find->setText(QStringLiteral("one"));
    QCOMPARE(found->text(), QStringLiteral("3 found"));
    rig.editor->moveCursor(QTextCursor::Start);
    QList<int> at;
    for (int i = 0; i < 4; ++i) {
      QTest::keyClick(find, Qt::Key_Return);
      at << rig.editor->textCursor().selectionStart();
    }
    QCOMPARE(at, (QList<int>{0, 8, 16, 0}));
    QCOMPARE(found->text(), QStringLiteral("1 of 3"));
    QTest::keyClick(find, Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(found->text(), QStringLiteral("3 of 3"));
    find->setText(QStringLiteral("four"));
    QTest::keyClick(find, Qt::Key_Return);
    QCOMPARE(found->text(), QStringLiteral("0 found"));
  }

  // Positions in the editor count UTF-16 units, those in requests bytes.
  void PiecesAreMarkedByHandAndByParagraph() {
    Rig rig;
    rig.editor->SetText(QString::fromUtf8("Ä eins 𝄞.\n\nzwei öö\n\nDrei."));
    rig.Press("own_text_paragraphs");
    QCOMPARE(rig.PieceTexts(),
             (QStringList{QString::fromUtf8("Ä eins 𝄞."), QString::fromUtf8("zwei öö"), "Drei."}));
    QVERIFY(rig.Find<QLabel>("own_text_marks")->text().contains("3 piece"));
    // A new piece replaces those that it overlaps.
    rig.Select(QStringLiteral("eins"));
    rig.Press("own_text_piece");
    QCOMPARE(rig.PieceTexts(), (QStringList{"eins", QString::fromUtf8("zwei öö"), "Drei."}));
    // An edit before them moves them; with the text cursor in a piece, the action removes it.
    rig.editor->moveCursor(QTextCursor::Start);
    rig.editor->insertPlainText(QString::fromUtf8("ßß "));
    QCOMPARE(rig.PieceTexts().first(), QString("eins"));
    rig.Select(QStringLiteral("Drei"));
    QTextCursor cursor = rig.editor->textCursor();
    cursor.clearSelection();
    cursor.setPosition(static_cast<int>(rig.editor->Text().indexOf("Drei")) + 1);
    rig.editor->setTextCursor(cursor);
    rig.Press("own_text_piece");
    QCOMPARE(rig.PieceTexts().size(), 2);
    rig.Press("own_text_no_pieces");
    QVERIFY(rig.editor->Pieces().empty());
  }

  void TheRequestHasWhatWasMarked() {
    Rig rig(true);
    QVERIFY(rig.opened);
    rig.editor->SetText(QStringLiteral("First.\n\nSecond has gold.\n\nThird."));
    rig.Press("own_text_paragraphs");
    rig.Select(QStringLiteral("gold"));
    rig.Press("own_text_gold");
    rig.Find<QLineEdit>("own_text_question")->setText(QStringLiteral("Which?"));
    rig.Find<QLineEdit>("own_text_places")->setText(QStringLiteral("1, 4"));
    QTest::keyClicks(rig.Find<QLineEdit>("answer"), QStringLiteral(" Second"));
    // The Run button shows that the screen shows another request.
    QVERIFY(rig.Find<QPushButton>("run")->toolTip().contains("not on the screen yet"));
    const PromptRequest request = rig.panel->prompt_request();
    QCOMPARE(request.question, std::string("Which?"));
    QCOMPARE(request.places, std::string("1,4"));
    QCOMPARE(request.pieces.size(), size_t{3});
    QCOMPARE(request.answer, std::string(" Second"));
    QCOMPARE(request.gold_end - request.gold_begin, int64_t{4});
    rig.Press("run");
    QTRY_COMPARE(rig.session->shown_prompt_request()->pieces, request.pieces);
    rig.session->FlushChanges();
    QVERIFY(!rig.Find<QPushButton>("run")->toolTip().contains("not on the screen yet"));
    // A session file stores all of it.
    SavedSession saved;
    saved.prompt_request = request;
    const PromptRequest again = ParseSession(SessionText(saved), "x").prompt_request;
    QCOMPARE(PromptRequestText(again), PromptRequestText(request));
    QCOMPARE(again.pieces, request.pieces);
    rig.panel->SetPrompt(PromptRequest());
    rig.panel->SetPrompt(again);
    QCOMPARE(PromptRequestText(rig.panel->prompt_request()), PromptRequestText(request));
  }

  void ASessionWithBadPiecesIsRefused() {
    SavedSession saved;
    saved.prompt_request.task.clear();
    saved.prompt_request.text = "abc";
    saved.prompt_request.pieces = {{"", 1, 9}};
    QVERIFY_EXCEPTION_THROWN(ParseSession(SessionText(saved), "x"), Error);
  }

  // The end of the line that a triple click selects is in no piece.
  void ATripleClickMarksTheLineWithoutItsEnd() {
    Rig rig;
    rig.editor->SetText(QStringLiteral("First.\n\nSecond.\n\nThird."));
    rig.Press("own_text_paragraphs");
    rig.Select(QStringLiteral("Second"));
    const QPoint at = rig.editor->cursorRect().center() - QPoint(4, 0);
    QTest::mouseDClick(rig.editor->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseClick(rig.editor->viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(rig.editor->textCursor().selectedText().trimmed(), QStringLiteral("Second."));
    QVERIFY(rig.editor->textCursor().selectedText().size() > 7);
    rig.Press("own_text_gold");
    QCOMPARE(rig.editor->GoldText(), QStringLiteral("Second."));
    rig.Press("own_text_piece");
    QCOMPARE(rig.PieceTexts(), (QStringList{"First.", "Second.", "Third."}));
  }

  void TabGoesFromTheTextToQuestionAndAnswer() {
    Rig rig;
    rig.editor->setFocus();
    QTest::keyClicks(rig.editor, QStringLiteral("Text."));
    QTest::keyClick(rig.editor, Qt::Key_Tab);
    QCOMPARE(rig.editor->Text(), QStringLiteral("Text."));
    QCOMPARE(rig.window.focusWidget(), rig.Find<QWidget>("own_text_question"));
    QTest::keyClick(rig.window.focusWidget(), Qt::Key_Tab);
    QCOMPARE(rig.window.focusWidget(), rig.Find<QWidget>("answer"));
  }

  // The head of another text need not look at this one's passage.
  void TheShownHeadIsThatOfTheTextUntilOneIsChosen() {
    Rig rig(true);
    QVERIFY(rig.opened);
    auto* selection = rig.window.findChild<Selection*>();
    const auto best = [&] {
      return MostAttentionOn(*rig.session->attention(Side::kA), GoldTokens(*rig.session->prompt()));
    };
    const HeadId of_task = selection->head();
    QCOMPARE(of_task, best());
    const auto run = [&](const char* text) {
      rig.editor->SetText(QString::fromLatin1(text));
      rig.Select(QStringLiteral("Second"));
      rig.Press("own_text_gold");
      rig.Press("run");
      return QTest::qWaitFor([&] {
        return rig.session->shown_prompt_request()->text == text && IsSettled(*rig.session);
      });
    };
    QVERIFY(run("First.\n\nSecond."));
    QVERIFY(!(best() == of_task));
    QCOMPARE(selection->head(), best());
    selection->Choose(of_task);
    QVERIFY(run("Another.\n\nSecond."));
    QCOMPARE(selection->head(), of_task);
  }

  // While the user types, in parallel with any run.
  void TokensAndPromptsAreShownBeforeARun() {
    Rig rig(true);
    QVERIFY(rig.opened);
    rig.control->HoldWhatIfs(true);
    rig.session->SetSettings({}, Factor(0.5), false);  // the engine is busy
    rig.editor->SetText(QStringLiteral("First.\n\nSecond.\n\nThird."));
    rig.Press("own_text_paragraphs");
    auto* prompt = rig.Find<QPlainTextEdit>("own_text_prompt");
    QTRY_VERIFY(prompt->toPlainText().contains("Third.@1"));
    QCOMPARE(rig.Find<QLabel>("own_text_tokens")->text(), QStringLiteral("120 of 2,048 tokens"));
    auto* place = rig.Find<QComboBox>("own_text_place");
    QCOMPARE(place->count(), 3);
    QCOMPARE(place->itemText(1), QStringLiteral("gold 2 of 3"));  // as in the bar on top
    place->setCurrentIndex(2);
    QVERIFY(prompt->toPlainText().endsWith("@3"));
    QVERIFY(!prompt->extraSelections().isEmpty());
    rig.editor->insertPlainText(QStringLiteral("bad "));
    auto* note = rig.Find<QLabel>("own_text_note");
    QTRY_VERIFY(note->isVisible());
    QVERIFY(note->text().contains("it is bad"));
    QVERIFY(rig.window.errors()->messages().isEmpty());
    rig.control->HoldWhatIfs(false);
  }

  void AFileIsLoadedAsOneStepOfUndo() {
    Rig rig;
    QTemporaryDir folder;
    const QString path = folder.filePath("notes.txt");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("from a file");
    file.close();
    rig.editor->setFocus();
    QTest::keyClicks(rig.editor, QStringLiteral("typed"));
    rig.editor->LoadFile(path);
    QCOMPARE(rig.editor->Text(), QStringLiteral("from a file"));
    rig.window.history()->stack()->undo();  // the window's undo, because the editor has none
    QCOMPARE(rig.editor->Text(), QStringLiteral("typed"));
    const QString broken = folder.filePath("broken.txt");
    QFile bytes(broken);
    QVERIFY(bytes.open(QIODevice::WriteOnly));
    bytes.write("\xff\xfe\x01");
    bytes.close();
    rig.editor->LoadFile(broken);
    QCOMPARE(rig.editor->Text(), QStringLiteral("typed"));
    QVERIFY(rig.Find<QLabel>("own_text_note")->text().contains("not UTF-8"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::OwnTextPageTest)
#include "own_text_page_test.moc"
