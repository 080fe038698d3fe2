// SPDX-License-Identifier: MIT
// Gradients from the window, with a tiny model: the command as a process, its pictures, and a file
// of the command line.
#include <QComboBox>
#include <QFile>
#include <QPushButton>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/panels/influence/influence_panel.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/plots/tokens/token_view.h"
#include "gui/session/command_arguments.h"
#include "gui/session/sweep_process.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/parameter_form.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class InfluencePanelTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

  QTemporaryDir folder_;
  InfluencePanel* panel_ = nullptr;

  // The window with own text, and the panel in front.
  void Show(const char* out) {
    Make({1600, 1000});
    panel_ = window_->panel<InfluencePanel>();
    window_->ShowPanel(panel_);
    SetOwnText();
    window_->OpenModel(QString::fromStdString(test::TinyModelPath("llama")));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    panel_->form()->SetText("out", folder_.filePath(out).toStdString());
    panel_->form()->SetText("cotangents", "2");
  }
  void Click(const char* button) { QTest::mouseClick(Find<QPushButton>(button), Qt::LeftButton); }
  QString Note() { return Find<ElidedLabel>("influence_note")->text(); }
  bool Ended() {
    return QTest::qWaitFor([this] { return !panel_->process()->running(); }, kLongest);
  }

 private Q_SLOTS:
  void cleanup() { window_.reset(); }  // NOLINT(readability-identifier-naming): Qt's name

  void ARunIsShownByTokenAndLayer() {
    Show("own.h5");
    const QString line = CommandText(panel_->Arguments());
    QVERIFY2(line.startsWith("midscope influence ") && line.contains(" --span gold=0:20 ") &&
                 line.contains(" --answer ' pen' ") && line.contains(" --cotangents 2 "),
             qPrintable(line));
    QVERIFY(!line.contains("--overwrite"));
    auto* start = Find<QPushButton>("influence_start");
    QCOMPARE(start->text(), QStringLiteral("Measure: 1 prompt, 3 gradients"));
    Click("influence_start");
    QVERIFY(panel_->process()->running());
    QVERIFY(!start->isEnabled() && Find<QPushButton>("influence_cancel")->isEnabled());
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
    QVERIFY(start->isEnabled());
    QCOMPARE(panel_->tabs()->currentWidget(), panel_->tokens());
    const auto tokens = panel_->tokens()->begins().size() - 1;
    QVERIFY2(panel_->tokens()->TooltipFor(tokens - 1).contains("norm"),
             qPrintable(panel_->tokens()->TooltipFor(tokens - 1)));
    QVERIFY(panel_->map()->lines() > 1);
    panel_->tabs()->setCurrentWidget(panel_->map());
    QTRY_VERIFY(panel_->map()->isVisible());
    panel_->map()->replot();
    const QPointF first(panel_->map()->xAxis->coordToPixel(0),
                        panel_->map()->yAxis->coordToPixel(0));
    const QString tip = panel_->map()->TooltipAt(first);
    QVERIFY2(tip.startsWith("layer 0, token 0: "), qPrintable(tip));
    QCOMPARE(panel_->along()->lines(), 1);
    // The output's gradient has the closed form beside it.
    Find<QComboBox>("influence_gradient")->setCurrentIndex(1);
    QCOMPARE(panel_->along()->lines(), 2);
    // Its own file is replaced by the next run.
    QVERIFY(panel_->Arguments().contains("--overwrite"));
    Click("influence_start");
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
  }

  // Passages of own text have places, over which the gold's norm is drawn.
  void SeveralPlacesShowTheGold() {
    Show("places.h5");
    QVERIFY(Find<QWidget>("influence_places")->isHidden());
    PromptRequest own = *session_->shown_prompt_request();
    own.pieces = {{"", 0, 20}, {"", 21, 40}};
    own.question = " Alice bought: a";
    own.text = "Alice bought: a pen. Bob bought: a lamp.";
    window_->prompt_panel()->SetPrompt(own);
    session_->SetPrompt(own);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    session_->FlushChanges();
    QVERIFY(!Find<QWidget>("influence_places")->isHidden());
    QVERIFY(Find<QWidget>("influence_samples")->isHidden());
    panel_->form()->SetText("places", "1,2");
    QCOMPARE(Find<QPushButton>("influence_start")->text(),
             QStringLiteral("Measure: 2 prompts, 6 gradients"));
    const QStringList arguments = panel_->Arguments();
    QVERIFY2(!arguments.contains("--place") && arguments.contains("--places"),
             qPrintable(CommandText(arguments)));
    QVERIFY(!Find<QPushButton>("influence_open")->isEnabled());
    Click("influence_start");
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Done: "), qPrintable(Note()));
    QCOMPARE(panel_->tabs()->currentWidget(), panel_->gold());
    QVERIFY(!panel_->tabs()->isTabVisible(panel_->tabs()->indexOf(panel_->tokens())));
    QCOMPARE(panel_->gold()->lines(), 1);
    Find<QComboBox>("influence_gold")->setCurrentIndex(1);
    QCOMPARE(panel_->gold()->lines(), 1);
    QVERIFY(panel_->plots().back() == panel_->gold());
    Click("influence_open");
    QTRY_VERIFY_WITH_TIMEOUT(session_->shows_file(), kLongest);
    QVERIFY(session_->shown().path.endsWith("places.h5"));
    QCOMPARE(panel_->gold()->lines(), 1);
  }

  // Uses the file of the first test, which is neither replaced nor shown.
  void AFileOfAnotherRunStays() {
    Show("own.h5");
    Click("influence_start");
    QVERIFY(Ended());
    QVERIFY2(Note().contains("own.h5") && Note().contains("overwrite"), qPrintable(Note()));
    QCOMPARE(panel_->map()->lines(), 0);
    window_->OpenPath(folder_.filePath("own.h5"));
    QTRY_VERIFY_WITH_TIMEOUT(session_->shows_file(), kLongest);
    QTRY_VERIFY(panel_->map()->lines() > 1);
    QCOMPARE(panel_->tabs()->currentWidget(), panel_->map());
    QCOMPARE(panel_->along()->lines(), 1);
  }

  void ASettingWithoutGradientsIsRefusedByTheProgram() {
    Show("refused.h5");
    window_->SetSetting(Side::kA, QStringLiteral("ablate(L0H0)"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    Click("influence_start");
    QVERIFY(Ended());
    QVERIFY2(Note().contains("gradients"), qPrintable(Note()));
  }

  void ACancelledRunIsNotShown() {
    Show("cancelled.h5");
    panel_->form()->SetText("cotangents", "10000");
    Click("influence_start");
    Click("influence_cancel");
    QVERIFY(Ended());
    QVERIFY2(Note().startsWith("Cancelled"), qPrintable(Note()));
    QCOMPARE(panel_->map()->lines(), 0);
    QVERIFY(!QFile::exists(folder_.filePath("cancelled.h5")));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::InfluencePanelTest)
#include "influence_panel_test.moc"
