// SPDX-License-Identifier: MIT
// Session files, the state stored between starts, and the options of probes.
#include <QCheckBox>
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/file_menu.h"
#include "gui/files/session_file.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/channels/channel_search_panel.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/input_boxes.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/probe_form.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

// An engine that returns the request in a record.
class EngineWithProbes : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    ModelSummary summary = FakeEngine::Open(request, context);
    Parameter top;
    top.name = "lens-top";
    top.kind = ParameterKind::kWholeNumber;
    top.help = "how many tokens";
    top.minimum = 1;
    top.default_value = int64_t{5};
    summary.probes = {{"logit_lens", "what each layer would say", "", "", "", true, {top}}};
    return summary;
  }
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    CaptureRunReply reply = FakeEngine::CaptureRun(request, context);
    if (request.probe_options.find("logit_lens") == std::string::npos) return reply;
    Record record;
    record.name = "logit_lens";
    record.axes = {{"rank", 2, "", {}, {}}};
    record.arrays = {{"value", {"rank"}, std::vector<double>{1, 2}, "", ""}};
    record.attributes["options"] = request.probe_options;
    Stamp(request.intervention, request.place, record);
    reply.records.push_back(record);
    record.name = "beside_lens";  // a record that no panel shows
    reply.records.push_back(record);
    return reply;
  }
};

class SessionsTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<EngineWithProbes> {
    QString Errors() { return window.errors()->messages().join('\n'); }
  };

  static SavedSession Example() {
    SavedSession saved;
    saved.model = "some model.gguf";
    saved.model_options.SetText("dtype", "bfloat16");
    saved.prompt_request.task.clear();
    saved.prompt_request.text = "Zo\u00eb\u00a0bought\n\u00c4pfel.";
    saved.prompt_request.gold_begin = 13;
    saved.prompt_request.gold_end = 19;
    saved.prompt_request.answer = " \u00c4pfel";
    saved.prompt_request.format.bos = BosRule::kOn;
    saved.prompt_request.format.chat_template = "llama2";
    saved.prompt_request.format.system = "Be brief.";
    AddChatOption("enable_thinking=false", &saved.prompt_request.format.chat_options);
    saved.place_index = 0;
    saved.settings = {ParseIntervention("pi(1.5)"),
                      ParseIntervention("channel(100, factor=-1) + crop(span=gold)")};
    saved.panels = {{"channel", 7},
                    {"samples", 12},
                    {"head", "L3H2"},
                    {"probes", {{"probes", "default,logit_lens"}, {"lens-top", 3}}}};
    return saved;
  }

 private Q_SLOTS:
  void TheTextOfASessionIsStable() {
    const std::string text = SessionText(Example());
    QCOMPARE(SessionText(ParseSession(text, "x")), text);
    QVERIFY(text.find("\"midscope_session\": 1") < text.find("\"model\""));
    SavedSession task;
    task.prompt_request.places = "1,50%";
    task.prompt_request.seed = 7;
    const SavedSession back = ParseSession(SessionText(task), "x");
    QCOMPARE(back.prompt_request.places, task.prompt_request.places);
    QCOMPARE(back.prompt_request.seed, uint64_t{7});
    QVERIFY(back.panels.empty());
  }

  // Entries that are missing in a file get the values of a new window.
  void ASessionWithoutPanelsOpensAsANewWindow() {
    Rig rig;
    SavedSession saved;
    saved.panels = {{"channel", 7}, {"samples", 0}, {"probes", {{"probes", "logit_lens"}}}};
    rig.window.files()->Apply(saved);
    QCOMPARE(rig.session->channel(), int64_t{7});
    rig.window.files()->Apply(ParseSession(R"({"midscope_session":1,"model":"m"})", "x"));
    QCOMPARE(rig.session->channel(), int64_t{100});
    QCOMPARE(rig.session->samples(), int64_t{20});
    QCOMPARE(rig.session->probe_options(), std::string("{}"));
  }

  void BadSessionsAreNamed_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    QTest::newRow("no JSON") << "model"
                             << "not JSON";
    QTest::newRow("no session") << "{}"
                                << "not a session of this version";
    QTest::newRow("typo") << R"({"midscope_session":1,"model":"embedded","chanel":3})"
                          << "chanel";
    QTest::newRow("option") << R"({"midscope_session":1,"model":"m","model_options":{"dtype":3}})"
                            << "dtype";
    QTest::newRow("setting") << R"J({"midscope_session":1,"model":"m","setting_b":"pi(x)"})J"
                             << "column";
    QTest::newRow("place") << R"({"midscope_session":1,"model":"m","place_index":-5})"
                           << "place_index";
    QTest::newRow("channel") << R"({"midscope_session":1,"model":"m","channel":-1})"
                             << "has a 'channel' that is not an integer >= 0";
    QTest::newRow("samples") << R"({"midscope_session":1,"model":"m","samples":1.5})"
                             << "has a 'samples' that is not an integer >= 0";
    QTest::newRow("head") << R"({"midscope_session":1,"model":"m","head":"first"})"
                          << "--head: 'first' is not a head. Write it as L12H3";
    QTest::newRow("probes") << R"({"midscope_session":1,"model":"m","probes":7})"
                            << "its probes must be an object";
    QTest::newRow("gold") << R"({"midscope_session":1,"model":"m",
        "subject":{"text":"ab","spans":{"gold":[1,9]}}})"
                          << "gold";
    QTest::newRow("places") << R"({"midscope_session":1,"model":"m",
        "subject":{"task":"list","places":["x"]}})"
                            << "place";
  }

  void BadSessionsAreNamed() {
    QFETCH(QString, text);
    QFETCH(QString, says);
    try {
      ParseSession(text.toStdString(), "mine.midscope");
      QFAIL("an error was expected");
    } catch (const Error& error) {
      const QString message = QString::fromUtf8(error.what());
      QVERIFY2(message.contains("mine.midscope") && message.contains(says), error.what());
    }
  }

  void ASessionComesBackIntoAnotherWindow() {
    QTemporaryDir folder;
    const QString file = folder.filePath("one.midscope");
    WriteSessionFile(file, Example());
    Rig rig;
    rig.window.files()->OpenPath(file);
    QVERIFY2(rig.Settle(), qPrintable(rig.Errors()));
    QVERIFY2(rig.Errors().isEmpty(), qPrintable(rig.Errors()));
    QCOMPARE(rig.session->model()->dtype, std::string("bfloat16"));
    QCOMPARE(rig.window.panel<AttentionPanel>()->head(), (HeadId{3, 2}));
    QCOMPARE(rig.window.history()->current(), Example().settings);
    QVERIFY(rig.session->record(Side::kB, "logit_lens"));
    const QString again = folder.filePath("two.midscope");
    rig.window.files()->SaveSession(again);
    QVERIFY2(rig.Errors().isEmpty(), qPrintable(rig.Errors()));
    SavedSession written = ReadSessionFile(again);
    QCOMPARE(QByteArray::fromBase64(QByteArray::fromStdString(written.layout)),
             rig.window.docks()->State());
    written.layout.clear();  // the example has no layout
    written.view = nullptr;
    // It also omits the choices of the map and the text.
    QCOMPARE(written.panels.erase("head_map") + written.panels.erase("text"), size_t{2});
    QCOMPARE(SessionText(written), SessionText(Example()));
    // Undo starts from the session.
    QVERIFY(!rig.window.history()->stack()->canUndo());
  }

  void TheLayoutComesBack() {
    QTemporaryDir folder;
    const QString file = folder.filePath("one.midscope");
    {
      Rig rig;
      rig.window.show();
      rig.window.docks()->Arrange(*FindLayout("parts"));
      rig.window.files()->SaveSession(file);
    }
    Rig rig;
    rig.window.show();
    QTRY_VERIFY(rig.window.panel<ChannelPanel>()->isVisible());
    rig.window.files()->OpenPath(file);
    QVERIFY2(rig.Settle(), qPrintable(rig.Errors()));
    QTRY_VERIFY(!rig.window.panel<ChannelPanel>()->isVisible());
    // If the layout cannot be read, the window keeps its own.
    SavedSession saved = ReadSessionFile(file);
    saved.layout = "bm90IGEgbGF5b3V0";
    WriteSessionFile(file, saved);
    rig.window.files()->OpenPath(file);
    QVERIFY2(rig.Settle(), qPrintable(rig.Errors()));
    QVERIFY(!rig.window.panel<ChannelPanel>()->isVisible());
  }

  void TheFormOfTheChannelSearchComesBack() {
    SavedSession saved;
    saved.panels["channel_search"] = {{"threshold", 5}, {"ranking", "no-smoothness"}};
    Rig rig;
    auto* panel = rig.window.panel<ChannelSearchPanel>();
    QVERIFY(panel->State().is_null());  // no value was set
    rig.window.files()->Apply(saved);
    QVERIFY(rig.Settle());
    QCOMPARE(panel->form()->options().Integer("threshold"), int64_t{5});
    QCOMPARE(panel->State(), saved.panels["channel_search"]);
    rig.window.files()->Apply(SavedSession());
    QVERIFY(rig.Settle());
    QVERIFY(panel->State().is_null());
    const std::string bad = R"({"midscope_session":1,"model":"m","channel_search":7})";
    QVERIFY_EXCEPTION_THROWN(ParseSession(bad, "x"), Error);
  }

  void ThePlaceOfTheSessionIsShown() {
    Rig rig;
    SavedSession saved;
    saved.place_index = 4;
    saved.panels["samples"] = 0;
    rig.window.files()->Apply(saved);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->place(), size_t{4});
  }

  void OptionsAndFilesAreRemembered() {
    QTemporaryDir folder;
    const QString settings = folder.filePath("window.ini");
    const QString model = folder.filePath("planted.gguf");
    QFile(model).open(QIODevice::WriteOnly);
    {
      Rig rig;
      rig.window.files()->Remember(settings);
      rig.window.model()->options()->SetText("weights", "stored");
      QVERIFY(rig.OpenModel(model.toUtf8().constData()));
      rig.window.files()->SaveSession(folder.filePath("a.midscope"));
      // A missing file does not become recent.
      rig.window.files()->OpenPath(folder.filePath("none.midscope"));
      QVERIFY(rig.Errors().contains("none.midscope"));
    }
    Rig rig;
    rig.window.files()->Remember(settings);
    QCOMPARE(rig.window.model()->request().weights, std::string("stored"));
    QCOMPARE(rig.window.files()->recent(), (QStringList{folder.filePath("a.midscope"), model}));
    // Without Remember, as in a test, nothing is read or written.
    Rig fresh;
    QVERIFY(fresh.window.files()->recent().isEmpty());
    QCOMPARE(fresh.window.model()->request().weights, std::string("auto"));
  }

  void ABadOptionStaysInTheBarAndNothingIsOpened() {
    Rig rig;
    rig.window.model()->findChild<QComboBox*>("option_device")->setEditText("gpu");
    QTest::mouseClick(rig.window.findChild<QPushButton*>("open"), Qt::LeftButton);
    QVERIFY2(rig.Errors().contains("gpu"), qPrintable(rig.Errors()));
    QVERIFY(!rig.session->has_pending_request());
  }

  void ProbesRunWithTheirOptions() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(!rig.session->record(Side::kA, "logit_lens"));
    auto* form = rig.window.panel<RecordPanel>()->findChild<ProbeForm*>("probes");
    QVERIFY(form);
    form->findChild<QCheckBox*>("probe_logit_lens")->setChecked(true);
    form->findChild<NumberBox*>("option_lens-top")->setValue(3);
    QTest::mouseClick(form->findChild<QPushButton*>("run_probes"), Qt::LeftButton);
    QVERIFY(SpyUntil(rig.stopped, [&] {
      return rig.session->record(Side::kA, "logit_lens") && !rig.session->has_pending_request();
    }));
    QCOMPARE(rig.session->probe_options(),
             std::string(R"({"probes":"default,logit_lens","lens-top":3})"));
    rig.window.panel<RecordPanel>()->Choose("beside_lens: by rank");
    const QString note = rig.window.findChild<QLabel*>("record_note")->text();
    QVERIFY2(note.contains("lens-top 3"), qPrintable(note));
    // When the probe is removed, its record is removed.
    form->findChild<QCheckBox*>("probe_logit_lens")->setChecked(false);
    QTest::mouseClick(form->findChild<QPushButton*>("run_probes"), Qt::LeftButton);
    QVERIFY(SpyUntil(rig.stopped, [&] {
      return !rig.session->record(Side::kA, "logit_lens") && !rig.session->has_pending_request();
    }));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SessionsTest)
#include "sessions_test.moc"
