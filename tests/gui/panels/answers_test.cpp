// SPDX-License-Identifier: MIT
// The views of the model's output: the answer strip, the table of next tokens, the logit lens.
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QTextDocument>
#include <QTextEdit>
#include <algorithm>
#include <cmath>
#include <variant>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/logit_lens_panel.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/panels/outcome/answer_strip.h"
#include "gui/panels/outcome/next_tokens_panel.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/tokens/token_grid_plot.h"
#include "gui/widgets/elided_label.h"
#include "tests/gui/support/attribution_record.h"
#include "tests/gui/support/lens_record.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

// As for own text without an answer, nothing is scored.
class EngineWithoutAnswer : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    WhatIfReply reply = FakeEngine::WhatIf(request, partial, context);
    for (Record& record : reply.records) {
      if (record.name != kOutcomeRecord) continue;
      auto& nll = std::get<std::vector<double>>(record.arrays.front().data);
      std::fill(nll.begin(), nll.end(), std::nan(""));
    }
    return reply;
  }
};

class AnswersTest : public QObject {
  Q_OBJECT

 private:
  template <typename PlantedEngine = FakeEngine>
  struct Rig : WindowRig<PlantedEngine> {
    using Base = WindowRig<PlantedEngine>;
    QPushButton* generate = this->template Find<QPushButton>("answer_generate");
    // Rich text as it is read.
    QString Read(const char* label) {
      QTextDocument document;
      document.setHtml(Base::template Find<QLabel>(label)->text());
      return document.toPlainText().replace(QChar::Nbsp, QLatin1Char(' '));
    }
    QString Text(const char* side) { return Base::template Find<QTextEdit>(side)->toPlainText(); }
    bool OpenModel() {
      Base::Show();
      const bool opened = Base::OpenModel();
      Base::session->FlushChanges();
      return opened;
    }
    bool SetB(double factor) {
      Base::session->SetSettings({}, Factor(factor), false);
      const bool settled = Base::Settle();
      Base::session->FlushChanges();
      return settled;
    }
    bool Draw() {
      Base::session->FlushChanges();
      return true;
    }
  };

 private Q_SLOTS:
  void BeforeARunItSaysWhatWouldFillIt() {
    Rig<> rig;
    rig.Show();
    QVERIFY(rig.Find<ElidedLabel>("answer_question")->text().contains("Run a prompt"));
    QVERIFY(!rig.generate->isEnabled());
    QVERIFY(!rig.Find<QLabel>("answer_next_a")->isVisible());
  }

