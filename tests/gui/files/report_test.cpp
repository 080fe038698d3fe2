// SPDX-License-Identifier: MIT
// The report of what is on the screen, by the action, from the real program.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "gui/action_script.h"
#include "gui/actions/action_registry.h"
#include "gui/plots/plot.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

constexpr int kLongestReport = 60000;  // milliseconds, on a loaded machine

class ReportTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void TheScreenBecomesOnePage() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QTemporaryDir folder;
    QFile page(folder.filePath("page.html"));
    rig.window.actions_list()->Do("report " + page.fileName());
    QTRY_VERIFY_WITH_TIMEOUT(page.exists() || !rig.window.errors()->messages().isEmpty(),
                             kLongestReport);
    QVERIFY2(rig.window.errors()->messages().isEmpty(),
             qPrintable(rig.window.errors()->messages().join('\n')));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray text = page.readAll();
    QVERIFY(text.startsWith("<!DOCTYPE html>") && text.contains("</html>"));
  }

  void AScriptWritesOneReportAfterTheOther() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    QTemporaryDir folder;
    const QString one = folder.filePath("one.html");
    const QString two = folder.filePath("two.html");
    ActionScript script(&rig.window, {"report " + one, "report " + two});
    bool ended = false;
    QString why;
    connect(&script, &ActionScript::Finished, &script, [&] { ended = true; });
    connect(&script, &ActionScript::Failed, &script, [&](const QString& error, int) {
      why = error;
      ended = true;
    });
    script.Start();
    QTRY_VERIFY_WITH_TIMEOUT(ended, kLongestReport);
    QCOMPARE(why, QString());
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(two), kLongestReport);
    QVERIFY(QFile::exists(one));
  }

  void ASecondReportLeavesTheFirstAloneAndTellsWhatToDo() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    QTemporaryDir folder;
    const QString one = folder.filePath("one.html");
    rig.window.actions_list()->Do("report " + one);
    rig.window.actions_list()->Do("report " + folder.filePath("two.html"));
    const QStringList errors = rig.window.errors()->messages();
    QVERIFY(errors.size() == 1 && errors[0].contains("when it is done"));
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(one), kLongestReport);
  }

  void APathThatCannotBeWrittenIsAnError() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    QTemporaryDir folder;
    rig.window.actions_list()->Do("report " + folder.filePath("none/page.html"));
    QTRY_VERIFY_WITH_TIMEOUT(!rig.window.errors()->messages().isEmpty(), kLongestReport);
    QVERIFY2(rig.window.errors()->messages().front().contains("page.html"),
             qPrintable(rig.window.errors()->messages().front()));
  }

  void PlotsHaveTheirTitlesAsAccessibleNames() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    for (const Plot* plot : rig.window.plots()) QCOMPARE(plot->accessibleName(), plot->title());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ReportTest)
#include "report_test.moc"
