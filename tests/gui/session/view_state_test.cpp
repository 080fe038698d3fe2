// SPDX-License-Identifier: MIT
// The state of the view in a session: controls, ranges of plots, selection, open files.
#include <QCheckBox>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "gui/files/session_file.h"
#include "gui/files/view_state.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/plots/plot.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {
namespace {

class ViewStateTest : public QObject {
  Q_OBJECT

 private:
  static Plot* PlotOf(MainWindow& window) {
    return window.panel<AttentionPanel>()->findChild<Plot*>();
  }

 private Q_SLOTS:
  void WhatIsSeenComesBack() {
    QTemporaryDir folder;
    const QString file = folder.filePath("one.midscope");
    {
      WindowRig<> rig;
      rig.Show();
      QVERIFY(rig.OpenModel());
      Selection* selection = rig.window.selection();
      selection->LockToken(2);
      selection->SetRange(1, 3);
      selection->ShowTokens(TokenWindow{0.5, 3.5});
      rig.Find<QCheckBox>("text_raw")->setChecked(true);
      PlotOf(rig.window)->ShowAlongY({0.25, 0.75});
      rig.window.files()->SaveSession(file);
      QVERIFY(rig.window.errors()->messages().isEmpty());
    }
    WindowRig<> rig;
    rig.Show();
    rig.window.files()->OpenPath(file);
    QVERIFY(rig.Settle());
    const Selection& selection = *rig.window.selection();
    QTRY_COMPARE(selection.locked_token(), int64_t{2});
    QCOMPARE(selection.range().begin, int64_t{1});
    QCOMPARE(selection.range().end, int64_t{3});
    QCOMPARE(selection.window(), (std::optional<TokenWindow>({0.5, 3.5})));
    QVERIFY(rig.Find<QCheckBox>("text_raw")->isChecked());
    // Ranges come back once the run's records are drawn, by a call that is queued after them.
    QTRY_COMPARE(PlotOf(rig.window)->yAxis->range(), QCPRange(0.25, 0.75));
    // Saving again gives the same text.
    const QString again = folder.filePath("two.midscope");
    rig.window.files()->SaveSession(again);
    SavedSession one = ReadSessionFile(file);
    SavedSession two = ReadSessionFile(again);
    QCOMPARE(two.view.dump(1), one.view.dump(1));
  }

  // Before the model has answered, a waiting state is saved unchanged.
  void AViewThatWaitsIsNotLost() {
    WindowRig<> rig;
    rig.control->HoldPrompts(true);
    SavedSession saved;
    saved.view = {{"token", 3}};
    rig.window.files()->Apply(saved);
    QCOMPARE(rig.window.files()->session().view, saved.view);
    rig.control->HoldPrompts(false);
    QVERIFY(rig.Settle());
    QTRY_COMPARE(rig.window.selection()->locked_token(), int64_t{3});
  }

  // Regression: the view was restored after A's capture run, and reset what the user had moved
  // until then.
  void WhatIsMovedDuringTheRunStays() {
    WindowRig<> rig;
    rig.Show();
    SavedSession saved;
    saved.view = {{"token", 3}, {"range", {1, 3}}, {"tokens", {0.5, 3.5}}};
    rig.control->HoldCaptureRuns(true);
    rig.window.files()->Apply(saved);
    Selection* selection = rig.window.selection();
    QTRY_COMPARE(selection->locked_token(), int64_t{3});  // before the run is done
    QVERIFY(!rig.session->settled(Side::kA));
    selection->LockToken(1);
    selection->SetRange(0, 2);
    selection->ShowTokens(TokenWindow{1.5, 4.5});
    rig.control->HoldCaptureRuns(false);
    QVERIFY(rig.Settle());
    QTest::qWait(50);
    QCOMPARE(selection->locked_token(), int64_t{1});
    QCOMPARE(selection->range().begin, int64_t{0});
    QCOMPARE(selection->window(), (std::optional<TokenWindow>({1.5, 4.5})));
  }

  void OpenFilesComeBack() {
    QTemporaryDir folder;
    const QString results = folder.filePath("results.h5");
    SavedSession saved;
    {
      WindowRig<> rig;
      QVERIFY(rig.OpenModel());
      rig.window.files()->SaveResultsTo(results);
      QVERIFY(rig.OpenResults(results));
      saved = rig.window.files()->session();
    }
    QCOMPARE(saved.documents.size(), size_t{1});
    QCOMPARE(saved.shown_document, int64_t{0});
    saved.documents.push_back(folder.filePath("none.h5").toStdString());
    const std::string text = SessionText(saved);
    WindowRig<> rig;
    rig.window.files()->Apply(ParseSession(text, "x"));
    QVERIFY(rig.Settle());
    QTRY_VERIFY(!rig.window.errors()->messages().isEmpty());  // the error about the missing file
    QVERIFY(rig.window.errors()->messages().front().contains("none.h5"));
    QCOMPARE(rig.session->documents(), QStringList{results});
    QTRY_COMPARE(rig.session->shown_document(), 0);
    QVERIFY(rig.session->live().model);
  }

  void BadViewsAreNamed_data() {
    QTest::addColumn<QString>("view");
    QTest::addColumn<QString>("says");
    QTest::newRow("no object") << "7"
                               << "its view must be an object";
    QTest::newRow("key") << R"({"tokn": 1})"
                         << "tokn";
    QTest::newRow("token") << R"({"token": -1})"
                           << "token";
    QTest::newRow("range") << R"({"range": [5, 5]})"
                           << "range";
    QTest::newRow("text") << R"({"tokens": ["a", "b"]})"
                          << "tokens";
    QTest::newRow("panel") << R"({"panels": {"text": {"control": {}}}})"
                           << "control";
    QTest::newRow("plot") << R"({"panels": {"attention": {"ranges": {"a": 3}}}})"
                          << "'a'";
  }

  void BadViewsAreNamed() {
    QFETCH(QString, view);
    QFETCH(QString, says);
    const std::string text =
        R"({"midscope_session":1,"model":"m","view":)" + view.toStdString() + "}";
    try {
      ParseSession(text, "mine.midscope");
      QFAIL("an error was expected");
    } catch (const Error& error) {
      const QString message = QString::fromUtf8(error.what());
      QVERIFY2(message.contains("mine.midscope") && message.contains(says), error.what());
    }
  }
};

}  // namespace
}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ViewStateTest)
#include "view_state_test.moc"
