// SPDX-License-Identifier: MIT
// The complete window on the embedded model, from its widgets to the engine: the model's output,
// text under A and B, the logit lens, and own text whose gold piece is moved.
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QTextDocument>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/main_window.h"
#include "gui/panels/attention/logit_lens_panel.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/tokens/token_grid_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"

#include "probes/prompt/prompt_record.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

constexpr int kLongestRun = 60000;  // milliseconds

class WhatTheModelSaysTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  QString Read(const char* label) {
    QTextDocument document;
    document.setHtml(Find<QLabel>(label)->text());
    return document.toPlainText().replace(QChar::Nbsp, QLatin1Char(' '));
  }

 private Q_SLOTS:
  void initTestCase() {  // NOLINT(readability-identifier-naming): Qt calls it by this name
    Make();
    window_->prompt_panel()->SetTask(QStringLiteral("list:lines=4"));
    Find<QLineEdit>("places")->setText(QStringLiteral("1,3"));
    window_->OpenModel(QStringLiteral("embedded"));
    QTRY_VERIFY_WITH_TIMEOUT(session_->settled(Side::kA) && Settled(), kLongestRun);
  }
  void cleanupTestCase() {  // NOLINT(readability-identifier-naming): as above
    window_.reset();
  }

  void TheStripIsOfTheRecords() {
    session_->FlushChanges();
    const Record* next = session_->record(Side::kA, kNextTokensRecord);
    const Record* outcome = session_->record(Side::kA, kOutcomeRecord);
    QVERIFY(next && outcome && session_->prompt());
    const QString word = Texts(*next, "token_text").first();
    QVERIFY2(Read("answer_next_a").contains(word), qPrintable(Read("answer_next_a")));
    // The piece whose answer the model gives is named by its place.
    const QStringList answers = Texts(*session_->prompt(), kPieceAnswer);
    QCOMPARE(answers.size(), qsizetype{4});
    const QString text = TextAttribute(*session_->prompt(), "text");
    qsizetype at = 0;
    QString place;
    for (qsizetype piece = 0; piece < answers.size(); ++piece) {
      at = text.indexOf(answers[piece].trimmed(), at);
      QVERIFY(at > 0);
      if (answers[piece].trimmed().startsWith(word.trimmed()))
        place = QStringLiteral("(of place %1)").arg(piece + 1);
    }
    QVERIFY2(!place.isEmpty(), qPrintable(word));  // this model's output is one of the items
    QVERIFY2(Read("answer_next_a").contains(place), qPrintable(Read("answer_next_a")));
    const QString answer = TextAttribute(*session_->prompt(), "answer");
    QVERIFY(answer.startsWith(' '));
    QCOMPARE(Read("answer_expected"), QStringLiteral("expected “%1”").arg(answer));
    const double nll = ValueAt(*outcome, kAnswerNll, {0, static_cast<int64_t>(session_->place())});
    QCOMPARE(Read("answer_nats_a"), QStringLiteral("%1 nats").arg(nll, 0, 'f', 2));
  }

  void TextOfBothStreamsAndCanBeStopped() {
    SettingPair pair;
    pair.b = ParseIntervention("channel(100, factor=-4, layers=8-25)");
    window_->history()->Change(pair, false);
    QTRY_VERIFY_WITH_TIMEOUT(session_->settled(Side::kB) && Settled(), kLongestRun);
    Find<QSpinBox>("answer_tokens")->setValue(6);
    Find<QPushButton>("answer_generate")->click();
    QTRY_VERIFY_WITH_TIMEOUT(!session_->generates(), kLongestRun);
    for (const Side side : {Side::kA, Side::kB}) {
      const Record* text = session_->record(side, kGenerationRecord);
      QVERIFY2(text, qPrintable(Errors()));
      QVERIFY(session_->IsRequested(side, *text));
      QCOMPARE(Texts(*text, kNewTokenText).first(),
               Texts(*session_->record(side, kNextTokensRecord), "token_text").first());
    }
    Find<QSpinBox>("answer_tokens")->setValue(1000);
    Find<QPushButton>("answer_generate")->click();
    QTRY_VERIFY_WITH_TIMEOUT(
        AxisSize(*session_->record(Side::kA, kGenerationRecord), "new_token") > 6, kLongestRun);
    QElapsedTimer clock;
    clock.start();
    Find<QPushButton>("answer_generate")->click();
    QTRY_VERIFY(!session_->has_pending_request());
    QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
  }

  void TheLensEndsInWhatTheModelSays() {
    auto* panel = window_->panel<LogitLensPanel>();
    window_->ShowPanel(panel);
    Find<QPushButton>("lens_on")->click();
    QTRY_VERIFY_WITH_TIMEOUT(!panel->plot()->grid().cells.isEmpty() && Settled(), kLongestRun);
    QCOMPARE(panel->plot()->grid().rows(), qsizetype{30});
    QCOMPARE(panel->plot()->CellAt(29, 0).text,
             Texts(*session_->record(Side::kA, kNextTokensRecord), "token_text").first());
  }

  void OwnGoldMovesThroughOwnText() {
    PromptPanel* panel = window_->prompt_panel();
    window_->ShowOwnText();
    panel->editor()->SetText(
        QStringLiteral("The mill belongs to Tom.\n\nThe inn belongs to Ann.\n\nThe farm belongs to "
                       "Sue."));
    Find<QPushButton>("own_text_paragraphs")->click();
    QTextCursor cursor = panel->editor()->textCursor();
    const auto at = static_cast<int>(panel->editor()->Text().indexOf("Ann"));
    cursor.setPosition(at);
    cursor.setPosition(at + 3, QTextCursor::KeepAnchor);
    panel->editor()->setTextCursor(cursor);
    Find<QPushButton>("own_text_gold")->click();
    Find<QLineEdit>("own_text_question")->setText(QStringLiteral("Who owns the inn?"));
    Find<QLineEdit>("answer")->setText(QStringLiteral("Ann"));
    QTRY_VERIFY_WITH_TIMEOUT(Find<QComboBox>("own_text_place")->count() == 3, kLongestRun);
    QVERIFY(Find<QLabel>("own_text_tokens")->text().contains("of 8,192 tokens"));
    Find<QPushButton>("run")->click();
    QTRY_VERIFY_WITH_TIMEOUT(
        session_->prompts().size() == 3 && session_->settled(Side::kB) && Settled(), kLongestRun);
    QVERIFY2(Errors().isEmpty(), qPrintable(Errors()));
    QStringList texts;
    for (const Record& prompt : session_->prompts()) texts << TextAttribute(prompt, "text");
    QVERIFY(texts[0].startsWith("The inn belongs to Ann.\n\nThe mill"));
    QVERIFY(texts[2].contains("The farm belongs to Sue.\n\nThe inn belongs to Ann.\n\nQuestion: "));
    QVERIFY(texts[1].endsWith("Question: Who owns the inn?\nAnswer:"));
    QCOMPARE(IntegerAttribute(session_->prompts()[2], "place", 0), int64_t{3});
    // The space of the answer was added, and what-ifs cover all places.
    QCOMPARE(TextAttribute(session_->prompts()[0], "answer"), QStringLiteral(" Ann"));
    for (const Side side : {Side::kA, Side::kB}) {
      const Record* outcome = session_->record(side, kOutcomeRecord);
      QVERIFY(outcome);
      QCOMPARE(AxisValues(*outcome, "place"), (QVector<double>{1, 2, 3}));
    }
    session_->SetPlace(2);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestRun);
    session_->FlushChanges();
    QCOMPARE(Read("answer_expected"), QStringLiteral("expected “ Ann”"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::WhatTheModelSaysTest)
#include "what_the_model_says_test.moc"
