// SPDX-License-Identifier: MIT
// Means over samples: when they start, their estimated cost, and which settings are recognised as
// equivalent.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTest>

#include "core/intervention/term_type.h"
#include "core/terms/intervention_text.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/setting_history.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class MeansTest : public QObject {
  Q_OBJECT

 private:
  // Five places; each capture run reports the given seconds.
  struct Rig : WindowRig<> {
    explicit Rig(double seconds) {
      control->ClaimRunSeconds(seconds);
      session->SetSamples(20);
      Show();
    }
    QPushButton* button = Find<QPushButton>("means_start");
    QCheckBox* means = Find<QCheckBox>("outcome_means");
    void SetB(const char* text) { window.history()->Change({{}, ParseIntervention(text)}, false); }
    bool HasMeans(Side side) {
      const auto found = session->MeansOf(side, Measure::kNll);
      return found && found->complete;
    }
  };

 private Q_SLOTS:
  void CheapMeansStartByThemselves() {
    Rig rig(0.05);  // 5 s in total
    QVERIFY(rig.OpenModel());
    QTRY_VERIFY(rig.HasMeans(Side::kA));
    QCOMPARE(rig.control->comparisons(), size_t{1});
    QVERIFY(rig.button->isHidden());
  }

  void ExpensiveMeansWaitForTheButtonThatSaysTheCost() {
    Rig rig(5.4);  // 5.4 s times 5 places times 20 samples: 9 min
    QVERIFY(rig.OpenModel());
    QTRY_VERIFY(!rig.button->isHidden());
    QCOMPARE(rig.button->text(), QString("Means over 20 samples (9 min)"));
    QCOMPARE(rig.control->comparisons(), size_t{0});
    rig.button->click();
    QTRY_VERIFY(rig.HasMeans(Side::kA));
    QCOMPARE(rig.control->comparisons(), size_t{1});
    QVERIFY(rig.button->isHidden());
    // B is requested again; A is known.
    rig.SetB("pi(1.5)");
    QVERIFY(rig.Settle());
    QTRY_VERIFY(!rig.button->isHidden());
    QCOMPARE(rig.button->text(), QString("Means over 20 samples (9 min)"));
    QCOMPARE(rig.control->comparisons(), size_t{1});
  }

  // Means that the user has started do not vanish without a word.
  void AnotherSettingSaysThatItStoppedThem() {
    Rig rig(5.4);
    auto* note = rig.Find<QLabel>("means_note");
    QVERIFY(rig.OpenModel());
    QTRY_VERIFY(!rig.button->isHidden());
    rig.control->HoldComparisons(true);
    rig.button->click();
    QTRY_COMPARE(rig.control->comparisons(), size_t{1});
    rig.session->FlushChanges();
    QVERIFY(rig.button->isHidden());
    QVERIFY(!note->text().contains("stopped"));
    rig.window.history()->Change({ParseIntervention("pi(1.5)"), {}}, false);
    QTRY_VERIFY(!rig.button->isHidden());
    QTRY_VERIFY2(note->text().contains("stopped: the setting changed"), qPrintable(note->text()));
    // The earlier setting again: its means go on.
    rig.window.history()->Change({{}, {}}, false);
    QTRY_COMPARE(rig.control->comparisons(), size_t{2});
    rig.control->HoldComparisons(false);
    QTRY_VERIFY(rig.HasMeans(Side::kA));
    rig.session->FlushChanges();
    QVERIFY2(!note->text().contains("stopped"), qPrintable(note->text()));
  }

  void UntickingMeansStopsThem() {
    Rig rig(0);
    rig.control->HoldComparisons(true);
    rig.window.OpenModel("embedded");
    QTRY_COMPARE(rig.control->comparisons(), size_t{1});
    rig.means->setChecked(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    QVERIFY(!rig.HasMeans(Side::kA));
    rig.control->HoldComparisons(false);
    // Another setting does not start them either.
    rig.SetB("pi(1.5)");
    QVERIFY(rig.Settle());
    QCOMPARE(rig.control->comparisons(), size_t{1});
    QVERIFY(rig.button->isHidden());
    rig.means->setChecked(true);
    QTRY_VERIFY(rig.HasMeans(Side::kB));
  }

  void ASettingThatEqualsACostsNothing() {
    Rig rig(0);
    QVERIFY(rig.OpenModel());
    QTRY_VERIFY(rig.HasMeans(Side::kA));
    rig.SetB("channel(100, factor=1)");
    QVERIFY(rig.Settle());
    QTRY_VERIFY(!rig.session->has_pending_request());
    QCOMPARE(rig.control->comparisons(), size_t{1});
    QVERIFY(rig.HasMeans(Side::kB));
    const auto difference = rig.session->DifferenceOfMeans();
    QVERIFY(difference);
    QCOMPARE(difference->series.samples, int64_t{20});
    for (const double value : difference->series.values) QCOMPARE(value, 0.0);
    // Stored under the setting's own name.
    bool saved = false;
    for (const Record& record : rig.session->RecordsOnScreen().records) {
      if (record.name != "outcome_means_b") continue;
      saved = true;
      QCOMPARE(std::get<std::string>(record.attributes.at("intervention")),
               PrintIntervention(rig.session->setting(Side::kB)));
      QCOMPARE(std::get<std::string>(record.attributes.at("run_as")), std::string("none"));
    }
    QVERIFY(saved);
    rig.SetB("channel(100, factor=0.5)");
    QTRY_COMPARE(rig.control->comparisons(), size_t{2});
  }

  void CancelLeavesTheButton() {
    Rig rig(0);
    rig.control->HoldComparisons(true);
    rig.window.OpenModel("embedded");
    QTRY_COMPARE(rig.control->comparisons(), size_t{1});
    rig.session->Cancel();
    QTRY_VERIFY(!rig.button->isHidden());
    rig.control->HoldComparisons(false);
    rig.button->click();
    QTRY_VERIFY(rig.HasMeans(Side::kA));
  }

  void WhatChangesNothingIsLeftOut() {
    const auto in_effect = [](const char* text) {
      return PrintIntervention(WithoutNeutralTerms(ParseIntervention(text)));
    };
    QCOMPARE(in_effect("channel(100, factor=1)"), std::string("none"));
    QCOMPARE(in_effect("pi(1)"), std::string("none"));
    QCOMPARE(in_effect("ms-poe(min=1, max=1)"), std::string("none"));
    QCOMPARE(in_effect("boost(span=gold, factor=1)"), std::string("none"));
    QCOMPARE(in_effect("pi(1.5) + channel(100, factor=1)"),
             PrintIntervention(ParseIntervention("pi(1.5)")));
    const char* kept = "channel(100, factor=-1)";
    QCOMPARE(in_effect(kept), PrintIntervention(ParseIntervention(kept)));
  }

  // When the factor changes, the plot keeps its visible range; with another unit, the range is
  // reset.
  void TheOutcomeKeepsItsZoom() {
    Rig rig(0);
    rig.session->SetSamples(0);
    QVERIFY(rig.OpenModel());
    auto* plot = rig.window.panel<OutcomePanel>()->plot();
    const QCPRange range(1.5, 2.5);
    plot->ShowAlongY(range);
    rig.SetB("pi(1.5)");
    QVERIFY(rig.Settle());
    QVERIFY(plot->lines().size() >= 2);
    QCOMPARE(plot->yAxis->range(), range);
    rig.Find<QComboBox>("measure")->setCurrentIndex(static_cast<int>(Measure::kAccuracy));
    QVERIFY(plot->yAxis->range() != range);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::MeansTest)
#include "means_test.moc"
