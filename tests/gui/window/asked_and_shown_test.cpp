// SPDX-License-Identifier: MIT
// Requests in the window: names of places and prompts, Enter, marks of requests that are not shown
// yet, obsolete errors, choosing samples by keys.
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>

#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/base/appearance.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/fold_box.h"
#include "gui/widgets/parameter_form.h"

#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/test_engine.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

// The window with the embedded model.
struct RealRig {
  MainWindow window{test::TestEngine()};
  Session* session = window.session();

  bool Run(const PromptRequest& request) {
    window.resize(1400, 900);
    window.show();
    session->SetReleaseDelay(0);
    session->SetSamples(0);
    session->Open({"embedded"}, request);
    constexpr int kLongestRun = 100000;  // ms, enough for a machine under load
    return QTest::qWaitFor(
        [this] { return session->settled(Side::kA) && !session->has_pending_request(); },
        kLongestRun);
  }
  QComboBox* places() { return window.findChild<QComboBox*>(QStringLiteral("place")); }
};

class AskedAndShownTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void DepthsAreInPercent() {
    RealRig rig;
    PromptRequest request;
    request.task = "passkey:tokens=120";
    request.places = "0%,50%";
    QVERIFY(rig.Run(request));
    rig.session->FlushChanges();
    QCOMPARE(rig.places()->count(), 2);
    QVERIFY2(rig.places()->itemText(1).startsWith("50 %"), qPrintable(rig.places()->itemText(1)));
    OutcomePlot* plot = rig.window.panel<OutcomePanel>()->plot();
    QCOMPARE(plot->NameOfPlace(51), QString("50 %"));
    plot->replot();  // fits the labels; the name of the CSV's column is not the label
    QCOMPARE(plot->xAxis->label(), QString("depth of the gold passage"));
    QVERIFY2(plot->caption().contains("depth 50 %"), qPrintable(plot->caption()));
  }

  void RanksStayRanks() {
    RealRig rig;
    PromptRequest request;
    request.task = "list:lines=4";
    request.places = "0%,100%";
    QVERIFY(rig.Run(request));
    rig.session->FlushChanges();
    QVERIFY2(rig.places()->itemText(1).startsWith("4  ("), qPrintable(rig.places()->itemText(1)));
    QCOMPARE(rig.window.panel<OutcomePanel>()->plot()->xAxis->label(),
             QString("place of the gold passage"));
  }

  void OwnTextSaysWhatItIs() {
    RealRig rig;
    PromptRequest request;
    request.task.clear();
    request.text = "The mill is Tom's.\nThe inn is Ann's.\nThe farm is Sue's.";
    QVERIFY(rig.Run(request));
    rig.session->FlushChanges();
    QCOMPARE(rig.places()->itemText(0), QString("own text"));
    QVERIFY2(rig.places()->toolTip().contains(" tokens"), qPrintable(rig.places()->toolTip()));
    request.pieces = {{"", 0, 18}, {"", 19, 36}, {"", 37, 55}};
    request.gold_begin = 19;
    request.gold_end = 36;
    request.answer = " Ann";
    rig.session->SetPrompt(request);
    QVERIFY(QTest::qWaitFor([&] { return rig.session->prompts().size() == 3; }, 60000));
    rig.session->FlushChanges();
    QCOMPARE(rig.places()->itemText(1), QString("gold 2 of 3"));
  }

  void EnterInAFieldRuns() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.actions_list()->Do("panel prompt");
    auto* places = rig.Find<QLineEdit>("places");
    places->setFocus();
    QTest::keyClicks(places, "1,2");
    QCOMPARE(rig.Find<QPushButton>("run")->palette().color(QPalette::Button), ChangedColor());
    QTest::keyClick(places, Qt::Key_Return);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->places, std::string("1,2"));
    rig.session->FlushChanges();
    QVERIFY(rig.Find<QPushButton>("run")->palette().color(QPalette::Button) != ChangedColor());
    // As above, for a number and for the task's line.
    QSpinBox* seed = nullptr;
    for (QSpinBox* box : rig.window.prompt_panel()->findChildren<QSpinBox*>()) {
      if (box->toolTip().contains("Seed")) seed = box;
    }
    QVERIFY(seed);
    seed->selectAll();
    QTest::keyClicks(seed, "7");
    QTest::keyClick(seed, Qt::Key_Enter);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->seed, uint64_t{7});
    auto* task = rig.Find<QComboBox>("task");
    task->lineEdit()->selectAll();
    QTest::keyClicks(task->lineEdit(), "list:lines=12");
    QTest::keyClick(task->lineEdit(), Qt::Key_Return);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->task, std::string("list:lines=12"));
  }

  void OptionsThatAreNotTheDefaultAreInColour() {
    WindowRig<> rig;
    auto* fold = rig.Find<FoldBox>("model_options_fold");
    QVERIFY(!fold->changed());
    rig.window.model()->options()->SetText("dtype", "float32");
    QVERIFY(fold->changed());
    QVERIFY(fold->findChild<QToolButton*>()->styleSheet().contains(ChangedColor().name()));
    rig.window.model()->options()->SetText("dtype", "auto");
    QVERIFY(!fold->changed());
  }

  void AnErrorGoesAwayWhenTheSameRunSucceeds() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.control->RefuseChannel(5);
    rig.window.history()->Change({{}, ParseIntervention("channel(5, factor=0)")}, false);
    QTRY_VERIFY(!rig.window.errors()->messages().isEmpty());
    QTRY_VERIFY(!rig.session->has_pending_request());
    rig.window.history()->Change({{}, ParseIntervention("channel(6, factor=0)")}, false);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.window.errors()->messages(), QStringList());
    // An error of another operation remains.
    rig.window.errors()->Add("something else");
    rig.window.errors()->Add("no such file", "open x.h5");
    rig.window.history()->Change({{}, ParseIntervention("channel(7, factor=0)")}, false);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.window.errors()->messages(), (QStringList{"something else", "no such file"}));
    rig.window.errors()->Succeed("open x.h5");
    QCOMPARE(rig.window.errors()->messages(), QStringList{"something else"});
    // A line that cannot be parsed, then one that can.
    rig.window.PutOnB("pi(zwei)");
    QCOMPARE(rig.window.errors()->messages().size(), 2);
    rig.window.PutOnB("pi(2)");
    QCOMPARE(rig.window.errors()->messages(), QStringList{"something else"});
  }

  void SamplesAreSteppedByKeysAndRun() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QTest::keyClick(&rig.window, Qt::Key_Right, Qt::AltModifier);
    rig.window.actions_list()->Do("next-sample");
    QVERIFY(rig.Settle());
    const int64_t now = rig.session->shown_prompt_request()->sample;
    QVERIFY2(now >= 1, qPrintable(QString::number(now)));
    rig.window.actions_list()->Do("previous-sample");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->sample, now - 1);
    for (int i = 0; i < 3; ++i) rig.window.actions_list()->Do("previous-sample");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->sample, int64_t{0});
    rig.window.history()->stack()->undo();
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->shown_prompt_request()->sample, int64_t{1});
  }

  void RecordsHaveTitlesInWords() {
    RealRig rig;
    PromptRequest request;
    request.task = "list:lines=4";
    QVERIFY(rig.Run(request));
    rig.window.actions_list()->Do("panel records");
    const auto* panel = rig.window.panel<RecordPanel>();
    QCOMPARE(panel->titles().size(), panel->choices().size());
    QVERIFY(!panel->titles().isEmpty());
    for (const QString& title : panel->titles())
      QVERIFY2(!title.contains(QLatin1Char('_')), qPrintable(title));
    auto* box = rig.window.findChild<QComboBox*>(QStringLiteral("record_choice"));
    QCOMPARE(box->itemData(0, Qt::ToolTipRole).toString(), panel->choices().front());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::AskedAndShownTest)
#include "asked_and_shown_test.moc"
