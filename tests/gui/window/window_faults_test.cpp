// SPDX-License-Identifier: MIT
// Regression tests for faults found in the window.
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QGroupBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/probe_form.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

// A narrow model of 20 layers that rejects channels and layers that it lacks.
class SmallModelEngine : public FakeEngine {
 public:
  static constexpr int64_t kFewLayers = 20;
  static constexpr int64_t kFewChannels = 64;

  using FakeEngine::FakeEngine;
  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    ModelSummary summary = FakeEngine::Open(request, context);
    summary.config.layers = kFewLayers;
    summary.config.hidden = kFewChannels;
    return summary;
  }
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    Check(request.intervention, request.channels);
    return FakeEngine::CaptureRun(request, context);
  }
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    Check(request.intervention, request.channels);
    return FakeEngine::WhatIf(request, partial, context);
  }

 private:
  static void Check(const Intervention& intervention, const std::vector<int64_t>& channels) {
    for (const ChannelScaling& scaling : intervention.All<ChannelScaling>()) {
      if (scaling.channel >= kFewChannels) throw UsageError("channel", "there is none such");
      for (const LayerSet::Range& range : scaling.layers.ranges) {
        if (range.last >= kFewLayers) throw UsageError("layers", "leaves the model's layers");
      }
    }
    for (const int64_t channel : channels) {
      if (channel >= kFewChannels) throw UsageError("channels", "there is none such");
    }
  }
};

// One of two probes fails; counts capture runs.
class EngineWithFailingProbe : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    ModelSummary summary = FakeEngine::Open(request, context);
    summary.probes = {{"retrieval_heads", "", "", "", "", true, {}}};
    return summary;
  }
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    CaptureRunReply reply = FakeEngine::CaptureRun(request, context);
    ++runs;
    if (request.probe_options.find("retrieval_heads") != std::string::npos) {
      reply.failures = {"probe 'retrieval_heads': the prompt has no answer"};
    }
    return reply;
  }
  static inline std::atomic<int> runs = 0;
};

// None of the words of the lists is one token.
class ByteModelEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  std::vector<Record> SetPrompt(const PromptRequest& prompt_request,
                                const JobContext& context) override {
    if (prompt_request.task.starts_with("list")) {
      throw UsageError("task 'list:lines=20'", "only 0 of its items are one token in this model",
                       "Take a task whose answers may have several tokens, such as kv:pairs=5");
    }
    return FakeEngine::SetPrompt(prompt_request, context);
  }
};

class WindowFaultsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void ATaskThatTheModelCannotDoNamesOneThatRunsAtAClick() {
    WindowRig<ByteModelEngine> rig;
    rig.Show();
    rig.window.OpenModel("embedded");
    QTRY_COMPARE(rig.window.errors()->messages().size(), qsizetype{1});
    auto* action = rig.Find<QToolButton>("error_action");
    QTRY_COMPARE(action->text(), QString("Run kv:pairs=5"));
    QVERIFY(action->isVisible());
    action->click();
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->task, std::string("kv:pairs=5"));
    QVERIFY(rig.window.errors()->messages().isEmpty());
  }

  void TheMarkedHeadIsTheChosenOneAfterEveryChange() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    rig.Find<QSpinBox>("attention_layer")->setValue(3);
    rig.Find<QSpinBox>("attention_head")->setValue(2);
    const auto check = [&](const char* when) {
      QVERIFY2(map->selected() == (HeadId{3, 2}), when);
      QVERIFY2(map->marked_cell().center() == QPointF(2, 3), when);
      QVERIFY2(rig.window.panel<AttentionPanel>()->head() == (HeadId{3, 2}), when);
    };
    check("chosen");
    rig.session->SetPlace(3);
    rig.session->FlushChanges();
    QVERIFY2(map->marked_cell().isEmpty(), "nothing is drawn, nothing is marked");
    QVERIFY(rig.Settle());
    check("another place");
    QTest::mouseClick(rig.Find<QPushButton>("run"), Qt::LeftButton);
    QVERIFY(rig.Settle());
    check("run again");
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kB);
    check("B is the same as A");
    QVERIFY(rig.OpenModel());
    check("another model");
    QTest::keyClick(map, Qt::Key_Right);
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), (HeadId{3, 3}));
  }

  void AMapOfBWithoutBShowsAAndSaysSo() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kDifference);
    HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    QCOMPARE(map->CellValue({2, 3}), double{FakeEngine::Score(2, 3, 0)});
    QVERIFY(rig.Find<QLabel>("map_note")->text().contains("A is shown"));
    QVERIFY2(map->title().contains("A: none"), qPrintable(map->title()));
  }

  void TheFirstTickOfTheChannelKnobFitsTheModel() {
    WindowRig<SmallModelEngine> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.settings()->stack()->SwitchCard(0, true);
    QVERIFY(rig.Settle());
    QVERIFY2(rig.window.errors()->messages().isEmpty(),
             qPrintable(rig.window.errors()->messages().join('\n')));
    const ChannelScaling& scaling = *rig.session->setting(Side::kB).Find<ChannelScaling>();
    QCOMPARE(scaling.layers.Text(), std::string("5-16"));  // a quarter to five sixths of 20 layers
    QCOMPARE(scaling.channel, int64_t{SmallModelEngine::kFewChannels - 1});
    QCOMPARE(rig.Find<QComboBox>("term_channel_layers")->currentText(), QString("5-16"));
    QCOMPARE(rig.session->channel(), int64_t{SmallModelEngine::kFewChannels - 1});
  }

  void LayersThatAModelDoesNotHaveAreShownAsTheyAre() {
    WindowRig<SmallModelEngine> rig;
    rig.Show();
    rig.window.history()->Change({{}, ParseIntervention("channel(7, factor=-1, layers=8-25)")},
                                 false);
    rig.window.OpenModel(QStringLiteral("embedded"));
    QSignalSpy failed(rig.session, &Session::Failed);
    QVERIFY(SpyUntil(failed, [&] { return !failed.isEmpty(); }));
    QCOMPARE(rig.Find<QComboBox>("term_channel_layers")->currentText(), QString("8-25"));
    QCOMPARE(rig.session->setting(Side::kB).Find<ChannelScaling>()->layers.Text(),
             std::string("8-25"));
  }

  void TheChannelPlotShowsBAndFollowsItsChannel() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.settings()->stack()->SwitchCard(0, true);
    rig.Find<QDoubleSpinBox>("term_channel_factor")->setValue(-1);
    QVERIFY(rig.Settle());
    ChannelPlot* plot = rig.window.panel<ChannelPanel>()->plot();
    rig.Find<QSpinBox>("smoothing")->setValue(1);
    // The layers of A, and the means of A and B.
    QCOMPARE(plot->layer_lines().size(), static_cast<size_t>(FakeEngine::kLayers));
    const QCPGraph* mean_b = plot->mean_of(Side::kB);
    QVERIFY(mean_b && plot->mean_of(Side::kA));
    const Record* hidden = rig.session->record(Side::kB, "hidden_channels");
    double mean = 0;
    for (int64_t layer = 2; layer <= 5; ++layer) {  // MiddleLayers(6)
      mean += ValueAt(*hidden, "hidden_channel", {layer, 0, 40}) / 4;
    }
    QCOMPARE(rig.session->setting(Side::kB).Find<ChannelScaling>()->layers.Text(),
             std::string("2-5"));
    QVERIFY(qAbs(mean_b->data()->at(10)->value - mean) < 1e-9);  // 30 positions are dropped
    QVERIFY(mean_b->pen().style() == Qt::DashLine);
    QVERIFY2(mean_b->name().contains(QStringLiteral("× -1")), qPrintable(mean_b->name()));
    QVERIFY(plot->mean_of(Side::kA)->data()->at(10)->value != mean_b->data()->at(10)->value);
    // The plot shows the channel of the control until another one is chosen in the plot.
    rig.Find<QDoubleSpinBox>("term_channel_channel")->setValue(57);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->channel(), int64_t{57});
    QVERIFY2(plot->title().contains("57"), qPrintable(plot->title()));
    rig.Find<QSpinBox>("shown_channel")->setValue(11);
    QVERIFY(rig.Settle());
    rig.Find<QDoubleSpinBox>("term_channel_channel")->setValue(58);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->channel(), int64_t{11});
  }

  void PositionRatiosHaveAPicture() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    const QString choice = QStringLiteral("position_ratio: position_ratio [layer, head]");
    QVERIFY2(rig.window.panel<RecordPanel>()->choices().contains(choice),
             qPrintable(rig.window.panel<RecordPanel>()->choices().join('\n')));
    rig.window.panel<RecordPanel>()->Choose(choice);
    QVERIFY(rig.window.panel<RecordPanel>()->shows_picture());
    QCOMPARE(rig.window.panel<RecordPanel>()->plot()->ValueOf(2, 3), 1.0);
  }

  void AFailingProbeFailsAloneAndRunsAgainOnASecondClick() {
    WindowRig<EngineWithFailingProbe> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.session->SetProbeOptions(R"({"probes":"default,retrieval_heads"})");
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    QVERIFY2(rig.window.errors()->messages().join('\n').contains("the prompt has no answer"),
             "its message is shown");
    QVERIFY(rig.session->settled(Side::kA));
    QVERIFY(rig.session->record(Side::kA, "position_awareness"));
    const int before = EngineWithFailingProbe::runs;
    QSignalSpy busy(rig.session, &Session::BusyChanged);
    auto* form = rig.window.panel<RecordPanel>()->findChild<ProbeForm*>("probes");
    QTest::mouseClick(form->findChild<QPushButton*>("run_probes"), Qt::LeftButton);
    QTest::mouseClick(form->findChild<QPushButton*>("run_probes"), Qt::LeftButton);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    QVERIFY(EngineWithFailingProbe::runs > before);
    QVERIFY(!busy.isEmpty());
  }

  void TheGoldNoteIsOfTheTextAsItStands() {
    WindowRig<> rig;
    PromptEditor* editor = rig.window.prompt_panel()->editor();
    auto* note = rig.Find<QLabel>("own_text_marks");
    editor->setPlainText(QStringLiteral("Ann bought <b>bread</b>. Bob bought milk."));
    editor->MarkBytes(0, 24);
    QVERIFY2(note->text().contains("Ann bought"), qPrintable(note->text()));
    QTextCursor start(editor->document());
    start.setPosition(4);
    start.insertText(QStringLiteral("and Cid "));
    QVERIFY2(note->text().contains("Ann and Cid"), qPrintable(note->text()));
    editor->selectAll();
    editor->insertPlainText(QStringLiteral("Something else."));
    QVERIFY(note->text().contains("nothing is marked"));
    QCOMPARE(editor->GoldBytes(), (std::pair<int64_t, int64_t>{0, 0}));
  }

  void RunSaysThatWhatIsAskedIsNotWhatIsShown() {
    WindowRig<> rig;
    rig.Show();
    auto* run = rig.Find<QPushButton>("run");
    QVERIFY(rig.OpenModel());
    QVERIFY(!run->toolTip().contains("not on the screen yet"));
    auto* places = rig.Find<QLineEdit>("places");
    places->setText(QStringLiteral("1,4"));
    QVERIFY2(run->toolTip().contains("not on the screen yet"), qPrintable(run->toolTip()));
    places->setText(QString());
    QVERIFY(!run->toolTip().contains("not on the screen yet"));
    places->setText(QStringLiteral("1,4"));
    QTest::mouseClick(run, Qt::LeftButton);
    QVERIFY2(run->toolTip().contains("not on the screen yet"), "until its prompts are there");
    QVERIFY(SpyUntil(rig.stopped, [&] { return rig.session->prompts().size() == 2; }));
    QVERIFY(!run->toolTip().contains("not on the screen yet"));
    rig.Find<QTabWidget>("prompt_pages")->setCurrentIndex(1);
    QVERIFY(run->toolTip().contains("not on the screen yet"));
  }

  void ThePromptFormatIsPartOfWhatIsAsked() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    auto* panel = rig.window.findChild<PromptPanel*>();
    QVERIFY(panel);
    QCOMPARE(panel->prompt_request().format, PromptFormat());
    auto* system = rig.Find<QComboBox>("option_system");
    system->setEditText(QStringLiteral("Be brief."));
    QVERIFY_THROWS_EXCEPTION(Error, panel->prompt_request());  // this format has no chat
    rig.Find<QCheckBox>("option_chat")->setChecked(true);
    rig.Find<QComboBox>("option_bos")->setCurrentText(QStringLiteral("off"));
    rig.Find<QLineEdit>("option_chat-option")->setText(QStringLiteral("enable_thinking=false"));
    const PromptFormat format = panel->prompt_request().format;
    QCOMPARE(format.chat_template, std::string("model"));
    QCOMPARE(format.system, std::string("Be brief."));
    QCOMPARE(format.bos, BosRule::kOff);
    QCOMPARE(format.chat_options.variables_json, std::string(R"({"enable_thinking":false})"));
    QVERIFY(rig.Find<QPushButton>("run")->toolTip().contains("not on the screen yet"));
    PromptRequest prompt_request = panel->prompt_request();
    prompt_request.format = PromptFormat();
    panel->SetPrompt(prompt_request);
    QVERIFY(!rig.Find<QCheckBox>("option_chat")->isChecked());
    QCOMPARE(panel->prompt_request().format, PromptFormat());
  }

  void WhatWasSentIsShownForThePlace() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    auto* sent = rig.Find<QLineEdit>("sent");
    auto* place = rig.Find<QComboBox>("place");
    QVERIFY(place->count() > 1);
    for (int i = 0; i < place->count(); ++i) {
      place->setCurrentIndex(i);
      QCOMPARE(sent->text(),
               "prompt at place " + place->currentText().section(QLatin1Char(' '), 0, 0));
    }
  }

  void AModelThatFailsToOpenLeavesTheOneBefore() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QSignalSpy failed(rig.session, &Session::Failed);
    rig.window.OpenModel(QStringLiteral("missing.gguf"));
    QVERIFY(rig.session->model());  // until the other model is open
    QVERIFY(SpyUntil(failed, [&] { return !failed.isEmpty(); }));
    QVERIFY(rig.session->model() && rig.session->prompt());
    QVERIFY(rig.session->record(Side::kA, "position_awareness"));
    rig.window.history()->Change({{}, ParseIntervention("pi(1.5)")}, false);
    QVERIFY(rig.Settle());
    QCOMPARE(failed.size(), 1);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::WindowFaultsTest)
#include "window_faults_test.moc"
