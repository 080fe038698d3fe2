// SPDX-License-Identifier: MIT
// The engine's process is killed while the window uses it: while nothing runs, and in the middle of
// opening, what-ifs, runs and scans. Contract: one message with *Restart*, which brings everything
// back; prompt, settings and kept settings stay, and the numbers are those of before.
// MIDSCOPE_TEST_KILLS: number of kills; 5 by default, one of each kind.
#include <signal.h>

#include <QDir>
#include <QFile>
#include <QListWidget>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/main_window.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/parameter_form.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/spy_until.h"
#include "tests/gui/support/test_engine.h"

namespace midscope {

class EngineProcessTest : public QObject {
  Q_OBJECT

 private:
  static constexpr int kLongestStep = 60000;  // milliseconds

  std::shared_ptr<EngineLink> link_ = test::TestEngine();
  MainWindow window_{link_};
  Session* session_ = window_.session();

  bool Settled() const {
    return session_->model() && !session_->opening() && session_->settled(Side::kA) &&
           session_->settled(Side::kB) && !session_->has_pending_request();
  }
  double Nll(Side side) const {
    return ValueAt(*session_->record(side, kOutcomeRecord), kAnswerNll, {0, 0});
  }
  // With a process over ssh, the process here is only the connection to it.
  void Kill() const { ::kill(link_->pid(), SIGKILL); }
  // Starts the work in which the process is killed.
  void Begin(int kind) {
    switch (kind % 5) {
      case 0:  // nothing runs; the next change finds out
        Kill();
        window_.SetSetting(Side::kB, QStringLiteral("pi(1.5)"));
        return;
      case 1:
        window_.SetSetting(Side::kB, QStringLiteral("ms-poe(min=1.2, max=1.8)"));
        break;
      case 2:
        session_->SetProbeOptions(R"({"probes": "default,logit_lens"})");
        break;
      case 3:
        session_->Scan({.over = "heads", .samples = 1});
        break;
      default:
        window_.Open();
        break;
    }
    QTest::qWait(30 * (kind % 7));
    Kill();
  }

 private Q_SLOTS:
  void FilesOfTheEnginesMachineAreListed() {
    const QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("runs")));
    for (const char* name : {"/runs/a.h5", "/runs/b.h5", "/model.gguf"})
      QVERIFY(QFile(folder.path() + QLatin1String(name)).open(QIODevice::WriteOnly));
    EngineFileDialog dialog(link_, EngineFileDialog::Kind::kFiles, QStringLiteral("Open"));
    dialog.Show(folder.path());
    auto* list = dialog.findChild<QListWidget*>(QStringLiteral("engine_files"));
    QStringList names;
    for (int i = 0; i < list->count(); ++i) names << list->item(i)->text();
    QCOMPARE(names, (QStringList{"..", "runs", "model.gguf"}));
    dialog.Show(folder.path() + QStringLiteral("/nothing"));
    QCOMPARE(list->count(), 3);
    Q_EMIT list->itemActivated(list->item(1));
    QCOMPARE(list->count(), 3);
    list->selectAll();
    QCOMPARE(dialog.chosen(), (QStringList{folder.path() + QStringLiteral("/runs/a.h5"),
                                           folder.path() + QStringLiteral("/runs/b.h5")}));
  }

  void KillsCostARestartAndNothingElse() {
    session_->SetSamples(0);
    session_->SetReleaseDelay(0);
    window_.model()->options()->SetText("dtype", "float32");
    window_.prompt_panel()->SetTask(QStringLiteral("list:lines=6"));
    window_.resize(1200, 800);
    window_.show();
    window_.OpenPath(QStringLiteral("embedded"));
    const QString wanted = QStringLiteral("channel(100, factor=-1, layers=8-25)");
    window_.SetSetting(Side::kB, wanted);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
    const double nll_a = Nll(Side::kA);
    const double nll_b = Nll(Side::kB);
    QVERIFY(nll_a != nll_b);
    window_.tried()->KeepAs(0, "pi(1.5)");

    const char* given = std::getenv("MIDSCOPE_TEST_KILLS");
    const int kills = given ? std::atoi(given) : 5;
    auto* action = window_.findChild<QToolButton*>(QStringLiteral("error_action"));
    for (int i = 0; i < kills; ++i) {
      QSignalSpy ended(session_, &Session::EngineEnded);
      Begin(i);
      QTRY_VERIFY2_WITH_TIMEOUT(!ended.isEmpty(), qPrintable(QString::number(i)), kLongestStep);
      QVERIFY2(window_.errors()->messages().join(u'\n').contains(QStringLiteral("engine: it")),
               qPrintable(window_.errors()->messages().join(u'\n')));
      QVERIFY(action->isVisible());
      QCOMPARE(action->text(), QStringLiteral("Restart"));
      QCOMPARE(ended.size(), 1);
      QTest::mouseClick(action, Qt::LeftButton);
      window_.SetSetting(Side::kB, wanted);
      QTRY_VERIFY2_WITH_TIMEOUT(Settled(), qPrintable(QString::number(i)), kLongestStep);
      QCOMPARE(Nll(Side::kA), nll_a);
      QCOMPARE(Nll(Side::kB), nll_b);
      QCOMPARE(window_.tried()->TextOf(0), std::string("pi(1.5)"));
      QVERIFY2(window_.errors()->messages().isEmpty(),
               qPrintable(window_.errors()->messages().join(u'\n')));
    }
  }
};

}  // namespace midscope

using midscope::EngineProcessTest;

MIDSCOPE_GUI_TEST(EngineProcessTest)
#include "engine_process_test.moc"
