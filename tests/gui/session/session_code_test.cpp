// SPDX-License-Identifier: MIT
// The session as commands and as Python, with the embedded model: the files that they write contain
// the numbers on the screen.
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "data/store/record_reader.h"
#include "data/sweep/sample_view.h"
#include "gui/actions/action_registry.h"
#include "gui/base/record_access.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/session/sweep_process.h"

#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/test_engine.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

constexpr int kLongestRun = 60000;  // milliseconds

class SessionCodeTest : public QObject {
  Q_OBJECT

 private:
  struct Rig {
    MainWindow window{test::TestEngine()};
    Session* session = window.session();
    QTemporaryDir folder;

    bool Run(const PromptRequest& request) {
      session->SetReleaseDelay(0);
      session->SetSamples(0);
      window.history()->Change({{}, ParseIntervention("pi(1.5)")}, false);
      session->Open({"embedded"}, request);
      return QTest::qWaitFor(
          [this] {
            return session->settled(Side::kA) && session->settled(Side::kB) &&
                   !session->has_pending_request();
          },
          kLongestRun);
    }
    // Runs in the folder, with the program beside the tests in PATH.
    QString Shell(const QString& program, const QStringList& arguments) {
      QProcess process;
      QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
      const QString bin = QCoreApplication::applicationDirPath();
      environment.insert("PATH", bin + ':' + environment.value("PATH"));
      process.setProcessEnvironment(environment);
      process.setWorkingDirectory(folder.path());
      process.setProcessChannelMode(QProcess::MergedChannels);
      process.start(program, arguments);
      const bool ended = process.waitForFinished(100000) && process.exitCode() == 0;
      const QString said = QString::fromUtf8(process.readAll());
      return ended ? QString() : said + process.errorString();
    }
    // The largest difference between the side's attention on the screen and in the file; -1:
    // missing.
    double Difference(Side side, const char* file) {
      const RunFile run = ReadForViewing(folder.filePath(QLatin1String(file)).toStdString());
      const Record* written = FindRecord(run.records, kLastQueryAttention);
      const Record* shown = session->record(side, kLastQueryAttention);
      if (!written || !shown) return -1;
      const auto& a = std::get<std::vector<float>>(written->FindArray(kLastQueryAttention)->data);
      const auto& b = std::get<std::vector<float>>(shown->FindArray(kLastQueryAttention)->data);
      if (a.size() != b.size() || a.empty()) return -1;
      double most = 0;
      for (size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
      return most;
    }
  };

  static PromptRequest OwnPieces() {
    PromptRequest request;
    request.task.clear();
    request.text = "The mill is Tom's.\nThe inn is Ann's.\nThe farm is Sue's.";
    request.pieces = {{"", 0, 18}, {"", 19, 36}, {"", 37, 55}};
    request.gold_begin = 19;
    request.gold_end = 36;
    request.question = "Whose is the inn? It's \"old\" \\ here";
    request.answer = " Ann";
    return request;
  }

 private Q_SLOTS:
  void TheCommandsGiveTheNumbersOnTheScreen() {
    Rig rig;
    PromptRequest request;
    request.task = "list:lines=4";
    QVERIFY(rig.Run(request));
    rig.window.tried()->KeepAs(0, PrintIntervention(ParseIntervention("pi(1.2)")));
    rig.window.actions_list()->Do("copy-session-commands");
    const QString commands = QApplication::clipboard()->text();
    const QStringList lines = commands.split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 4);
    QVERIFY2(lines[2].contains("'pi(1.2)'") && lines[2].endsWith("--out c.h5"),
             qPrintable(lines[2]));
    QVERIFY2(lines[3].startsWith("midscope sweep "), qPrintable(lines[3]));
    const QString said = rig.Shell("sh", {"-ec", commands});
    QVERIFY2(said.isEmpty(), qPrintable(said));
    QVERIFY(rig.Difference(Side::kA, "a.h5") >= 0 && rig.Difference(Side::kA, "a.h5") < 1e-5);
    QVERIFY(rig.Difference(Side::kB, "b.h5") >= 0 && rig.Difference(Side::kB, "b.h5") < 1e-5);
    QVERIFY(rig.Difference(Side::kB, "a.h5") > 1e-4);
    QVERIFY(QFile::exists(rig.folder.filePath("c.h5")));
    // The outcome of the sample on the screen equals that of the sweep for the sample.
    const RunFile sweep = ReadForViewing(rig.folder.filePath("sweep.h5").toStdString());
    const Record* outcome = rig.session->record(Side::kB, kOutcomeRecord);
    bool compared = false;
    for (const Record& record : sweep.records) {
      if (!HasArray(record, kAnswerNll, {"sample", "setting", "place"})) continue;
      compared = true;
      for (int64_t place = 0; place < AxisSize(*outcome, "place"); ++place) {
        const double swept = ValueAt(record, kAnswerNll, {0, 1, place});
        const double shown = ValueAt(*outcome, kAnswerNll, {0, place});
        QVERIFY2(std::abs(swept - shown) < 1e-3,
                 qPrintable(QStringLiteral("%1 %2").arg(swept).arg(shown)));
      }
    }
    QVERIFY(compared);
  }

