// SPDX-License-Identifier: MIT
// Files of an engine on another machine: a process of this one in another folder, so that a
// relative path names another file there.
#include <QDir>
#include <QFile>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include "gui/file_menu.h"
#include "gui/panels/outcome/sweep_panel.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/parameter_form.h"
#include "probes/client/engine_command.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class RemoteFilesTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

  QTemporaryDir there_;
  QTemporaryDir here_;

  void Click(const char* button) { QTest::mouseClick(Find<QPushButton>(button), Qt::LeftButton); }

 private Q_SLOTS:
  void initTestCase() {  // NOLINT(readability-identifier-naming): Qt's name
    qputenv("MIDSCOPE_TEST_REMOTE", "env -C " + there_.path().toUtf8() + " " +
                                        QByteArray::fromStdString(FindEngineProgram()));
    QVERIFY(QDir::setCurrent(here_.path()));
    Make({1600, 1000});
    PromptRequest own;
    own.task.clear();
    own.text = "a pen. a lamp. a";  // a tiny model has 128 positions
    own.gold_end = 6;
    own.answer = " pen";
    window_->prompt_panel()->SetPrompt(own);
    window_->OpenModel(QString::fromStdString(test::TinyModelPath("llama")));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
  }
  void cleanupTestCase() {  // NOLINT(readability-identifier-naming): as above
    window_.reset();
    qunsetenv("MIDSCOPE_TEST_REMOTE");
  }

  void ASweepOfOwnTextRunsThereAndOpens() {
    auto* panel = window_->panel<SweepPanel>();
    window_->ShowPanel(panel);
    panel->form()->SetText("out", "run");
    QVERIFY(!panel->Arguments().contains("--resume"));
    Click("sweep_start");
    QVERIFY(QTest::qWaitFor([&] { return !panel->sweep()->running(); }, kLongest));
    const QString note = Find<ElidedLabel>("sweep_note")->text();
    QVERIFY2(note.startsWith("Done: "), qPrintable(note));
    QVERIFY(QFile::exists(there_.filePath("run")));
    QVERIFY(QDir(here_.path()).isEmpty());
    QVERIFY(panel->Arguments().contains("--resume"));
    QVERIFY(Find<QPushButton>("sweep_open")->isEnabled());
    Click("sweep_open");
    QTRY_VERIFY_WITH_TIMEOUT(session_->shows_file(), kLongest);
    // A relative path is not completed with a folder of this machine.
    QCOMPARE(window_->files()->session().documents, std::vector<std::string>{"run"});
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::RemoteFilesTest)
#include "remote_files_test.moc"
