// SPDX-License-Identifier: MIT
// Copies that the context menu of a plot makes.
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QDir>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/panels/plot_menu.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/command_arguments.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class PlotMenuTest : public QObject {
  Q_OBJECT

 private:
  static void Choose(QMenu* menu, const char* name) {
    menu->findChild<QAction*>(QLatin1String(name))->trigger();
  }

 private Q_SLOTS:
  void ARightClickOpensTheMenu() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    auto* plot = rig.window.panel<AttentionPanel>()->plot();
    rig.window.ShowPanel(rig.window.panel<AttentionPanel>());
    QTRY_VERIFY(plot->isVisible());
    const QPoint centre = plot->rect().center();
    QContextMenuEvent event(QContextMenuEvent::Mouse, centre, plot->mapToGlobal(centre));
    QApplication::sendEvent(plot, &event);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu);
    QVERIFY(menu->findChild<QAction*>("copy_data"));
    menu->close();
  }

  // Qt's dialog has also selected a folder above the typed one, and returned it.
  void ATypedFolderIsTheChosenOne() {
    const QTemporaryDir folder;
    const QString shown = folder.filePath("runs/shown");
    QVERIFY(QDir(folder.path()).mkpath(shown + "/inside"));
    const QString before = QDir::currentPath();
    QVERIFY(QDir::setCurrent(shown));
    constexpr int kUntilListed = 800;  // milliseconds
    QTimer::singleShot(kUntilListed, this, [&shown] {
      auto* line = QApplication::activeModalWidget()->findChild<QLineEdit*>("fileNameEdit");
      QTest::keyClicks(line, shown + "/inside");
      QTest::keyClick(line, Qt::Key_Return);
    });
    QCOMPARE(ChooseFolder(nullptr, QStringLiteral("Export")), shown + "/inside");
    QVERIFY(QDir::setCurrent(before));
  }

  void PictureDataCommandAndPythonAreCopied() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.history()->Change({{}, ParseIntervention("pi(1.5)")}, false);
    QVERIFY(rig.Settle());
    PlotMenu menus(rig.session);
    Plot* plot = rig.window.panel<AttentionPanel>()->plots().front();
    const std::unique_ptr<QMenu> menu(menus.Make(plot, {kLastQueryAttention}));
    const QClipboard* clipboard = QApplication::clipboard();
    Choose(menu.get(), "copy_picture");
    QVERIFY(clipboard->image().width() > 2000);  // 174 mm at 300 dots per inch
    Choose(menu.get(), "copy_data");
    QVERIFY(clipboard->text().contains("name,token,attention weight"));
    Choose(menu.get(), "copy_command");
    const QStringList lines = clipboard->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 2);
    QVERIFY2(lines[0].startsWith("midscope probe embedded ") && lines[0].contains(" --with none "),
             qPrintable(lines[0]));
    QVERIFY2(lines[1].contains(" --place 6 ") && lines[1].contains(" --with 'pi(1.5)' "),
             qPrintable(lines[1]));
    Choose(menu.get(), "copy_python");
    QVERIFY(clipboard->text().contains("import h5py"));
    QVERIFY(clipboard->text().contains(
        "last_query_attention = arrays[\"last_query_attention\"]  # [layer, head, key]"));
  }

  // The text view is not a plot; its picture is drawn only for export.
  void TheTextHasAPictureAndNumbers() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.history()->Change({{}, ParseIntervention("pi(1.5)")}, false);
    QVERIFY(rig.Settle());
    auto* panel = rig.window.panel<TextPanel>();
    rig.window.ShowPanel(panel);
    QWidget* text = panel->text()->viewport();
    QTRY_VERIFY(text->isVisible());
    const QPoint centre = text->rect().center();
    QContextMenuEvent event(QContextMenuEvent::Mouse, centre, text->mapToGlobal(centre));
    QApplication::sendEvent(text, &event);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu);
    Choose(menu, "copy_data");
    const QStringList lines = QApplication::clipboard()
                                  ->text()
                                  .split('\n', Qt::SkipEmptyParts)
                                  .filter(QRegularExpression("^[^#]"));
    QVERIFY2(lines.value(0).startsWith("token,text,gold,"), qPrintable(lines.value(0)));
    QCOMPARE(lines.size(), FakeEngine::kTokens + 1);
    const QStringList first = lines.value(1).split(',');
    QCOMPARE(first.size(), 5);
    const HeadId head = rig.window.selection()->shown_head();
    QCOMPARE(first[3].toFloat(), FakeEngine::Attention(head.layer, head.head, 0, 6, 0));
    QCOMPARE(first[4].toFloat(), FakeEngine::Attention(head.layer, head.head, 0, 6, 1));
    Choose(menu, "copy_picture");
    QVERIFY(QApplication::clipboard()->image().width() > 1000);
    menu->close();
    QTemporaryDir folder;
    rig.window.actions_list()->Do("panel text");
    rig.window.actions_list()->Do("export " + folder.filePath("words.svg"));
    QFile svg(folder.filePath("words.svg"));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray drawn = svg.readAll();
    QVERIFY(drawn.contains("word0") && drawn.contains("word118"));
    QVERIFY(QFile::exists(folder.filePath("words.csv")));
  }

  // The picture is shown before it is written, and the status bar says that it was written.
  void AnExportHasAPreview() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    PlotMenu menus(rig.session);
    Plot* plot = rig.window.panel<AttentionPanel>()->plots().front();
    const std::unique_ptr<QMenu> menu(menus.Make(plot, {}));
    QSignalSpy told(&menus, &PlotMenu::Told);
    Choose(menu.get(), "export_narrow");
    auto* dialog = plot->findChild<PictureDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    const QPixmap preview = dialog->findChild<QLabel*>("picture_preview")->pixmap();
    QCOMPARE(qRound(preview.width() * 25.4 / dialog->logicalDpiX()), 85);
    QTemporaryDir folder;
    dialog->Save(folder.filePath("attention.png"));
    QVERIFY(QFile::exists(folder.filePath("attention.csv")));
    const QImage written(folder.filePath("attention.png"));
    QCOMPARE(qRound(1000.0 * written.width() / written.dotsPerMeterX()), 85);
    QCOMPARE(told.size(), 1);
    QVERIFY(told[0][0].toString().contains("attention.png written"));
    QVERIFY(!dialog->isVisible());
  }

  void WithoutAModelTheCommandSaysWhatIsMissing() {
    WindowRig<> rig;
    PlotMenu menus(rig.session);
    QSignalSpy failed(&menus, &PlotMenu::Failed);
    const std::unique_ptr<QMenu> menu(
        menus.Make(rig.window.panel<AttentionPanel>()->plots().front(), {}));
    Choose(menu.get(), "copy_command");
    QCOMPARE(failed.size(), 1);
    QVERIFY(failed[0][0].toString().contains("Open a model"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PlotMenuTest)
#include "plot_menu_test.moc"