  void ItShowsQuestionAnswerAndWhatEachSideSays() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    // The planted passage `question` is tokens 110 to 119.
    QVERIFY(rig.Find<ElidedLabel>("answer_question")->text().startsWith("word110 word111"));
    QCOMPARE(rig.Read("answer_expected"), QString("expected “ word”"));
    QCOMPARE(rig.Read("answer_next_a"), QString("predicts “ other0” p 0.5"));
    QCOMPARE(rig.Read("answer_token_a"), QString("“ word” has p 0.13, rank 3"));
    // Place 6 is shown: 2 + 0.15 * 6 nats, and from 3 nats on the planted answer is wrong.
    QCOMPARE(rig.Read("answer_nats_a"), QString("2.90 nats"));
    QVERIFY(rig.Read("answer_mark_a").contains(QChar(0x2713)));
    QVERIFY(rig.Find<QLabel>("answer_mark_a")->accessibleName().contains("right"));
    QVERIFY(!rig.Find<QLabel>("answer_nats_b")->isVisible());
    QVERIFY(rig.Read("answer_next_b").contains("Move the slider"));
    QVERIFY(!rig.Find<QLabel>("answer_difference")->isVisible());
    QVERIFY(rig.SetB(-1));  // a strength of 2
    QCOMPARE(rig.Read("answer_next_b"), QString("predicts “ word” p 0.5"));
    QCOMPARE(rig.Read("answer_token_b"), QString("“ word” has p 0.5, rank 1"));
    QVERIFY(rig.Find<QLabel>("answer_difference")->isVisible());
    const double difference = FakeEngine::AnswerNll(6, 2) - FakeEngine::AnswerNll(6, 0);
    QVERIFY(rig.Read("answer_difference").contains(QString::number(difference, 'f', 2)));
    rig.session->SetPlace(4);  // place 11: 0.1 * 2 * (11 - 6) nats less
    QVERIFY(rig.Settle() && rig.Draw());
    QVERIFY2(rig.Read("answer_difference").contains(QString::fromUtf8("2.7× likelier")),
             qPrintable(rig.Read("answer_difference")));
  }

  void AWrongAnswerHasACross() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    rig.session->SetPlace(4);
    QVERIFY(rig.Settle());
    rig.session->FlushChanges();
    QVERIFY(rig.Read("answer_mark_a").contains(QChar(0x2717)));
    QVERIFY(rig.Find<QLabel>("answer_mark_a")->accessibleName().contains("wrong"));
  }

  void WithoutAnAnswerNothingIsRightOrWrong() {
    Rig<EngineWithoutAnswer> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.session->record(Side::kA, kOutcomeRecord));
    QVERIFY(!rig.Read("answer_mark_a").contains(QChar(0x2713)));
    QVERIFY(!rig.Read("answer_mark_a").contains(QChar(0x2717)));
  }

  void TextStreamsAndItsFirstDifferenceIsMarked() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB(0));
    rig.control->HoldGeneration(true);
    QCOMPARE(rig.generate->text(), QString("Generate"));
    rig.generate->click();
    QTRY_VERIFY(rig.Draw() && rig.Text("answer_text_a").contains("word1"));
    QCOMPARE(rig.Text("answer_text_a"), QString(" word0 word1 [") + QChar(0x2026) + "]");
    QCOMPARE(rig.generate->text(), QString("Stop"));
    rig.control->HoldGeneration(false);
    QTRY_VERIFY(rig.Draw() && !rig.session->generates());
    QCOMPARE(rig.Text("answer_text_a"), QString(" word0 word1 word2 word3 [ends here]"));
    QCOMPARE(rig.Text("answer_text_b"), QString(" word0 other word2 word3 [ends here]"));
    const auto marked = [&](const char* name) {
      const QString html = rig.Find<QTextEdit>(name)->toHtml();
      const qsizetype begin = html.indexOf("background-color");
      return begin < 0 ? QString() : html.mid(html.indexOf('>', begin) + 1, 6);
    };
    QCOMPARE(marked("answer_text_a"), QString(" word1"));
    QCOMPARE(marked("answer_text_b"), QString(" other"));
    const std::vector<GenerateRequest> asked = rig.control->generations();
    QCOMPARE(asked.size(), size_t{2});
    QCOMPARE(asked[1].intervention, Factor(0));
    QCOMPARE(asked[0].new_tokens, GenerateRequest::kUsualTokens);
  }

  void ACutTextSaysSo() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    rig.Find<QSpinBox>("answer_tokens")->setValue(3);
    rig.generate->click();
    QTRY_VERIFY(rig.Draw() && rig.Text("answer_text_a").contains("cut"));
    QCOMPARE(rig.Text("answer_text_a"), QString(" word0 word1 word2 [cut at 3 tokens]"));
  }

  // A slider must not wait for text, and the text is then of the setting of that time.
  void TextGivesWayToASettingAndStartsAgain() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB(0));
    rig.control->HoldGeneration(true);
    rig.generate->click();
    QTRY_COMPARE(rig.control->generations().size(), size_t{1});
    rig.session->SetSettings({}, Factor(0.5), false);
    QTRY_VERIFY(rig.session->settled(Side::kB));
    QTRY_VERIFY(rig.control->generations().size() >= 2);
    QVERIFY(rig.session->generates());
    rig.control->HoldGeneration(false);
    QTRY_VERIFY(!rig.session->generates());
    QCOMPARE(rig.control->generations().back().intervention, Factor(0.5));
    const Record* b = rig.session->record(Side::kB, kGenerationRecord);
    QVERIFY(b && rig.session->IsRequested(Side::kB, *b));
  }

  void StopKeepsWhatIsThere() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    rig.control->HoldGeneration(true);
    rig.generate->click();
    QTRY_VERIFY(rig.Draw() && rig.Text("answer_text_a").contains("word1"));
    QElapsedTimer clock;
    clock.start();
    rig.generate->click();
    QTRY_VERIFY(!rig.session->has_pending_request());
    QVERIFY(clock.elapsed() < 1000);
    rig.Draw();
    QVERIFY(!rig.session->generates());
    QCOMPARE(rig.Text("answer_text_a"), QString(" word0 word1 [stopped]"));
    rig.control->HoldGeneration(false);
  }

  // Full runs bring other records; the text stays, and is old once the setting is another.
  void TextOfAnOlderSettingIsNamed() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB(0));
    rig.generate->click();
    QTRY_VERIFY(rig.Draw() && !rig.session->generates());
    QVERIFY(rig.SetB(-1));
    QVERIFY2(rig.Text("answer_text_b").contains("older setting"),
             qPrintable(rig.Text("answer_text_b")));
    QVERIFY(!rig.Text("answer_text_a").contains("older setting"));
    for (const Record& record : rig.session->RecordsOnScreen().records)
      QVERIFY(record.name != "generation_b");  // it is not stored under B's name
  }

  void AFailureIsInTheBar() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB(0));
    rig.control->RefuseChannel(100);
    rig.generate->click();
    QTRY_VERIFY(!rig.window.errors()->messages().isEmpty());
    QVERIFY(rig.window.errors()->messages().join(QString()).contains("no such channel"));
    QTRY_VERIFY(!rig.session->generates());
  }

  void AMissingSpaceIsSaid() {
    ShownAnswer asked;
    asked.answer = QStringLiteral("London");
    SaidFacts said;
    said.next = QStringLiteral(" London");
    said.answer_rank = 40;
    QVERIFY(SpaceWarning(asked, said).contains("“ London”, with a space"));
    asked.answer = QStringLiteral("London Bridge");
    QVERIFY(!SpaceWarning(asked, said).isEmpty());
    asked.answer = QStringLiteral(" London");
    said.next = QStringLiteral("London");
    QVERIFY(SpaceWarning(asked, said).contains("without a space"));
    said.next = QStringLiteral(" London");
    said.answer_rank = 0;
    QVERIFY(SpaceWarning(asked, said).isEmpty());
    said.answer_rank = 40;
    said.next = QStringLiteral(" Paris");
    asked.answer = QStringLiteral("London");
    QVERIFY(SpaceWarning(asked, said).isEmpty());
  }

  void FirstDifferences() {
    QCOMPARE(FirstDifference({"a", "b"}, {"a", "c"}), 1);
    QCOMPARE(FirstDifference({"a"}, {"a", "c"}), 1);
    QCOMPARE(FirstDifference({"a"}, {"a"}), -1);
    QCOMPARE(FirstDifference({}, {"a"}), -1);
  }

  // Results of a file: what it has, and no button.
  void AFileShowsWhatItHas() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB(-1));
    rig.generate->click();
    QTRY_VERIFY(rig.Draw() && !rig.session->generates());
    const std::vector<Record> records = rig.session->RecordsOnScreen().records;
    rig.session->ShowFile({records, {}, {}});
    rig.Draw();
    QCOMPARE(rig.Read("answer_expected"), QString("expected “ word”"));
    QCOMPARE(rig.Read("answer_next_b"), QString("predicts “ word” p 0.5"));
    QCOMPARE(rig.Read("answer_nats_a"), QString("2.90 nats"));
    QCOMPARE(rig.Text("answer_text_b"), QString(" word0 other word2 word3 [ends here]"));
    QVERIFY(!rig.generate->isVisible());
    rig.session->ShowFile({{LensRecord()}, {}, {}});
    rig.Draw();
    QVERIFY(rig.Find<ElidedLabel>("answer_question")->text().contains("no prompt"));
  }

  void NextTokensAreSideBySide() {
    Rig<> rig;
    QVERIFY(rig.OpenModel());
    auto* panel = rig.window.panel<NextTokensPanel>();
    rig.window.ShowPanel(panel);
    panel->DrawWaiting();
    NextTokensTable* table = panel->table();
    const auto cell = [&](int row, int column) {
      return table->data(table->index(row, column), Qt::DisplayRole).toString();
    };
    QCOMPARE(table->columnCount(), 2);
    QCOMPARE(table->rowCount(), 10);
    QCOMPARE(cell(2, NextTokensTable::kTokenA), QString("“ word”"));
    QCOMPARE(cell(2, NextTokensTable::kProbabilityA), QString("0.125"));
    QVERIFY(table->data(table->index(2, 0), Qt::BackgroundRole).isValid());
    QVERIFY(!table->data(table->index(1, 0), Qt::BackgroundRole).isValid());
    QVERIFY(rig.SetB(-1));
    panel->DrawWaiting();
    QCOMPARE(table->columnCount(), static_cast<int>(NextTokensTable::kColumns));
    QCOMPARE(cell(0, NextTokensTable::kTokenB), QString("“ word”"));
    QCOMPARE(cell(0, NextTokensTable::kRankInA), QString("3 ") + QChar(0x2191) + "2");
    QCOMPARE(cell(1, NextTokensTable::kRankInA), QString("1 ") + QChar(0x2193) + "1");
    QCOMPARE(cell(3, NextTokensTable::kRankInA), QString("4 ="));
  }

  void AnAnswerBelowTheTableHasItsRow() {
    Record a;
    a.name = "next_tokens";
    a.axes = {{"rank", 1, "", {}, {}}};
    a.arrays = {{"token_text", {"rank"}, std::vector<std::string>{" x"}, "", ""},
                {"next_token_ids", {"rank"}, std::vector<int64_t>{5}, "", ""},
                {"probability", {"rank"}, std::vector<double>{0.75}, "", ""}};
    a.attributes = {{"answer_token", int64_t{9}},
                    {"answer_token_text", std::string(" y")},
                    {"answer_rank", int64_t{57}},
                    {"answer_probability", 0.001}};
    NextTokensTable table;
    table.Show(&a, nullptr, false, false);
    QVERIFY(table.has_answer_row());
    QCOMPARE(table.rowCount(), 2);
    QCOMPARE(table.headerData(1, Qt::Vertical, Qt::DisplayRole).toString(), QString("answer"));
    QCOMPARE(table.data(table.index(1, 0), Qt::DisplayRole).toString(), QString("“ y” (rank 58)"));
    QCOMPARE(table.data(table.index(1, 1), Qt::DisplayRole).toString(), QString("0.001"));
  }

  // A rank that does not fit is written shorter, never elided; a token of white space is visible.
  void NarrowCellsOfTheLensHaveWholeRanks() {
    WindowRig<> rig;
    rig.Show();
    Record lens = LensRecord();
    std::get<std::vector<std::string>>(lens.arrays[0].data)[0] = " ";
    lens.arrays[2].data = std::vector<int64_t>{1004, 16655, 0};
    RunFile file;
    file.records = {lens};
    rig.session->ShowFile(file);
    auto* panel = rig.window.panel<LogitLensPanel>();
    rig.window.ShowPanel(panel);
    QTRY_VERIFY(!panel->plot()->grid().cells.isEmpty());
    TokenGridPlot* plot = panel->plot();
    QStringList drawn;
    const auto draw = [&](int width) {
      plot->resize(width, 400);
      plot->replot();
      drawn.clear();
      for (int i = 0; i < plot->itemCount(); ++i) {
        const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
        if (text && text->visible()) drawn << text->text();
      }
    };
    draw(900);
    QVERIFY2(drawn.contains("rank 1005") && drawn.contains("rank 16656"),
             qPrintable(drawn.join('|')));
    QVERIFY2(drawn.contains(QChar(0x2423)), qPrintable(drawn.join('|')));
    draw(290);
    QVERIFY2(drawn.contains("1.0k") && drawn.contains("17k"), qPrintable(drawn.join('|')));
    const QPointF first(plot->xAxis->coordToPixel(0), plot->yAxis->coordToPixel(0));
    QVERIFY2(plot->TooltipAt(first).contains(QChar(0x2423)), qPrintable(plot->TooltipAt(first)));
    QCOMPARE(ShownToken(QStringLiteral("  ")), QString::fromUtf8("“␣␣”"));
    QCOMPARE(ShownToken(QStringLiteral(" a")), QString::fromUtf8("“ a”"));
  }

  void TheLensIsThatOfTheFileOrChosen() {
    WindowRig<> rig;
    rig.Show();
    Record jacobian = LensRecord();
    jacobian.name = "jacobian_lens";
    std::get<std::vector<std::string>>(jacobian.arrays[0].data)[0] = " other";
    RunFile file;
    file.records = {jacobian};
    rig.session->ShowFile(file);
    auto* panel = rig.window.panel<LogitLensPanel>();
    rig.window.ShowPanel(panel);
    QTRY_COMPARE(panel->plot()->CellAt(0, 0).text, QString(" other"));
    QVERIFY(rig.Find<QComboBox>("lens_kind")->isHidden());
    file.records = {LensRecord(), jacobian};
    rig.session->ShowFile(file);
    QTRY_VERIFY(rig.Find<QComboBox>("lens_kind")->isVisible());
    QTRY_COMPARE(panel->plot()->CellAt(0, 0).text, QString(" other"));
    rig.Find<QComboBox>("lens_kind")->setCurrentIndex(0);
    QCOMPARE(panel->plot()->CellAt(0, 0).text, QString(" low"));
  }

  void TheLensIsSwitchedOnAndShowsWordsByLayer() {
    Rig<EngineThatOffersAttribution> rig;
    QVERIFY(rig.OpenModel());
    auto* panel = rig.window.panel<LogitLensPanel>();
    rig.window.ShowPanel(panel);
    QVERIFY(panel->plot()->grid().cells.isEmpty());
    auto* button = rig.Find<QPushButton>("lens_on");
    QVERIFY(button->isVisible());
    button->click();
    QTRY_VERIFY(!panel->plot()->grid().cells.isEmpty());
    QVERIFY(button->isHidden());
    const TokenGridPlot* plot = panel->plot();
    QCOMPARE(plot->grid().columns, (QStringList{"1", "2", "answer"}));
    QCOMPARE(plot->CellAt(0, 0).text, QString(" low"));
    QCOMPARE(plot->CellAt(2, 0).text, QString(" word"));
    QCOMPARE(plot->CellAt(2, 0).probability, 0.75);
    QVERIFY(plot->CellAt(2, 0).marked && plot->CellAt(1, 1).marked && !plot->CellAt(1, 0).marked);
    QCOMPARE(plot->CellAt(0, 2).text, QString("rank 4"));
    QVERIFY(std::abs(plot->CellAt(0, 2).probability - 0.0625) < 1e-12);
    // Layer 0 is at the bottom.
    QVERIFY(plot->yAxis->coordToPixel(0) > plot->yAxis->coordToPixel(2));
    QVERIFY(rig.Find<QLabel>("lens_note")->text().contains("from layer 2 on"));
    QVERIFY2(PlotCsv(*panel->plot()).contains("\n2,1,0.75, word\n"),
             qPrintable(PlotCsv(*panel->plot())));
    QVERIFY(rig.SetB(0));
    rig.Find<QComboBox>("lens_side")->setCurrentIndex(2);
    QCOMPARE(plot->grid().columns.size(), 6);
    QCOMPARE(plot->grid().columns.last(), QString("B answer"));
    QCOMPARE(plot->CellAt(1, 3).text, QString(" high"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::AnswersTest)
#include "answers_test.moc"
