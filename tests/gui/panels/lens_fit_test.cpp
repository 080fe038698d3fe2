// SPDX-License-Identifier: MIT
// The Jacobian lens from the panel, with a tiny model: a lens is fitted by a process, chosen and
// shown, and another file is read or refused.
#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "gui/base/record_access.h"
#include "gui/panels/attention/lens_bar.h"
#include "gui/panels/attention/logit_lens_panel.h"
#include "gui/panels/command_row.h"
#include "gui/session/command_arguments.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/parameter_form.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class LensFitTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

  QTemporaryDir folder_;
  LogitLensPanel* panel_ = nullptr;

  QString Note() { return Find<ElidedLabel>("lens_fit_note")->text(); }
  void Click(const char* button) { QTest::mouseClick(Find<QPushButton>(button), Qt::LeftButton); }
  bool Ended() {
    return QTest::qWaitFor([this] { return !panel_->bar()->row()->process()->running(); },
                           kLongest);
  }
  const Record* Lens() { return session_->record(Side::kA, kJacobianLensRecord); }

 private Q_SLOTS:
  void initTestCase() {  // NOLINT(readability-identifier-naming): Qt's name
    Make({1440, 900});
    panel_ = window_->panel<LogitLensPanel>();
    window_->ShowPanel(panel_);
    SetOwnText();
    QVERIFY(Find<QComboBox>("lens_kind")->isHidden());
    window_->OpenModel(QString::fromStdString(test::TinyModelPath("llama")));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QFile data(folder_.filePath("data.txt"));
    QVERIFY(data.open(QIODevice::WriteOnly));
    for (int i = 0; i < 60; ++i) data.write("Alice bought: a pen. Bob bought: a lamp. ");
    ParameterForm* form = panel_->bar()->form();
    form->SetText("data", data.fileName().toStdString());
    form->SetText("samples", "2");
    form->SetText("tokens", "24");
    form->SetText("out", folder_.filePath("lens.safetensors").toStdString());
  }
  void cleanupTestCase() { window_.reset(); }  // NOLINT(readability-identifier-naming): as above

  void TheLensIsChosenInThePanel() {
    QVERIFY(!Find<QLineEdit>("lens_file")->isVisible());
    Find<QComboBox>("lens_kind")->setCurrentIndex(1);
    QVERIFY(Find<QLineEdit>("lens_file")->isVisible());
    QVERIFY(Find<QPushButton>("lens_on")->isHidden());
    QVERIFY(!Find<QPushButton>("lens_fit_start")->isVisible());
    Find<QToolButton>("lens_fit")->click();
    QVERIFY(panel_->bar()->form()->isVisible());
    QVERIFY(!panel_->plot()->isVisible());
    const auto hidden = session_->model()->config.hidden;
    QCOMPARE(Find<QPushButton>("lens_fit_start")->text(),
             QStringLiteral("Fit: 2 prompts, %1 backward passes").arg(2 * hidden));
  }

  void AFitIsRunChosenAndShown() {
    const QString line = CommandText(panel_->bar()->Arguments());
    QVERIFY2(line.startsWith("midscope lens ") && !line.contains("--task") &&
                 line.contains(" --samples 2 ") && line.endsWith(" --resume"),
             qPrintable(line));
    Click("lens_fit_start");
    QVERIFY(panel_->bar()->row()->process()->running());
    QVERIFY(Find<QPushButton>("lens_fit_cancel")->isEnabled());
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
    QVERIFY(panel_->plot()->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(Lens() && Settled(), kLongest);
    QVERIFY2(Errors().isEmpty(), qPrintable(Errors()));
    session_->FlushChanges();
    QCOMPARE(Find<QLineEdit>("lens_file")->text(), folder_.filePath("lens.safetensors"));
    QVERIFY2(panel_->plot()->title().startsWith("Jacobian lens"),
             qPrintable(panel_->plot()->title()));
    QCOMPARE(panel_->plot()->grid().rows(), qsizetype{AxisSize(*Lens(), "layer")});
  }

  // More prompts continue the file, which is read again.
  void AFitGoesOn() {
    const auto numbers = [this] { return LastAxisRow(*Lens(), "lens_probability", {0}); };
    const QVector<double> before = numbers();
    panel_->bar()->form()->SetText("samples", "3");
    Find<QToolButton>("lens_fit")->click();
    Click("lens_fit_start");
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
    QTRY_VERIFY_WITH_TIMEOUT(Settled() && Lens() && numbers() != before, kLongest);
  }

  void ALensOfOtherPromptsIsNotReplaced() {
    panel_->bar()->form()->SetText("tokens", "30");
    Find<QToolButton>("lens_fit")->click();
    Click("lens_fit_start");
    QVERIFY(Ended());
    QVERIFY2(Note().contains("other settings"), qPrintable(Note()));
  }

  void AnotherModelEndsIt() {
    QVERIFY(Lens());
    window_->OpenModel(QString::fromStdString(test::TinyModelPath("qwen2")));
    QTRY_VERIFY_WITH_TIMEOUT(Settled() && !Lens(), kLongest);
    QVERIFY2(Errors().isEmpty(), qPrintable(Errors()));
    QVERIFY(Find<QLineEdit>("lens_file")->text().isEmpty());
  }

  void WithoutAFileTheProbeEnds() {
    auto* file = Find<QLineEdit>("lens_file");
    // A file without a lens is an error of the run.
    file->setText(folder_.filePath("data.txt"));
    QTest::keyClick(file, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(Errors().contains("data.txt"), kLongest);
    file->clear();
    QTest::keyClick(file, Qt::Key_Return);
    QVERIFY2(session_->probe_options().find(kJacobianLensRecord) == std::string::npos,
             session_->probe_options().c_str());
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::LensFitTest)
#include "lens_fit_test.moc"
