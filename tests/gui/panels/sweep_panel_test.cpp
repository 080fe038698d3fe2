// SPDX-License-Identifier: MIT
// Sweeps that the window runs as processes, with the embedded model.
#include <QFile>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "core/terms/intervention_text.h"
#include "gui/panels/outcome/sweep_panel.h"
#include "gui/session/command_arguments.h"
#include "gui/session/setting_history.h"
#include "gui/session/sweep_process.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/parameter_form.h"
#include "probes/client/engine_command.h"
#include "probes/client/engine_link.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class SweepPanelTest : public QObject {
  Q_OBJECT

 private:
  // A planted engine whose model has the name of the embedded one, so that only the sweep runs
  // that.
  struct Rig : WindowRig<> {
    QTemporaryDir folder;
    SweepPanel* panel = window.panel<SweepPanel>();
    QString file = folder.filePath("run.h5");

    bool Open(const char* samples) {
      Show();
      window.ShowPanel(panel);
      if (!OpenModel()) return false;
      window.history()->Change({{}, ParseIntervention("pi(1.2)")}, false);
      panel->form()->SetText("samples", samples);
      panel->form()->SetText("places", "1,4");
      panel->form()->SetText("out", file.toStdString());
      return Settle();
    }
    void Click(const char* button) {
      QTest::mouseClick(panel->findChild<QPushButton*>(QLatin1String(button)), Qt::LeftButton);
    }
    QString Note() { return Find<ElidedLabel>("sweep_note")->text(); }
    bool Ended() {
      return QTest::qWaitFor([this] { return !panel->sweep()->running(); }, 100000);
    }
  };

 private Q_SLOTS:
  void TheCommandIsOfWhatIsOnTheScreen() {
    Rig rig;
    QVERIFY(rig.Open("3"));
    const QString line = CommandText(rig.panel->Arguments());
    QVERIFY2(line.startsWith("midscope sweep embedded --dtype "), qPrintable(line));
    QVERIFY(line.contains(" --places 1,4 --samples 3 "));
    QVERIFY(line.contains(" --with none --with 'pi(1.2)' "));
    QVERIFY(line.endsWith(" --out " + rig.file));
    // A duplicate setting is run once.
    rig.panel->form()->SetText("with", "pi(1.20)");
    QCOMPARE(rig.panel->Arguments().count("--with"), 2);
    QCOMPARE(CommandText({"a'b", "", "c d"}), QString("midscope 'a'\\''b' '' 'c d'"));
  }

  void TheProgramIsThatOfTheEngine() {
    qputenv("MIDSCOPE_PROGRAM", "/bin/echo");
    SweepProcess sweep(std::make_shared<EngineLink>(LocalEngine()));
    sweep.Start({"sweep", "embedded"}, false);
    QVERIFY(QTest::qWaitFor([&] { return !sweep.running(); }));
    qunsetenv("MIDSCOPE_PROGRAM");
    QCOMPARE(sweep.output(), QString("sweep embedded --progress json\n"));
  }

  // The progress counts the samples; the table says how many are in it.
  void ACountIsTheHeadingOfItsTable() {
    const QTemporaryDir folder;
    const QString program = folder.filePath("program");
    QFile file(program);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "#!/bin/sh\nprintf 'midscope: a note\\nmidscope: 2 of 3 samples\\nso far 1\\n\\n' >&2\n");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
    qputenv("MIDSCOPE_PROGRAM", program.toLocal8Bit());
    SweepProcess sweep(std::make_shared<EngineLink>(LocalEngine()));
    QStringList notes;
    QString table;
    connect(&sweep, &SweepProcess::Noted, &sweep, [&](const QString& note) { notes << note; });
    connect(&sweep, &SweepProcess::TableChanged, &sweep,
            [&](const QString& text) { table = text; });
    sweep.Start({"sweep", "embedded"}, true);
    QVERIFY(QTest::qWaitFor([&] { return !sweep.running(); }));
    qunsetenv("MIDSCOPE_PROGRAM");
    QCOMPARE(notes, QStringList{"a note"});
    QCOMPARE(table, QStringLiteral("2 of 3 samples\nso far 1\n"));
  }

  // MIDSCOPE_PROGRAM may be another version of the program.
  void LinesThatAreNoProgressAreText() {
    const auto progress =
        SweepProcess::ReadProgress(R"({"stage":"sweep","done":12,"total":40,"unit":"samples"})");
    QVERIFY(progress && progress->stage == "sweep" && progress->done == 12);
    for (const char* line :
         {"text", "{", "{}", "[1]", R"({"stage":3})", R"({"stage":"sweep","done":"12"})",
          R"({"stage":"sweep","total":null})", R"({"stage":"sweep","unit":[]})"})
      QVERIFY2(!SweepProcess::ReadProgress(QString::fromUtf8(line)), line);
  }

  void WithoutAModelItSaysWhatIsMissing() {
    WindowRig<> rig;
    rig.Show();
    auto* panel = rig.window.panel<SweepPanel>();
    rig.window.ShowPanel(panel);
    QTest::mouseClick(panel->findChild<QPushButton*>("sweep_start"), Qt::LeftButton);
    QVERIFY(rig.Find<ElidedLabel>("sweep_note")->text().contains("Open a model"));
    QVERIFY(!panel->sweep()->running());
  }

  void ASweepRunsAndItsFileOpens() {
    Rig rig;
    QVERIFY(rig.Open("3"));
    rig.Click("sweep_cost");
    QVERIFY(rig.Ended());
    QVERIFY2(rig.Note().startsWith("about "), qPrintable(rig.Note()));
    QVERIFY(!QFile::exists(rig.file));
    int most = 0;
    connect(rig.panel->sweep(), &SweepProcess::Progressed, rig.panel,
            [&most](const Progress& progress) {
              if (progress.stage == "sweep")
                most = std::max(most, static_cast<int>(progress.total));
            });
    rig.Click("sweep_start");
    QVERIFY(rig.panel->sweep()->running());
    QVERIFY(rig.Ended());
    QVERIFY2(rig.Note().startsWith("Done: "), qPrintable(rig.Note()));
    QCOMPARE(most, 3);
    // The command's own tables, including p values.
    QVERIFY(rig.panel->table().contains("pi(1.2)"));
    QVERIFY(rig.panel->table().contains("gap by chance"));
    QSignalSpy opened(rig.window.files(), &FileMenu::ResultsOpened);
    rig.Click("sweep_open");
    QVERIFY(SpyUntil(opened, [&] { return !opened.isEmpty(); }));
    QVERIFY(rig.window.errors()->messages().isEmpty());
    QVERIFY(rig.session->shows_file());
  }

  void OwnTextMovesItsGoldPassage() {
    Rig rig;
    QVERIFY(rig.Open("7"));
    PromptRequest own;
    own.task.clear();
    own.text = "The mill is Tom's.\nThe inn is Ann's.\nThe farm is Sue's.";
    own.pieces = {{"", 0, 18}, {"", 19, 36}, {"", 37, 55}};
    own.gold_begin = 19;
    own.gold_end = 36;
    own.question = "Whose is the inn?";
    rig.session->SetPrompt(own);
    QVERIFY(rig.Settle());
    rig.panel->form()->SetText("places", "1,3");
    rig.Click("sweep_start");
    QVERIFY2(rig.Note().contains("no answer"), qPrintable(rig.Note()));
    own.answer = " Ann";
    rig.session->SetPrompt(own);
    QVERIFY(rig.Settle());
    const QString line = CommandText(rig.panel->Arguments());
    const QString text = rig.folder.filePath("run.text.jsonl");
    QVERIFY2(line.contains(" --task passages:file=" + text), qPrintable(line));
    QVERIFY2(line.contains(" --places 1,3 --samples 1 "), qPrintable(line));
    rig.Click("sweep_cost");
    QVERIFY(rig.Ended());
    QVERIFY2(rig.Note().startsWith("about "), qPrintable(rig.Note()));
    rig.Click("sweep_start");
    QVERIFY(rig.Ended());
    QVERIFY2(rig.Note().startsWith("Done: "), qPrintable(rig.Note()));
    QVERIFY(QFile::exists(text));
    QVERIFY(rig.panel->table().contains("pi(1.2)"));
  }

  void ASweepThatWasStoppedGoesOn() {
    Rig rig;
    QVERIFY(rig.Open("30"));
    int done = 0;
    connect(rig.panel->sweep(), &SweepProcess::Progressed, rig.panel,
            [&done](const Progress& progress) {
              if (progress.stage == "sweep") done = static_cast<int>(progress.done);
            });
    rig.Click("sweep_start");
    QVERIFY(QTest::qWaitFor([&] { return done >= 1; }, 60000));
    rig.Click("sweep_cancel");
    QVERIFY(rig.Ended());
    QVERIFY2(rig.Note().startsWith("Stopped"), qPrintable(rig.Note()));
    QVERIFY(QFile::exists(rig.file));
    QVERIFY(rig.panel->Arguments().contains("--resume"));
    // For another plan, the file is rejected with the command's own message.
    rig.panel->form()->SetText("places", "2");
    rig.Click("sweep_start");
    QVERIFY(rig.Ended());
    QVERIFY2(rig.Note().contains("place"), qPrintable(rig.Note()));
  }

  void ADraggedSliderHoldsIt() {
    Rig rig;
    QVERIFY(rig.Open("200"));
    rig.Click("sweep_start");
    rig.session->SetSettings({}, ParseIntervention("pi(1.5)"), true);
    QTRY_VERIFY(rig.panel->sweep()->held());
    rig.session->SetSettings({}, ParseIntervention("pi(1.5)"), false);
    QTRY_VERIFY(!rig.panel->sweep()->held());
    rig.panel->sweep()->Stop();
    QVERIFY(rig.Ended());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SweepPanelTest)
#include "sweep_panel_test.moc"
