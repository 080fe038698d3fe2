// SPDX-License-Identifier: MIT
// The head maps of A, B and their difference, in the window on planted numbers.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "tests/gui/support/looking_rig.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class HeadMapsTest : public QObject {
  Q_OBJECT

 private:
  using Rig = LookingRig;

 private Q_SLOTS:
  void LayerZeroIsAtTheBottomAndUpIsTheNextLayer() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.Cell({0, 0}).y() > rig.Cell({5, 0}).y());
    QTest::mouseClick(rig.map, Qt::LeftButton, {}, rig.Cell({2, 1}));
    QTest::keyClick(rig.map, Qt::Key_Up);
    QCOMPARE(rig.selection->head(), (HeadId{3, 1}));
    // Two heads share a key/value head, so four heads have one line in the middle.
    QCOMPARE(rig.map->group_lines().size(), size_t{1});
    QCOMPARE(rig.map->group_lines().front()->start->coords().x(), 1.5);
  }

  void TheMapShowsWhatFollowsFromTheAttention() {
    Rig rig;
    QVERIFY(rig.OpenWithB(0));
    const double strength = FakeEngine::Strength(Factor(0));
    rig.map_panel->ChooseQuantity("gold");
    rig.map_panel->SetMode(Compare::kA);
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    QVERIFY(near(rig.map->CellValue({3, 2}), Rig::OnGold({3, 2}, 0)));
    rig.map_panel->SetMode(Compare::kB);
    QVERIFY(near(rig.map->CellValue({3, 2}), Rig::OnGold({3, 2}, strength)));
    rig.map_panel->SetMode(Compare::kDifference);
    QVERIFY(
        near(rig.map->CellValue({3, 2}), Rig::OnGold({3, 2}, strength) - Rig::OnGold({3, 2}, 0)));
    QVERIFY(rig.map->diverging());
    QCOMPARE(rig.map->data_range().lower, -rig.map->data_range().upper);
    QVERIFY2(rig.map->title().contains("Attention on gold"), qPrintable(rig.map->title()));
    rig.map->replot();
    const QString tip = rig.map->TooltipAt(rig.Cell({3, 2}));
    QVERIFY2(tip.contains("A ") && tip.contains("B − A"), qPrintable(tip));
    // A quantity of the selected tokens, which then change.
    rig.map_panel->ChooseQuantity("selection");
    rig.map_panel->SetMode(Compare::kA);
    QVERIFY(std::isnan(rig.map->CellValue({3, 2})));
    rig.selection->SetRange(50, 60);
    QVERIFY(near(rig.map->CellValue({3, 2}), Rig::OnGold({3, 2}, 0)));
  }

  void EveryArrayOverHeadsCanBeShown() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    auto* box = rig.Find<QComboBox>("map_quantity");
    QVERIFY(box->findText(QStringLiteral("position ratio")) > 0);
    rig.map_panel->ChooseQuantity("position_ratio/position_ratio");
    QCOMPARE(rig.map->CellValue({1, 1}), 1.0);
    QVERIFY2(rig.map->title().endsWith("— Position ratio"), qPrintable(rig.map->title()));
  }

  void MeansOverSamplesFollowPlaceAndSetting() {
    Rig rig;
    QVERIFY(rig.OpenWithB(0));
    rig.control->HoldScans(true);
    rig.map_panel->SetMode(Compare::kA);
    rig.map_panel->ChooseQuantity("gold");  // its mean is shown next
    auto* box = rig.Find<QCheckBox>("map_over_samples");
    box->click();
    auto* note = rig.Find<QLabel>("map_note");
    rig.session->SetSamples(20);
    QTRY_VERIFY(note->text().startsWith("mean over 10 of 20 samples so far"));
    rig.control->HoldScans(false);
    QTRY_VERIFY(note->text().startsWith("mean over 20 samples"));
    const auto place_of = [&] {
      return double(std::get<int64_t>(rig.session->prompt()->attributes.at("place")));
    };
    QCOMPARE(rig.map_panel->quantity_id(), std::string(HeadMapPanel::kMeanGoldId));
    QCOMPARE(rig.map->CellValue({2, 3}), double{FakeEngine::Score(2, 3, 0)} + place_of());
    const QString tip = rig.map->TooltipAt(rig.Cell({2, 3}));
    QVERIFY2(tip.contains("95 % interval over samples: A ± 0.25"), qPrintable(tip));
    auto* quantities = rig.Find<QComboBox>("map_quantity");
    QCOMPARE(quantities->findText(QStringLiteral("half width"), Qt::MatchContains), -1);
    rig.map_panel->SetMode(Compare::kB);
    const double strength = FakeEngine::Strength(Factor(0));
    QTRY_COMPARE(rig.map->CellValue({2, 3}),
                 double{FakeEngine::Score(2, 3, strength)} + place_of());
    rig.map_panel->SetMode(Compare::kA);
    rig.session->SetPlace(0);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.map->CellValue({2, 3}), double{FakeEngine::Score(2, 3, 0)} + place_of());
    double mean = 0;
    for (const Record& prompt : rig.session->prompts()) {
      mean += double(std::get<int64_t>(prompt.attributes.at("place"))) /
              double(rig.session->prompts().size());
    }
    rig.map_panel->ChooseQuantity(std::string(HeadMapPanel::kMeanGoldId) + ", all places");
    QVERIFY(std::abs(rig.map->CellValue({2, 3}) - FakeEngine::Score(2, 3, 0) - mean) < 1e-9);
    // They are on the screen, so that they are saved.
    const auto saved = rig.session->RecordsOnScreen().records;
    QCOMPARE(std::count_if(saved.begin(), saved.end(),
                           [](const Record& r) { return r.name == "gold_following"; }),
             1);
    box->click();
    QCOMPARE(rig.map_panel->quantity_id(), std::string(HeadMapPanel::kScoreId));
    QVERIFY(!rig.session->sample_probes_wanted());
  }

  void SplitShowsBothAndTheDifferenceOnOneScale() {
    Rig rig;
    rig.window.resize(1800, 1000);
    QVERIFY(rig.OpenWithB(0));
    rig.map_panel->setMinimumWidth(700);
    QTRY_VERIFY(rig.map_panel->plot_of_b()->isVisible());
    const double strength = FakeEngine::Strength(Factor(0));
    QCOMPARE(rig.map->CellValue({2, 3}), double{FakeEngine::Score(2, 3, 0)});
    QCOMPARE(rig.map_panel->plot_of_b()->CellValue({2, 3}),
             double{FakeEngine::Score(2, 3, strength)});
    QCOMPARE(rig.map_panel->plot_of_difference()->CellValue({2, 3}),
             double{FakeEngine::Score(2, 3, strength)} - double{FakeEngine::Score(2, 3, 0)});
    QCOMPARE(rig.map->data_range(), rig.map_panel->plot_of_b()->data_range());
    QCOMPARE(rig.map_panel->plots().size(), size_t{3});
    rig.map_panel->SetMode(Compare::kB);
    QVERIFY(rig.map_panel->plot_of_b()->isHidden());
    QCOMPARE(rig.map->CellValue({2, 3}), double{FakeEngine::Score(2, 3, strength)});
  }

  // Hiding the list enlarges the maps without a change of the panel's size.
  void SplitAppearsAsSoonAsTheMapsHaveRoom() {
    Rig rig;
    rig.window.resize(1800, 700);
    QVERIFY(rig.OpenModel());
    rig.map_panel->setMinimumWidth(700);
    rig.Find<QToolButton>("map_list_shown")->setChecked(true);
    auto* sides = rig.map_panel->findChild<QSplitter*>();
    QVERIFY(sides);
    QTRY_VERIFY(sides->width() >= 700);
    sides->setSizes({160, 540});
    rig.window.history()->Change({{}, Factor(0)}, false);
    QVERIFY(rig.Settle());
    QVERIFY(rig.map_panel->plot_of_b()->isHidden());
    const auto* note = rig.Find<QLabel>("map_note");
    QVERIFY2(note->text().contains("no room"), qPrintable(note->text()));
    sides->setSizes({500, 200});
    QTRY_VERIFY(rig.map_panel->plot_of_b()->isVisible());
    QVERIFY2(!note->text().contains("no room"), qPrintable(note->text()));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::HeadMapsTest)
#include "head_maps_test.moc"
