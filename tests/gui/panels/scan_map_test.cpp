// SPDX-License-Identifier: MIT
// The head map of a file with a scan over heads: mean, middle compared with the ends, each place,
// with bounds and p in the tooltip; the score in addition, if the file has one.
#include <QComboBox>
#include <QLabel>
#include <QTest>

#include "data/store/record_reader.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/plots/maps/head_map_plot.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {
namespace {

Record ScanOfTwoPlaces() {
  Record record;
  record.name = "scan";
  record.axes = {{"layer", 2, "", {}, {}}, {"head", 2, "", {}, {}}, {"place", 2, "", {}, {1, 10}}};
  const auto add = [&](const std::string& name, std::vector<std::string> axes,
                       std::vector<double> values) {
    record.arrays.push_back({name, std::move(axes), std::move(values), "nats", ""});
  };
  add("effect", {"layer", "head", "place"}, {0, 0, 1, 3, -4, 0, 0, 2});
  add("mean_effect", {"layer", "head"}, {0, 2, -2, 1});
  add("mean_effect_low", {"layer", "head"}, {-1, 1.5, -3, 0});
  add("mean_effect_high", {"layer", "head"}, {1, 2.5, -1, 2});
  add("mean_effect_p", {"layer", "head"}, {1, 0.01, 0.5, 0.5});
  add("middle_effect", {"layer", "head"}, {0, 0, 0, 7});
  record.attributes = {{"with", std::string("ablate({head})")}};
  return record;
}

}  // namespace

class ScanMapTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    HeadMapPanel* panel = window.panel<HeadMapPanel>();
    QComboBox* quantity = Find<QComboBox>("map_quantity");
    void ShowRecords(std::vector<Record> records) {
      Show();
      RunFile file;
      file.records = std::move(records);
      window.session()->ShowFile(file);
      QTRY_VERIFY(panel->plot()->layers() > 0);
    }
  };

 private Q_SLOTS:
  // The scale and the note of a share mention neither nats nor the sign of an effect.
  void TheScaleAndTheNoteSayWhatIsShown() {
    Rig rig;
    Record record = ScanOfTwoPlaces();
    record.arrays.push_back(
        {"mean_share", {"layer", "head"}, std::vector<double>{0, 1, 0.5, 0}, "", ""});
    rig.ShowRecords({record});
    QCOMPARE(rig.panel->plot()->scale_label(), QStringLiteral("share of the effect restored"));
    QVERIFY(rig.Find<QLabel>("map_note")->text().contains("source"));
    rig.quantity->setCurrentIndex(rig.quantity->findText("scan: mean over places"));
    QCOMPARE(rig.panel->plot()->scale_label(), QStringLiteral("effect (nats)"));
    QVERIFY(rig.Find<QLabel>("map_note")->text().contains("less likely"));
    QCOMPARE(rig.panel->plot()->title(), QStringLiteral("ablate(each head) — mean over places"));
  }

  void AFileOfAScanShowsItsMeanFirst() {
    Rig rig;
    rig.ShowRecords({ScanOfTwoPlaces()});
    QStringList names;
    for (int i = 1; i < rig.quantity->count(); ++i) names << rig.quantity->itemText(i);
    QCOMPARE(names, (QStringList{"scan: mean over places", "scan: middle against first and last",
                                 "scan: place 1", "scan: place 10"}));
    QCOMPARE(rig.quantity->currentIndex(), 1);
    QCOMPARE(rig.panel->plot()->CellValue({0, 1}), 2.0);
    QVERIFY(rig.panel->plot()->title().contains(QLatin1String("ablate(each head)")));
  }

  void EveryViewIsDrawnWithItsOwnNumbers() {
    Rig rig;
    rig.ShowRecords({ScanOfTwoPlaces()});
    rig.quantity->setCurrentIndex(2);
    QCOMPARE(rig.panel->plot()->CellValue({1, 1}), 7.0);
    rig.quantity->setCurrentIndex(3);
    QCOMPARE(rig.panel->plot()->CellValue({1, 0}), -4.0);
    rig.quantity->setCurrentIndex(4);
    QCOMPARE(rig.panel->plot()->CellValue({0, 1}), 3.0);
  }

  void TheTooltipTellsBoundsAndP() {
    const Record scan = ScanOfTwoPlaces();
    const std::vector<ScanView> views = ScanViews(&scan);
    QCOMPARE(ScanEffectText(scan, views[0], {0, 1}),
             QStringLiteral("effect 2 nats [1.5, 2.5]\np 0.01, of all heads together"));
    QCOMPARE(ScanEffectText(scan, views[3], {0, 1}), QStringLiteral("effect 3 nats"));
  }

  void AScanOfLayersIsNoMapOfHeads() {
    QVERIFY(!IsHeadScan(nullptr));
    Record scan = ScanOfTwoPlaces();
    scan.axes.erase(scan.axes.begin() + 1);
    scan.arrays = {{"mean_effect", {"layer"}, std::vector<double>{1, 2}, "nats", ""},
                   {"effect", {"layer", "place"}, std::vector<double>{1, 2, 3, 4}, "nats", ""}};
    QVERIFY(!IsHeadScan(&scan));
    QVERIFY(ScanViews(nullptr).empty());
    Rig rig;
    rig.Show();
    RunFile file;
    file.records = {scan};
    rig.window.session()->ShowFile(file);
    rig.window.session()->FlushChanges();
    QCOMPARE(rig.quantity->count(), 1);
  }

  void WithoutAScanThereIsNoneToChoose() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.quantity->count() > 1);
    for (int i = 0; i < rig.quantity->count(); ++i) {
      QVERIFY(!rig.quantity->itemText(i).startsWith(QLatin1String("scan")));
    }
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ScanMapTest)
#include "scan_map_test.moc"
