// SPDX-License-Identifier: MIT
// The table of position ratios: ratios(FILE) reads exactly what was typed or pasted.
#include <QDir>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "core/base/error.h"
#include "core/intervention/head_ratio_file.h"
#include "core/terms/intervention_text.h"
#include "gui/main_window.h"
#include "gui/ratio_editor.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/spy_until.h"

namespace midscope {

class RatiosTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void CellsAreRatios() {
    RatioTable table;
    table.Reset(3, 2);
    const QModelIndex cell = table.index(1, 0);
    QVERIFY(table.setData(cell, "1.25", Qt::EditRole));
    QCOMPARE(table.ratio(1, 0), 1.25);
    for (const char* bad : {"0", "-1", "zwei", "", "1001", "nan"}) {
      QVERIFY2(!table.setData(cell, bad, Qt::EditRole), bad);
    }
    QCOMPARE(table.ratio(1, 0), 1.25);
    QCOMPARE(table.data(cell, Qt::ToolTipRole).toString(), QString("L1H0: 1.25"));
    // Cells are blue above 1 and red below.
    table.setData(table.index(0, 0), "0.5", Qt::EditRole);
    const auto above = table.data(cell, Qt::BackgroundRole).value<QColor>();
    const auto below = table.data(table.index(0, 0), Qt::BackgroundRole).value<QColor>();
    QVERIFY(above.blue() > above.red());
    QVERIFY(below.red() > below.blue());
  }

  void PastedRowsGoFromTheCellOn() {
    RatioTable table;
    table.Reset(3, 3);
    table.Paste("1.1\t1.2\n1.3, 1.4, 9\n", 1, 1);
    QCOMPARE(table.ratio(1, 1), 1.1);
    QCOMPARE(table.ratio(2, 2), 1.4);  // numbers beyond the edge are ignored
    QCOMPARE(table.ratio(0, 0), 1.0);
    QVERIFY_EXCEPTION_THROWN(table.Paste("1.5\nx", 0, 0), Error);
    QCOMPARE(table.ratio(0, 0), 1.0);  // either all values are set or none
    RatioTable copy;
    copy.Reset(3, 3);
    copy.Paste(table.Text(), 0, 0);
    QCOMPARE(copy.Text(), table.Text());
  }

  void TheFileReadsBack() {
    RatioTable table;
    table.Reset(4, 3);
    table.Paste("0.1 0.3 1000", 2, 0);
    const HeadRatioTable read = ParseHeadRatios("table", table.Json());
    QCOMPARE(read.heads, int64_t{3});
    QCOMPARE(read.ratios.size(), size_t{12});
    QCOMPARE(read.ratios[6], 0.1);
    QCOMPARE(read.ratios[8], 1000.0);
  }

  void UsedAsBTheyAreASetting() {
    QTemporaryDir folder;
    auto control = std::make_shared<FakeControl>();
    MainWindow window(std::make_unique<FakeEngine>(control));
    window.session()->SetReleaseDelay(0);
    window.session()->SetSamples(0);
    QSignalSpy stopped(window.session(), &Session::Stopped);
    window.OpenModel("embedded");
    QVERIFY(SpyUntil(stopped, [&] { return window.session()->settled(Side::kA); }));
    RatioEditor editor({window.session(), window.history(), window.errors()});
    editor.SetFolder(folder.filePath("kept"));
    QCOMPARE(editor.table()->rowCount(), static_cast<int>(FakeEngine::kLayers));
    QCOMPARE(editor.table()->columnCount(), static_cast<int>(FakeEngine::kHeads));
    editor.table()->setData(editor.table()->index(5, 3), "1.5", Qt::EditRole);
    editor.Use();
    QVERIFY2(window.errors()->messages().isEmpty(),
             qPrintable(window.errors()->messages().join('\n')));
    const Intervention b = window.history()->current().b;
    QCOMPARE(b.Find<HeadRatioTable>()->ratios.back(), 1.5);
    QCOMPARE(ParseIntervention(PrintIntervention(b)), b);
    QCOMPARE(QDir(folder.filePath("kept")).entryList(QDir::Files).size(), 1);
    window.history()->stack()->undo();
    QVERIFY(window.history()->current().b.empty());
    editor.SetFolder("/dev/null/nowhere");
    editor.Use();
    QCOMPARE(window.errors()->messages().size(), 1);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::RatiosTest)
#include "ratios_test.moc"
