// SPDX-License-Identifier: MIT
// Conventions of desktop programs: files are not overwritten without confirmation, several files
// can be dropped at once, preferences, visible focus, a window that fits on the screen.
#include <QAction>
#include <QDockWidget>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QMimeData>
#include <QScreen>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>
#include <QWindow>

#include "core/base/error.h"
#include "gui/actions/action_registry.h"
#include "gui/base/appearance.h"
#include "gui/base/display_text.h"
#include "gui/files/result_file.h"
#include "gui/layout/dock_area.h"
#include "gui/layout/layouts.h"
#include "gui/panels/model_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/preferences.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/parameter_form.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class WindowHabitsTest : public QObject {
  Q_OBJECT

 private:
  static QByteArray Bytes(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static QStringList Errors(WindowRig<>& rig) { return rig.window.errors()->messages(); }
  static void Drop(MainWindow& window, const QStringList& paths) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths) urls << QUrl::fromLocalFile(path);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&window, &enter);
    QDropEvent event(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&window, &event);
  }

 private Q_SLOTS:
  void AnExportOverwritesNothingUnasked() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QTemporaryDir folder;
    const QString mine = folder.filePath("outcome.png");
    QFile file(mine);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("mine") == 4);
    file.close();
    ActionRegistry* actions = rig.window.actions_list();
    actions->Do("export " + folder.path());
    QCOMPARE(Errors(rig).size(), 1);
    QVERIFY2(Errors(rig).front().contains("outcome.png"), qPrintable(Errors(rig).front()));
    QCOMPARE(Bytes(mine), QByteArray("mine"));
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"outcome.png"});
    QVERIFY_EXCEPTION_THROWN(actions->Do("export " + mine), Error);
    QCOMPARE(Bytes(mine), QByteArray("mine"));
    actions->Do("export-over " + folder.path());
    QVERIFY(Bytes(mine).startsWith("\x89PNG"));
    QCOMPARE(Errors(rig), QStringList());  // the failed operation has succeeded
    QVERIFY(QDir(folder.path()).entryList(QDir::Files).size() > 8);
  }

  void EscDismissesTheNewestError() {
    WindowRig<> rig;
    rig.Show();
    rig.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&rig.window));
    rig.window.errors()->Add(QStringLiteral("first"));
    rig.window.errors()->Add(QStringLiteral("second"));
    rig.window.panel<OutcomePanel>()->plot()->setFocus();
    QTest::keyClick(rig.window.focusWidget(), Qt::Key_Escape);
    QCOMPARE(Errors(rig), QStringList{"first"});
    QTest::keyClick(rig.window.focusWidget(), Qt::Key_Escape);
    QCOMPARE(Errors(rig), QStringList());
  }

  void ActionsOfASecondModelNeedOne() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    for (const char* id : {"close-second", "adapter-scale"})
      QVERIFY2(!rig.window.actions_list()->Find(QString::fromLatin1(id))->action->isEnabled(), id);
  }

  void ShortTitlesAreNotCut() {
    WindowRig<> rig;
    rig.Show();
    rig.window.resize(1540, 900);
    rig.window.docks()->Arrange(LayoutList().front());
    QApplication::processEvents();
    int seen = 0;
    for (const QDockWidget* dock : rig.window.docks()->docks()) {
      const auto* title = dock->titleBarWidget()->findChild<QLabel*>();
      if (!title->isVisible() || title->sizeHint().width() > 60) continue;
      ++seen;
      QVERIFY2(title->width() >= title->sizeHint().width(), qPrintable(title->text()));
    }
    QVERIFY(seen > 1);
  }

  void ADropOfSeveralFilesOpensAll() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QTemporaryDir folder;
    const QStringList paths = {folder.filePath("a.h5"), folder.filePath("broken.h5"),
                               folder.filePath("b.h5")};
    SaveResults(*rig.session, paths[0]);
    SaveResults(*rig.session, paths[2]);
    QFile broken(paths[1]);
    QVERIFY(broken.open(QIODevice::WriteOnly) && broken.write("no results") > 0);
    broken.close();
    Drop(rig.window, paths);
    QTRY_COMPARE_WITH_TIMEOUT(rig.session->documents().size(), 2, 20000);
    QTRY_VERIFY_WITH_TIMEOUT(!rig.window.files()->opening(), 20000);
    QCOMPARE(rig.session->documents(), (QStringList{paths[0], paths[2]}));
    QCOMPARE(Errors(rig).size(), 1);
    QVERIFY2(Errors(rig).front().contains("broken.h5"), qPrintable(Errors(rig).front()));
    // The first of two models is opened, and the second is reported as an error.
    Drop(rig.window, {folder.filePath("one.gguf"), folder.filePath("two.gguf")});
    QVERIFY(Errors(rig).join('\n').contains("two.gguf"));
    QCOMPARE(rig.window.model()->model(), folder.filePath("one.gguf"));
  }

  void TheModelHasTheNameThatTheUserKnows() {
    QCOMPARE(ModelLabel("/models/Qwen2.5-7B-Q4_K_M.gguf", "x"), QString("Qwen2.5-7B-Q4_K_M"));
    QCOMPARE(ModelLabel("/models/vicuna-7b-v1.5/", "x"), QString("vicuna-7b-v1.5"));
    QCOMPARE(ModelLabel("HuggingFaceTB/SmolLM2-360M", "x"), QString("SmolLM2-360M"));
    QCOMPARE(ModelLabel("", "Planted"), QString("Planted"));
    QVERIFY(ModelLabel("embedded", "Smollm2 135M 8k").startsWith("SmolLM2-135M-Instruct"));
  }

  void EveryPreferenceIsInTheDialogAndRemembered() {
    QTemporaryDir folder;
    const QString stored = folder.filePath("window.ini");
    {
      WindowRig<> rig;
      rig.window.Remember(stored);
      rig.window.actions_list()->Do("preferences");
      auto* dialog = rig.window.findChild<PreferencesDialog*>();
      QVERIFY(dialog);
      auto* form = dialog->findChild<ParameterForm*>();
      for (const Preference& preference : Preferences()) {
        const QString name =
            QStringLiteral("preference_") + QString::fromStdString(preference.parameter.name);
        QVERIFY2(dialog->findChild<QWidget*>(name), qPrintable(name));
      }
      form->SetText("appearance", "dark");
      QVERIFY(CurrentAppearance() == Appearance::kDark);
      form->SetText("means-by-themselves", "false");
      QVERIFY(!rig.session->means_start_automatically());
      form->SetText("dtype", "float32");
      QCOMPARE(rig.window.model()->request().dtype, std::string("float32"));
      form->SetText("reopen-last", "true");
      form->SetText("model-folder", folder.path().toStdString());
      QVERIFY(dialog->findChild<QLabel*>("preference_places")->text().contains(stored));
    }
    WindowRig<> next;
    next.window.Remember(stored);
    QVERIFY(!next.session->means_start_automatically());
    QVERIFY(next.window.files()->reopens_last());
    QCOMPARE(next.window.files()->folder(), folder.path());
    SetAppearance(Appearance::kDesktop);
  }

  void MeansWaitWhereTheyAreNotToStartThemselves() {
    WindowRig<> rig;
    rig.session->SetMeansStartAutomatically(false);
    rig.control->ClaimRunSeconds(0.001);
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.session->SetSamples(4);
    QTest::qWait(100);
    QCOMPARE(rig.control->comparisons(), size_t{0});
    QVERIFY(rig.session->means_offer().has_value());
    rig.session->SetMeansStartAutomatically(true);
    QTRY_VERIFY(rig.control->comparisons() > 0);
  }

  void TheFocusOfAPlotIsSeenAndKeysSteerIt() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    OutcomePlot* plot = rig.window.panel<OutcomePanel>()->plot();
    rig.window.ShowPanel(rig.window.panel<OutcomePanel>());
    rig.window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&rig.window));
    const auto frame = [plot] { return plot->grab().toImage().pixelColor(1, plot->height() / 2); };
    const QColor highlight = plot->palette().color(QPalette::Highlight);
    QVERIFY(frame() != highlight);
    plot->setFocus(Qt::TabFocusReason);
    QTRY_COMPARE(frame(), highlight);
    const QCPRange all = plot->xAxis->range();
    QTest::keyClick(plot, Qt::Key_Plus);
    QVERIFY(plot->xAxis->range().size() < 0.9 * all.size());
    const double lower = plot->yAxis->range().lower;
    QTest::keyClick(plot, Qt::Key_Up);
    QVERIFY(plot->yAxis->range().lower > lower);
    QTest::keyClick(plot, Qt::Key_Home);
    QCOMPARE(plot->xAxis->range().size(), all.size());
    // The keys Left and Right choose the place.
    const size_t place = rig.session->place();
    QTest::keyClick(plot, Qt::Key_Right);
    QCOMPARE(rig.session->place(), place + 1);
    for (Plot* each : rig.window.plots()) QVERIFY(each->focusPolicy() & Qt::TabFocus);
    // The mouse and the keys of a plot are a hint in the status bar.
    QVERIFY(plot->statusTip().contains("wheel: zoom"));
  }

  void AWideWindowCanBeMadeNarrow() {
    WindowRig<> rig;
    rig.window.resize(1600, 1000);
    rig.window.show();
    QVERIFY(rig.OpenModel());
    rig.window.actions_list()->Do("layout-explore");
    QTest::qWait(50);
    const int wide = rig.window.findChild<QDockWidget*>("settings")->width();
    rig.window.resize(1024, 700);
    QTest::qWait(100);
    QCOMPARE(rig.window.size(), QSize(1024, 700));
    // No dock is outside the window.
    for (const QDockWidget* dock : rig.window.docks()->docks()) {
      if (dock->visibleRegion().isEmpty()) continue;
      const QRect at(dock->mapTo(&rig.window, QPoint(0, 0)), dock->size());
      QVERIFY2(at.right() <= rig.window.width(), qPrintable(dock->objectName()));
    }
    rig.window.resize(1600, 1000);
    QTest::qWait(100);
    const int again = rig.window.findChild<QDockWidget*>("settings")->width();
    QVERIFY2(std::abs(again - wide) < 60, qPrintable(QStringLiteral("%1 %2").arg(again).arg(wide)));
  }

  void TheWindowFitsTheScreenWithItsFrame() {
    WindowRig<> rig;
    rig.window.show();
    QTest::qWait(100);
    const QRect room = rig.window.screen()->availableGeometry();
    const QMargins frame = rig.window.windowHandle()->frameMargins();
    QVERIFY(frame.top() > 0);  // otherwise this test would show nothing
    // This platform's screen is 800 x 800, narrower than the window's minimum.
    QVERIFY(rig.window.frameGeometry().height() <= room.height());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::WindowHabitsTest)
#include "window_habits_test.moc"
