// SPDX-License-Identifier: MIT
// Results files beside the open model.
#include <QMenu>
#include <QSignalSpy>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/prompt/document_bar.h"
#include "gui/session/setting_history.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {
namespace {

constexpr char kSettingOfFile[] = "pi(2)";

// A file with an outcome of A and one of B, as the window saves it.
RunFile FileOfTwoSides() {
  RunFile file;
  for (const bool b : {false, true}) {
    Record record;
    record.name = b ? "outcome_b" : "outcome";
    record.axes.push_back({"place", 2, "rank", {}, {1, 2}});
    record.arrays.push_back(
        {"answer_nll", {"place"}, std::vector<float>{1, b ? 3.0F : 2.0F}, "nats", ""});
    record.attributes["side"] = std::string(b ? "B" : "A");
    record.attributes["intervention"] = std::string(b ? kSettingOfFile : "none");
    file.records.push_back(std::move(record));
  }
  return file;
}

class DocumentsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void AFileIsShownBesideTheModel() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    const Record* outcome = rig.session->record(Side::kA, kOutcomeRecord);
    const size_t runs = rig.control->what_ifs().size();
    rig.session->ShowFile(FileOfTwoSides(), nullptr, QStringLiteral("a.h5"));
    rig.session->FlushChanges();
    QVERIFY(rig.session->shows_file());
    QVERIFY(!rig.session->model());
    QVERIFY(!rig.session->ready());
    QCOMPARE(PrintIntervention(rig.session->setting(Side::kB)), std::string(kSettingOfFile));
    QCOMPARE(rig.window.windowTitle(), QStringLiteral("a.h5 — Midscope"));
    // The requests to the model are unchanged.
    QVERIFY(rig.window.history()->current().b.empty());
    auto* tabs = rig.Find<QTabBar>("documents");
    QCOMPARE(tabs->count(), 2);
    QCOMPARE(tabs->tabText(1), QStringLiteral("a.h5"));
    tabs->setCurrentIndex(0);
    rig.session->FlushChanges();
    QVERIFY(rig.session->ready());
    QCOMPARE(rig.session->record(Side::kA, kOutcomeRecord), outcome);
    QCOMPARE(rig.control->what_ifs().size(), runs);
  }

  void TheModelGoesOnMeanwhile() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.control->HoldComparisons(true);
    rig.session->SetSamples(4);
    rig.session->ShowFile(FileOfTwoSides());
    QVERIFY(!rig.session->MeansOf(Side::kA, Measure::kNll));
    rig.control->HoldComparisons(false);
    QVERIFY(rig.Settle());
    QVERIFY(rig.session->shows_file());
    QVERIFY(!rig.session->MeansOf(Side::kA, Measure::kNll));
    rig.session->ShowDocument(Session::kModelDocument);
    const auto means = rig.session->MeansOf(Side::kA, Measure::kNll);
    QVERIFY(means && means->complete);
  }

  void AChangedSettingIsSeenOnTheModel() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.session->ShowFile(FileOfTwoSides());
    rig.session->FlushChanges();
    rig.window.PutOnB(QStringLiteral("pi(3)"));
    QVERIFY(!rig.session->shows_file());
    QVERIFY(rig.Settle());
    QCOMPARE(PrintIntervention(rig.control->what_ifs().back()), std::string("pi(3)"));
  }

  void SettingsOfTheFileCanBePutOnTheModel() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.session->ShowFile(FileOfTwoSides());
    rig.session->FlushChanges();
    QMenu* menu = rig.Find<QToolButton>("use_document_settings")->menu();
    Q_EMIT menu->aboutToShow();
    QStringList titles;
    for (const QAction* action : menu->actions()) titles << action->text();
    QCOMPARE(titles, (QStringList{"A and B as in the file", "B: none", "B: pi(2)"}));
    menu->actions().front()->trigger();
    QVERIFY(!rig.session->shows_file());
    QCOMPARE(PrintIntervention(rig.session->setting(Side::kB)), std::string(kSettingOfFile));
    rig.window.history()->stack()->undo();
    QVERIFY(rig.session->setting(Side::kB).empty());
  }

  void FilesAreClosedAndReplaced() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.session->ShowFile(FileOfTwoSides(), nullptr, QStringLiteral("a.h5"));
    rig.session->ShowFile(FileOfTwoSides(), nullptr, QStringLiteral("b.h5"));
    rig.session->ShowFile(FileOfTwoSides(), nullptr, QStringLiteral("a.h5"));
    QCOMPARE(rig.session->documents(), (QStringList{"a.h5", "b.h5"}));
    QCOMPARE(rig.session->shown_document(), 0);
    ActionRegistry* actions = rig.window.actions_list();
    actions->Do(QStringLiteral("next-document"));
    QCOMPARE(rig.session->shown_document(), 1);
    actions->Do(QStringLiteral("close-document"));
    QCOMPARE(rig.session->documents(), QStringList{"a.h5"});
    QVERIFY(!rig.session->shows_file());
    actions->Do(QStringLiteral("close-document"));  // no effect while the model is shown
    QVERIFY(rig.session->ready());
  }

  void AFailedOpenLeavesAllAsItWas() {
    WindowRig<> rig;
    QVERIFY(rig.OpenModel());
    rig.session->ShowFile(FileOfTwoSides(), nullptr, QStringLiteral("a.h5"));
    QTemporaryDir folder;
    QFile damaged(folder.filePath("damaged.h5"));
    QVERIFY(damaged.open(QIODevice::WriteOnly));
    damaged.write("\x89HDF\r\n\x1a\n and no more");
    damaged.close();
    QVERIFY(!rig.OpenResults(damaged.fileName()));
    QCOMPARE(rig.session->documents(), QStringList{"a.h5"});
    QVERIFY(rig.session->shows_file());
    QVERIFY(rig.session->live().model);
  }

  void AModelIsOpenedBehindAFile() {
    WindowRig<> rig;
    rig.session->ShowFile(FileOfTwoSides());
    rig.session->FlushChanges();
    // If no model is open, requests start with the file's settings.
    QCOMPARE(PrintIntervention(rig.window.history()->current().b), std::string(kSettingOfFile));
    QVERIFY(rig.OpenModel());
    QVERIFY(!rig.session->shows_file());
    QCOMPARE(PrintIntervention(rig.session->setting(Side::kB)), std::string(kSettingOfFile));
  }
};

}  // namespace
}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::DocumentsTest)
#include "documents_test.moc"