  void OwnTextWithPiecesIsWrittenOutAndRuns() {
    Rig rig;
    QVERIFY(rig.Run(OwnPieces()));
    rig.window.actions_list()->Do("copy-session-commands");
    const QString said = rig.Shell("sh", {"-ec", QApplication::clipboard()->text()});
    QVERIFY2(said.isEmpty(), qPrintable(said));
    const double difference = rig.Difference(Side::kA, "a.h5");
    QVERIFY2(difference >= 0 && difference < 1e-5, qPrintable(QString::number(difference)));
    QVERIFY(QFile::exists(rig.folder.filePath("sweep.h5")));
  }

  void ThePythonRuns() {
    const QString python = QStandardPaths::findExecutable("python3");
    if (python.isEmpty()) QSKIP("no python3");
    Rig rig;
    QVERIFY(rig.Run(OwnPieces()));
    rig.window.actions_list()->Do("copy-session-python");
    const QString bad = rig.Shell(python, {"-c", "import ast, sys; ast.parse(sys.argv[1])",
                                           QApplication::clipboard()->text()});
    QVERIFY2(bad.isEmpty(), qPrintable(bad));
    if (!rig.Shell(python, {"-c", "import h5py"}).isEmpty()) QSKIP("no h5py");
    const QString script = QApplication::clipboard()->text() +
                           "assert arrays['B']['last_query_attention'].ndim == 3\n";
    const QString said = rig.Shell(python, {"-c", script});
    QVERIFY2(said.isEmpty(), qPrintable(said));
  }

  // For a task's prompt, the numbers that Python reads are those on the screen.
  void ThePythonOfATaskReadsTheNumbersOnTheScreen() {
    const QString python = QStandardPaths::findExecutable("python3");
    if (python.isEmpty()) QSKIP("no python3");
    Rig rig;
    if (!rig.Shell(python, {"-c", "import h5py"}).isEmpty())
      QSKIP("python3 has no h5py: pip install h5py");
    PromptRequest request;
    request.task = "list:lines=4";
    QVERIFY(rig.Run(request));
    rig.window.actions_list()->Do("copy-session-python");
    const Record* shown = rig.session->record(Side::kB, kLastQueryAttention);
    const auto& values = std::get<std::vector<float>>(shown->FindArray(kLastQueryAttention)->data);
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[i] * static_cast<double>(i % 7);
    const QString check =
        QStringLiteral(
            "import numpy\nv = numpy.asarray(arrays['B']['last_query_attention'], float).ravel()\n"
            "s = float((v * (numpy.arange(v.size) % 7)).sum())\n"
            "assert v.size == %1 and abs(s - %2) < 1e-3, (v.size, s)\n")
            .arg(values.size())
            .arg(sum, 0, 'g', 12);
    const QString said =
        rig.Shell(python, {"-c", QApplication::clipboard()->text() + QLatin1Char('\n') + check});
    QVERIFY2(said.isEmpty(), qPrintable(said));
  }

  void WithoutAPromptItSaysWhatIsMissing() {
    Rig rig;
    QVERIFY_EXCEPTION_THROWN(rig.window.actions_list()->Do("copy-session-commands"), Error);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SessionCodeTest)
#include "session_code_test.moc"
