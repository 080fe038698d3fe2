// SPDX-License-Identifier: MIT
// The complete window on planted numbers, used through its widgets: what is drawn equals the
// contents of the records.
#include <QComboBox>
#include <QDir>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/base/record_access.h"
#include "gui/files/result_file.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/tokens/token_view.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "tests/gui/support/change_spy.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

// The middle one of the planted places 1, 4, 6, 9, 11.
constexpr int64_t kFirstPlace = 6;

class WindowTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    Rig() {
      session->SetPauseDelay(1 << 30);
      Show();
    }
    bool Open() {
      window.ShowPanel(window.panel<AttentionPanel>());
      QTest::mouseClick(Find<QPushButton>("open"), Qt::LeftButton);
      return Settle();
    }
  };

  static QPoint CellCentre(const HeadMapPlot& plot, HeadId head) {
    return QPointF(plot.xAxis->coordToPixel(static_cast<double>(head.head)),
                   plot.yAxis->coordToPixel(static_cast<double>(head.layer)))
        .toPoint();
  }

  // The head with the most attention on the gold, tokens 50 to 59, of the first prompt on the
  // screen.
  static HeadId MostOnGold() {
    HeadId best;
    double most = 0;
    for (int64_t layer = 0; layer < FakeEngine::kLayers; ++layer) {
      for (int64_t head = 0; head < FakeEngine::kHeads; ++head) {
        double sum = 0;
        for (int64_t key = 50; key < 60; ++key) {
          sum += double{FakeEngine::Attention(layer, head, key, kFirstPlace, 0)};
        }
        if (sum > most) {
          most = sum;
          best = {layer, head};
        }
      }
    }
    return best;
  }

  static void CompareGraph(const AttentionPlot& plot, Side side, HeadId head, int64_t place,
                           double strength) {
    const auto data = plot.graph_of(side)->data();
    QCOMPARE(data->size(), static_cast<int>(FakeEngine::kTokens));
    for (int key = 0; key < data->size(); ++key) {
      QCOMPARE(data->at(key)->value,
               double{FakeEngine::Attention(head.layer, head.head, key, place, strength)});
    }
  }

 private Q_SLOTS:
  void MapShowsTheRecord() {
    Rig rig;
    QVERIFY(rig.Open());
    HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    QCOMPARE(map->layers(), FakeEngine::kLayers);
    QCOMPARE(map->heads(), FakeEngine::kHeads);
    for (int64_t layer = 0; layer < FakeEngine::kLayers; ++layer) {
      for (int64_t head = 0; head < FakeEngine::kHeads; ++head) {
        QCOMPARE(map->CellValue({layer, head}), double{FakeEngine::Score(layer, head, 0)});
      }
    }
    // (5 * 5 + 0) % 13 = 12 is the largest planted score.
    QCOMPARE(map->Rank({5, 0}), int64_t{1});
    const QString tip = map->TooltipAt(CellCentre(*map, {5, 0}));
    QVERIFY2(tip.contains("L5H0 (KV0)") && tip.contains("rank 1 of 24") && tip.contains("0.12") &&
                 tip.contains("ratio 1"),
             qPrintable(tip));
    QVERIFY(rig.Find<QLabel>("model_text")->text().contains("Planted"));
  }

  // Rings around the counted keys, at their weights, and a line at the threshold.
  void CountedKeysAreMarkedInTheAttention() {
    Rig rig;
    QVERIFY(rig.Open());
    AttentionPlot* plot = rig.window.panel<AttentionPanel>()->plot();
    QVERIFY(!plot->threshold_of(Side::kA)->visible());  // it has no meaning for sums of passages
    plot->SetLogarithmic(true);
    const auto compare = [&](Side side, HeadId head, double strength) {
      QVector<QCPGraphData> expected;
      for (int64_t key = 0; key < FakeEngine::kTokens; ++key) {
        if (!FakeEngine::IsCounted(head.layer, head.head, key, strength)) continue;
        expected.append(
            {static_cast<double>(key),
             double{FakeEngine::Attention(head.layer, head.head, key, kFirstPlace, strength)}});
      }
      const auto data = plot->counted_of(side)->data();
      QCOMPARE(data->size(), static_cast<int>(expected.size()));
      for (int i = 0; i < data->size(); ++i) {
        QCOMPARE(data->at(i)->key, expected[i].key);
        QCOMPARE(data->at(i)->value, expected[i].value);
      }
      QVERIFY(plot->threshold_of(side)->visible());
      QCOMPARE(plot->threshold_of(side)->point1->coords().y(), FakeEngine::Threshold(strength));
      QCOMPARE(plot->threshold_of(side)->point2->coords().y(), FakeEngine::Threshold(strength));
    };
    compare(Side::kA, rig.window.panel<AttentionPanel>()->head(), 0);
    QVERIFY(!plot->threshold_of(Side::kB)->visible());
    QCOMPARE(plot->counted_of(Side::kB)->data()->size(), 0);
    QTest::mouseClick(rig.window.panel<HeadMapPanel>()->plot(), Qt::LeftButton, Qt::NoModifier,
                      CellCentre(*rig.window.panel<HeadMapPanel>()->plot(), {3, 2}));
    compare(Side::kA, {3, 2}, 0);
    // Key 4 of L3H2 is counted, key 5 is not.
    const auto tip = [&](int key) {
      return plot->TooltipAt(
          {plot->xAxis->coordToPixel(key), plot->axisRect()->center().y() + 0.0});
    };
    QVERIFY2(tip(4).contains(", counted by the score (>= 3/tokens before rotation)"),
             qPrintable(tip(4)));
    QVERIFY2(tip(5).contains("not counted by the score"), qPrintable(tip(5)));
    rig.window.history()->Change({{}, ParseIntervention("pi(2)")}, false);
    QVERIFY(rig.Settle());
    compare(Side::kA, {3, 2}, 0);
    compare(Side::kB, {3, 2}, FakeEngine::Strength(ParseIntervention("pi(2)")));
  }

  void ClickingACellShowsThatHeadsAttention() {
    Rig rig;
    QVERIFY(rig.Open());
    HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    AttentionPlot* plot = rig.window.panel<AttentionPanel>()->plot();
    // Both views first show the head that attends most to the gold.
    const HeadId first = MostOnGold();
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), first);
    QCOMPARE(map->selected(), first);
    CompareGraph(*plot, Side::kA, first, kFirstPlace, 0);
    QTest::mouseClick(map, Qt::LeftButton, Qt::NoModifier, CellCentre(*map, {3, 2}));
    QCOMPARE(map->selected(), (HeadId{3, 2}));
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), (HeadId{3, 2}));
    CompareGraph(*plot, Side::kA, {3, 2}, kFirstPlace, 0);
    QVERIFY(plot->title().contains("L3H2"));
    // Up selects the next layer and Right the next head; at the edge the selection does not move.
    QTest::keyClick(map, Qt::Key_Up);
    QTest::keyClick(map, Qt::Key_Right);
    QTest::keyClick(map, Qt::Key_Right);
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), (HeadId{4, 3}));
    CompareGraph(*plot, Side::kA, {4, 3}, kFirstPlace, 0);
  }

  void GoldIsMarkedAndPlacesMove() {
    Rig rig;
    QVERIFY(rig.Open());
    AttentionPlot* plot = rig.window.panel<AttentionPanel>()->plot();
    QCOMPARE(plot->gold(), (TokenSpan{"gold", 50, 60}));
    const auto before = rig.stopped.size();
    Q_EMIT rig.window.panel<OutcomePanel>()->plot()->PlaceChosen(9);
    QVERIFY(SpyUntil(rig.stopped, [&] {
      return rig.stopped.size() > before && !rig.session->has_pending_request();
    }));
    QCOMPARE(rig.session->place(), size_t{3});
    QCOMPARE(plot->gold(), (TokenSpan{"gold", 80, 90}));
    CompareGraph(*plot, Side::kA, rig.window.panel<AttentionPanel>()->head(), 9, 0);
    const QString tip = plot->TooltipAt(QPointF(plot->xAxis->coordToPixel(85), 200));
    QVERIFY2(tip.contains("word85") && tip.contains("(85)") && tip.contains("in the gold passage"),
             qPrintable(tip));
  }

  void TextViewFindsTokensByTheirBytes() {
    Record prompt;
    prompt.name = "prompt";
    prompt.axes = {{"token", 4, "", {}, {}}};
    prompt.arrays = {
        {"token_text", {"token"}, std::vector<std::string>{"Zo\xc3\xab", "\\n", "?", " x"}, "", ""},
        {"token_begin", {"token"}, std::vector<int64_t>{0, 4, 5, 9}, "byte", ""}};
    // The third token is one character: four bytes, two UTF-16 units in the editor.
    prompt.attributes = {{"text", std::string("Zo\xc3\xab\n\xf0\x9f\x98\x80 x")}};
    TokenView view;
    view.SetPrompt(&prompt);
    QCOMPARE(view.begins(), (QVector<int>{0, 3, 4, 6, 8}));
    QCOMPARE(view.toPlainText(), QString::fromUtf8("Zo\xc3\xab\n\xf0\x9f\x98\x80 x"));
    view.SetRow({0.1, 0.2, 0.3, 0.4});
    QVERIFY(view.TooltipFor(3).contains("0.4"));
  }

  void DraggingMovesAttentionAndOutcome() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.settings()->stack()->SwitchCard(0, true);
    auto* slider = rig.Find<QSlider>("term_channel_factor_slider");
    ChangeSpy changed(rig.session);
    slider->setSliderDown(true);
    slider->setSliderPosition(-100);
    // The slider is still being dragged.
    QVERIFY(SpyUntil(changed, [&] {
      const auto& lines = rig.window.panel<OutcomePanel>()->plot()->lines();
      return lines.size() == 2 && !lines[1].series.values.isEmpty() &&
             lines[1].series.values[0] == FakeEngine::AnswerNll(1, 2);
    }));
    CompareGraph(*rig.window.panel<AttentionPanel>()->plot(), Side::kB,
                 rig.window.panel<AttentionPanel>()->head(), kFirstPlace, 2);
    CompareGraph(*rig.window.panel<AttentionPanel>()->plot(), Side::kA,
                 rig.window.panel<AttentionPanel>()->head(), kFirstPlace, 0);
    QVERIFY(!rig.session->settled(Side::kB));
    QCOMPARE(rig.Find<QLabel>("what_if_text")->text(),
             QString("last change: 12.5 ms, last rows only"));
    slider->setSliderDown(false);
    QVERIFY(rig.Settle());
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kDifference);
    const HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    QCOMPARE(map->CellValue({2, 3}),
             double{FakeEngine::Score(2, 3, 2)} - double{FakeEngine::Score(2, 3, 0)});
  }

  void MapAndChannelsFollowWhenTheHandPauses() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.settings()->stack()->SwitchCard(0, true);
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kB);
    rig.session->SetPauseDelay(0);
    auto* slider = rig.Find<QSlider>("term_channel_factor_slider");
    slider->setSliderDown(true);
    slider->setSliderPosition(-100);
    QVERIFY(SpyUntil(rig.stopped, [&] { return rig.session->settled(Side::kB); }));
    QVERIFY(slider->isSliderDown());
    QCOMPARE(rig.window.panel<HeadMapPanel>()->plot()->CellValue({2, 3}),
             double{FakeEngine::Score(2, 3, 2)});
    QCOMPARE(rig.control->comparisons(), size_t{0});  // means wait for the release
    slider->setSliderDown(false);
    QVERIFY(rig.Settle());
  }

  void MapAndChannelsFollowTheHand() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.control->LetWhatIfsFollow(true);
    rig.window.settings()->stack()->SwitchCard(0, true);
    QVERIFY(rig.Settle());
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kB);
    rig.Find<QComboBox>("shown_layer")->setCurrentIndex(3);  // layer 2
    rig.Find<QSpinBox>("smoothing")->setValue(1);
    auto* slider = rig.Find<QSlider>("term_channel_factor_slider");
    ChangeSpy changed(rig.session);
    slider->setSliderDown(true);
    slider->setSliderPosition(-100);
    QVERIFY(SpyUntil(changed, [&] {
      return rig.window.panel<HeadMapPanel>()->plot()->CellValue({2, 3}) ==
             double{FakeEngine::Score(2, 3, 2)};
    }));
    QVERIFY(!rig.session->settled(Side::kB));
    const Record* hidden = rig.session->record(Side::kB, "hidden_channels");
    QCOMPARE(rig.window.panel<ChannelPanel>()->plot()->layer_lines()[0]->data()->at(0)->value,
             ValueAt(*hidden, "hidden_channel", {2, 0, 30}));
    for (const QLabel* label : rig.window.panel<HeadMapPanel>()->findChildren<QLabel*>()) {
      QVERIFY2(!label->text().contains("older"), qPrintable(label->text()));
    }
    slider->setSliderDown(false);
    QVERIFY(rig.Settle());
  }

  void SettingsSwapWithTheirResults() {
    Rig rig;
    QVERIFY(rig.Open());
    Intervention interpolated;
    interpolated.Add(TermOf(PositionInterpolation{1.5}));
    rig.window.history()->Change({{}, interpolated}, false);
    QVERIFY(rig.Settle());
    const size_t runs = rig.control->what_ifs().size();
    QTest::mouseClick(rig.Find<QWidget>("swap"), Qt::LeftButton);
    rig.session->FlushChanges();
    CompareGraph(*rig.window.panel<AttentionPanel>()->plot(), Side::kA,
                 rig.window.panel<AttentionPanel>()->head(), kFirstPlace, 1);
    CompareGraph(*rig.window.panel<AttentionPanel>()->plot(), Side::kB,
                 rig.window.panel<AttentionPanel>()->head(), kFirstPlace, 0);
    QCOMPARE(rig.control->what_ifs().size(), runs);  // nothing was computed again
    rig.window.history()->stack()->undo();
    rig.session->FlushChanges();
    CompareGraph(*rig.window.panel<AttentionPanel>()->plot(), Side::kB,
                 rig.window.panel<AttentionPanel>()->head(), kFirstPlace, 1);
  }

  void ChannelsAreDrawnALineALayer() {
    Rig rig;
    QVERIFY(rig.Open());
    ChannelPlot* plot = rig.window.panel<ChannelPanel>()->plot();
    rig.Find<QSpinBox>("smoothing")->setValue(1);
    QCOMPARE(plot->layer_lines().size(), static_cast<size_t>(FakeEngine::kLayers));
    QCOMPARE(plot->layer_lines()[0]->data()->size(), static_cast<int>(FakeEngine::kTokens) - 30);
    const Record* hidden = rig.session->record(Side::kA, "hidden_channels");
    QCOMPARE(plot->layer_lines()[4]->data()->at(0)->value,
             ValueAt(*hidden, "hidden_channel", {4, 0, 30}));
  }

  void ErrorsStayUntilDismissedOrPast() {
    Rig rig;
    rig.Find<QLineEdit>("model")->setText("missing.gguf");
    QSignalSpy failed(rig.session, &Session::Failed);
    QTest::mouseClick(rig.Find<QPushButton>("open"), Qt::LeftButton);
    QVERIFY(SpyUntil(failed, [&] { return !failed.isEmpty(); }));
    ErrorBar* bar = rig.window.errors();
    QVERIFY(bar->isVisible());
    const QString text = rig.Find<QLabel>("error_text")->text();
    QVERIFY2(text.contains("missing.gguf") && text.contains("no such file") &&
                 text.contains("Give a .gguf file"),
             qPrintable(text));
    // When a model opens afterwards, its error is removed, and no other.
    bar->Add("another");
    rig.Find<QLineEdit>("model")->setText("embedded");
    QVERIFY(rig.Open());
    QCOMPARE(bar->messages(), QStringList{"another"});
    QVERIFY(bar->isVisible());
    QTest::mouseClick(rig.Find<QToolButton>("error_dismiss"), Qt::LeftButton);
    QVERIFY(!bar->isVisible());
  }

  void BadPlacesAreAnError() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Find<QLineEdit>("places")->setText("1,zwei");
    QTest::mouseClick(rig.Find<QPushButton>("run"), Qt::LeftButton);
    QTRY_COMPARE(rig.window.errors()->messages().size(), 1);
    QVERIFY(rig.window.errors()->messages().first().contains("'zwei'"));
  }

  void OwnTextMarksGoldInBytes() {
    Rig rig;
    PromptEditor* editor = rig.window.prompt_panel()->editor();
    rig.Find<QTabWidget>("prompt_pages")->setCurrentIndex(1);
    editor->setPlainText(QString::fromUtf8("Zoë\u00a0kaufte\nÄpfel."));
    QTextCursor cursor = editor->textCursor();
    cursor.setPosition(11);
    cursor.setPosition(16, QTextCursor::KeepAnchor);
    QCOMPARE(cursor.selectedText(), QString::fromUtf8("Äpfel"));
    editor->setTextCursor(cursor);
    rig.Find<QPushButton>("own_text_gold")->click();
    PromptRequest prompt_request = rig.window.prompt_panel()->prompt_request();
    QVERIFY(prompt_request.task.empty());
    QCOMPARE(prompt_request.text, std::string("Zo\xc3\xab\xc2\xa0kaufte\n\xc3\x84pfel."));
    QCOMPARE(prompt_request.text.substr(prompt_request.gold_begin,
                                        prompt_request.gold_end - prompt_request.gold_begin),
             std::string("\xc3\x84pfel"));
    // The gold mark moves with the text.
    editor->textCursor().document()->begin();
    QTextCursor start(editor->document());
    start.insertText(QStringLiteral("Also: "));
    prompt_request = rig.window.prompt_panel()->prompt_request();
    QCOMPARE(prompt_request.text.substr(prompt_request.gold_begin,
                                        prompt_request.gold_end - prompt_request.gold_begin),
             std::string("\xc3\x84pfel"));
  }

  void ResultsComeBackFromAFile() {
    Rig rig;
    QVERIFY(rig.Open());
    Intervention interpolated;
    interpolated.Add(TermOf(PositionInterpolation{1.5}));
    rig.window.history()->Change({{}, interpolated}, false);
    QVERIFY(rig.Settle());
    QTemporaryDir folder;
    const QString path = folder.filePath("screen");  // recognised by its first bytes
    SaveResults(*rig.session, path);
    Rig other;
    QVERIFY2(other.OpenResults(path), qPrintable(other.window.errors()->messages().join('\n')));
    CompareGraph(*other.window.panel<AttentionPanel>()->plot(), Side::kA,
                 other.window.panel<AttentionPanel>()->head(), kFirstPlace, 0);
    CompareGraph(*other.window.panel<AttentionPanel>()->plot(), Side::kB,
                 other.window.panel<AttentionPanel>()->head(), kFirstPlace, 1);
    QCOMPARE(other.window.panel<HeadMapPanel>()->plot()->CellValue({1, 2}),
             double{FakeEngine::Score(1, 2, 0)});
    QCOMPARE(other.window.panel<OutcomePanel>()->plot()->lines().size(), size_t{2});
    QVERIFY(other.session->setting(Side::kB).Find<PositionInterpolation>() != nullptr);
    QCOMPARE(other.window.panel<AttentionPanel>()->plot()->gold(), (TokenSpan{"gold", 50, 60}));
  }

  void PlotsAreExported() {
    Rig rig;
    QVERIFY(rig.Open());
    QTemporaryDir folder;
    rig.window.ExportTo(folder.filePath("pictures"), false);
    QVERIFY(rig.window.errors()->messages().isEmpty());
    const QFileInfoList files = QDir(folder.filePath("pictures")).entryInfoList(QDir::Files);
    // Written in three formats and as numbers: one plot per panel, including a record, the position
    // ratios.
    QVERIFY(rig.window.plots().size() >= 5);
    QCOMPARE(files.size(), 4 * static_cast<qsizetype>(rig.window.plots().size()));
    for (const QFileInfo& file : files) QVERIFY(file.size() > (file.suffix() == "csv" ? 50 : 1000));
    rig.window.ExportTo("/dev/null/nowhere", false);
    QCOMPARE(rig.window.errors()->messages().size(), 1);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::WindowTest)
#include "window_test.moc"
