// SPDX-License-Identifier: MIT
// Tuning from the window, with a tiny model: a process that can be cancelled and resumed, its
// losses, and the tuned model beside its base.
#include <QCheckBox>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/model/model_text.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/outcome/tuning_panel.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/prompt/adapter_bar.h"
#include "gui/plots/lines_plot.h"
#include "gui/session/command_arguments.h"
#include "gui/session/sweep_process.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/parameter_form.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class TuningPanelTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

  QTemporaryDir folder_;
  TuningPanel* panel_ = nullptr;

  static QString Tiny() { return QString::fromStdString(test::TinyModelPath("llama")); }

  // Texts, the window, and a form for a short run.
  void Show(const char* out, const char* steps) {
    QFile data(folder_.filePath("data.jsonl"));
    QVERIFY(data.open(QIODevice::WriteOnly));
    for (int line = 0; line < 40; ++line) {
      data.write("{\"text\": \"");
      for (int word = 0; word < 40; ++word)
        data.write(QByteArray("word ") + QByteArray::number((line * 7 + word * word) % 50) + ", ");
      data.write("\"}\n");
    }
    data.close();
    Make({1600, 1000});
    panel_ = window_->panel<TuningPanel>();
    window_->ShowPanel(panel_);
    OptionSet options = panel_->form()->options();
    options.Reset("task");
    options.SetText("model", Tiny().toStdString());
    options.SetText("data", folder_.filePath("data.jsonl").toStdString());
    for (const auto& [name, text] :
         std::initializer_list<std::pair<const char*, const char*>>{{"tokens", "60"},
                                                                    {"rate", "1e-2"},
                                                                    {"held-out", "2"},
                                                                    {"threads", "1"},
                                                                    {"repeat", "true"},
                                                                    {"checkpoint", "20"},
                                                                    {"steps", steps}})
      options.SetText(name, text);
    options.SetText("out", folder_.filePath(out).toStdString());
    panel_->form()->SetOptions(options);
  }
  void Click(const char* button) { QTest::mouseClick(Find<QPushButton>(button), Qt::LeftButton); }
  QString Note() { return Find<ElidedLabel>("tuning_note")->text(); }
  bool Ended() {
    return QTest::qWaitFor([this] { return !panel_->process()->running(); }, kLongest);
  }

 private Q_SLOTS:
  void cleanup() { window_.reset(); }  // NOLINT(readability-identifier-naming): Qt's name

  void TheFormIsThatOfTheCommand() {
    Make();
    panel_ = window_->panel<TuningPanel>();
    window_->ShowPanel(panel_);
    const QString line = CommandText(panel_->Arguments());
    QVERIFY2(line.startsWith("midscope tune "), qPrintable(line));
    QVERIFY2(line.contains(" --recipe cream --tokens 512 --task list:lines=20 "), qPrintable(line));
    QVERIFY2(line.endsWith(" --lora 8 --out tuned"), qPrintable(line));
    QVERIFY(Find<QPushButton>("tuning_start")->text().startsWith("Tune: 20 steps of 1 sample"));
    // Options without an effect are hidden.
    QVERIFY(Find<QWidget>("tuning_field")->isHidden());
    OptionSet options = panel_->form()->options();
    options.Reset("lora");
    options.Reset("steps");
    panel_->form()->SetOptions(options);
    QVERIFY(ErrorText([&] { panel_->Arguments(); }).contains("steps"));
    Click("tuning_start");
    QVERIFY2(Note().contains("steps"), qPrintable(Note()));
    QVERIFY(!panel_->process()->running());
  }

  void MessagesOfTheProgramAreLosses() {
    TuningLosses losses;
    QVERIFY(losses.AddLine("held-out loss 3.25"));
    QVERIFY(losses.AddLine("step 3/50: loss 3.5, rate 2e-05, 20 tokens/s"));
    QVERIFY(losses.AddLine("step 4/50: loss nan, rate 1e-05, 20 tokens/s"));
    QVERIFY(!losses.AddLine("continues after step 2"));
    QCOMPARE(losses.steps, (QVector<double>{3, 4}));
    QCOMPARE(losses.loss.front(), 3.5);
    QCOMPARE(losses.rate, (QVector<double>{2e-5, 1e-5}));
    QCOMPARE(losses.held_out, QVector<double>{3.25});
    QCOMPARE(TuningName("/a/cream/tuning.h5"), QStringLiteral("cream"));
    QCOMPARE(TuningName("/a/b.h5"), QStringLiteral("b"));
  }

  void ATunedModelIsOpenedBesideItsBase() {
    Show("tuned", "6");
    SetOwnText();
    window_->OpenModel(Tiny());
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QVERIFY(!Find<QPushButton>("tuning_beside")->isEnabled());
    Click("tuning_start");
    QVERIFY(panel_->process()->running());
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
    QCOMPARE(panel_->loss()->lines(), 1);
    QCOMPARE(panel_->loss()->graph(0)->data()->size(), 6);
    QCOMPARE(panel_->loss()->graphCount(), 3);  // held-out losses
    QVERIFY2(Find<QPushButton>("tuning_start")->text().contains("about "),
             qPrintable(Find<QPushButton>("tuning_start")->text()));
    Click("tuning_beside");
    QTRY_VERIFY_WITH_TIMEOUT(
        !Errors().isEmpty() || (Settled() && session_->record(Side::kB, kOutcomeRecord)), kLongest);
    QCOMPARE(Errors(), QString());
    QVERIFY(window_->adapter()->isVisible());
    const auto nll = [this](Side side) {
      return ValueAt(*session_->record(side, kOutcomeRecord), kAnswerNll, {0, 0});
    };
    QVERIFY(nll(Side::kA) != nll(Side::kB));
    // Its file, as of a run of the command line.
    window_->OpenPath(folder_.filePath("tuned/tuning.h5"));
    QTRY_VERIFY_WITH_TIMEOUT(session_->shows_file(), kLongest);
    QTRY_COMPARE(panel_->loss()->graph(0)->name(), QStringLiteral("tuned"));
  }

  void ARunIsCancelledAtOnceAndGoesOn() {
    Show("long", "600");
    Click("tuning_start");
    auto* left = Find<QLabel>("tuning_left");
    QTRY_VERIFY_WITH_TIMEOUT(left->text().contains(" left"), kLongest);
    // Neither the form nor the losses of another run change what the running one is.
    panel_->form()->SetText("out", folder_.filePath("another").toStdString());
    panel_->OpenLosses({folder_.filePath("tuned")});
    Q_EMIT panel_->process()->Noted("step 600/600: loss 1, rate 1, 20 tokens/s");
    QCOMPARE(panel_->loss()->graph(0)->data()->size(), 6);
    QElapsedTimer clock;
    clock.start();
    Click("tuning_cancel");
    QVERIFY(Ended());
    qInfo("cancelled after %lld ms", static_cast<long long>(clock.elapsed()));
    QVERIFY(clock.elapsed() < 3000);
    QVERIFY2(Note().startsWith("Cancelled") && Note().contains("long"), qPrintable(Note()));
    panel_->form()->SetText("out", folder_.filePath("long").toStdString());
    auto* start = Find<QPushButton>("tuning_start");
    QVERIFY2(start->text().startsWith("Resume"), qPrintable(start->text()));
    QVERIFY(!Find<QPushButton>("tuning_beside")->isEnabled());
    Click("tuning_start");
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
    QCOMPARE(panel_->loss()->graph(0)->data()->size(), 600);
    QVERIFY(Find<QPushButton>("tuning_beside")->isEnabled());
    // Another plan for the same folder is refused by the program, in its words.
    panel_->form()->SetText("steps", "5");
    Click("tuning_start");
    QVERIFY(Ended());
    QVERIFY2(Note().contains("another plan"), qPrintable(Note()));
  }

  // Uses the folder of a test before. A is another model than the form's, and the form has no rank.
  void TheFormsModelIsTheBaseOfItsAdapter() {
    Show("tuned", "6");
    SetOwnText();
    window_->OpenModel(QString::fromStdString(test::TinyModelPath("qwen2")));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    OptionSet options = panel_->form()->options();
    options.Reset("lora");
    panel_->form()->SetOptions(options);
    Click("tuning_beside");
    QTRY_VERIFY_WITH_TIMEOUT(session_->second() && session_->second()->open_request(), kLongest);
    QCOMPARE(session_->second()->open_request()->model,
             WithAdapterText(Tiny().toStdString(), folder_.filePath("tuned").toStdString()));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QCOMPARE(Errors(), QString());
    // A switch that cannot open its adapter any more shows what B is.
    QVERIFY(QDir().rename(folder_.filePath("tuned"), folder_.filePath("away")));
    auto* on = Find<QCheckBox>("adapter_on");
    QVERIFY(on->isVisible() && on->isChecked());
    on->click();
    QTRY_VERIFY_WITH_TIMEOUT(!Errors().isEmpty(), kLongest);
    QVERIFY(QDir().rename(folder_.filePath("away"), folder_.filePath("tuned")));
    QTRY_VERIFY(on->isChecked());
    QVERIFY2(on->text().endsWith("tuned × 1"), qPrintable(on->text()));
  }

  // Uses the folders of the tests before.
  void LossesOfSeveralRunsAreOnePicture() {
    Show("none", "5");
    panel_->OpenLosses({folder_.filePath("tuned"), folder_.filePath("long/tuning.h5")});
    QCOMPARE(panel_->loss()->lines(), 2);
    const QString name = panel_->loss()->graph(1)->name();
    QVERIFY2(name.startsWith("long, held out ") && name.contains(" → "), qPrintable(name));
    QCOMPARE(panel_->loss()->graphCount(), 2);
    QCOMPARE(panel_->plots().size(), size_t{2});
    QVERIFY(ErrorText([&] { panel_->OpenLosses({"/no/such"}); }).contains("/no/such"));
    QCOMPARE(panel_->loss()->lines(), 2);
    const QStringList written = RenderFile({folder_.filePath("tuned/tuning.h5"),
                                            folder_.filePath("pictures"),
                                            {"svg"},
                                            {},
                                            {},
                                            {folder_.filePath("long/tuning.h5")}});
    QCOMPARE(written.filter("tuning_loss.csv").size(), 1);
    QFile table(written.filter("tuning_loss.csv").front());
    QVERIFY(table.open(QIODevice::ReadOnly));
    const QByteArray numbers = table.readAll();
    QVERIFY2(numbers.contains("tuned") && numbers.contains("long"), numbers.left(400).constData());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::TuningPanelTest)
#include "tuning_panel_test.moc"
