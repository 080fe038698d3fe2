// SPDX-License-Identifier: MIT
// The scan panel: a request becomes a scan, which fills bars, map and head map while it runs; it
// pauses for other requests, and can be stopped with its results kept; a click adds an item's term
// to setting B.
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTest>
#include <cmath>

#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/scan_panel.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/record_plot.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/parameter_form.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/sweep_cost.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class ScanPanelTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    ScanPanel* panel = window.panel<ScanPanel>();
    QPushButton* start = Find<QPushButton>("scan_start");
    QComboBox* view = Find<QComboBox>("scan_view");
    QLabel* note = Find<QLabel>("scan_note");
    const Record* record() { return session->record(Side::kA, kScanRecord); }
    bool IsComplete() {
      return record() && std::get<int64_t>(record()->attributes.at("complete")) == 1;
    }
    void Draw() {
      session->FlushChanges();
      panel->DrawWaiting();
    }
    // Returns once the scan has reported its first half.
    void StartAndHold() {
      control->HoldScans(true);
      start->click();
      QTRY_VERIFY(record());
      Draw();
    }
    void LetGo() {
      control->HoldScans(false);
      QTRY_VERIFY(IsComplete());
      Draw();
    }
    ~Rig() { control->HoldScans(false); }
  };

 private Q_SLOTS:
  void TheMapFillsWhileTheScanRuns() {
    Rig rig;
    rig.Show();
    QVERIFY(!rig.start->isEnabled());
    QVERIFY(rig.OpenModel());
    rig.Draw();
    QVERIFY(rig.start->isEnabled());
    rig.panel->form()->SetText("samples", "7");
    rig.panel->form()->SetText("places", "1,50%");
    rig.StartAndHold();
    QVERIFY(rig.session->scans());
    QVERIFY(!rig.IsComplete());
    HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    QCOMPARE(map->CellValue({1, 3}), 7.0);  // the index of the item
    QVERIFY(std::isnan(map->CellValue({5, 3})));
    QCOMPARE(rig.panel->bars()->bars().first(), (BarPlot::Bar{"L2H3", 11}));
    QVERIFY(rig.note->text().startsWith(QLatin1String("7 sample")));
    rig.LetGo();
    QCOMPARE(map->CellValue({5, 3}), 23.0);
    QCOMPARE(rig.panel->bars()->bars().first(), (BarPlot::Bar{"L5H3", 23}));
    QVERIFY(!rig.session->scans());
    QCOMPARE(rig.control->scans().size(), size_t{1});
    QCOMPARE(rig.control->scans().front().samples, int64_t{7});
    QCOMPARE(rig.control->scans().front().places, std::string("1,50%"));
  }

  // The planted score is largest in the last layers.
  void HeadsWithTheLargestScoreRunFirst() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.start->click();
    QTRY_VERIFY(rig.IsComplete());
    const std::vector<std::string> first = rig.control->scans().front().first;
    QCOMPARE(first.size(), size_t{FakeEngine::kLayers * FakeEngine::kHeads});
    double before = std::numeric_limits<double>::infinity();
    for (const std::string& id : first) {
      const int64_t layer = id[1] - '0';
      const int64_t head = id[3] - '0';
      const double score = FakeEngine::Score(layer, head, FakeEngine::Strength({}));
      QVERIFY(score <= before);
      before = score;
    }
  }

  void AClickOnABarOrACellPutsItsTermOnB() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.panel->form()->SetText("over", "layer_spans");
    rig.start->click();
    QTRY_VERIFY(rig.IsComplete());
    rig.Draw();
    QCOMPARE(rig.panel->map()->lines(), int64_t{FakeEngine::kLayers});
    Q_EMIT rig.panel->map()->CellChosen(3, 2);
    QCOMPARE(QString::fromStdString(PrintIntervention(rig.session->setting(Side::kB))),
             QString::fromStdString(
                 PrintIntervention(ParseIntervention("patch(from=place:1, span=last, layers=3)"))));
  }

  // Items run on top of A; a click makes B what the item was run under, or adds the item to B.
  void TheBaseOfAScanIsA() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.window.history()->Change({ParseIntervention("pi(1.5)"), Factor(0)}, false);
    QVERIFY(rig.Settle());
    rig.start->click();
    QTRY_VERIFY(rig.IsComplete());
    rig.Draw();
    QCOMPARE(PrintIntervention(rig.control->scans().front().base), std::string("pi(1.5)"));
    QVERIFY2(rig.panel->bars()->title().contains("on top of pi(1.5)"),
             qPrintable(rig.panel->bars()->title()));
    const auto b = [&rig] { return PrintIntervention(rig.session->setting(Side::kB)); };
    const std::string before = b();
    Q_EMIT rig.panel->bars()->BarChosen(0);
    const std::string item = "ablate(L5H3, with=zero, rows=answer)";
    QCOMPARE(ParseIntervention(b()), ParseIntervention("pi(1.5) + " + item));
    rig.window.history()->stack()->undo();
    QCOMPARE(b(), before);
    rig.Find<QComboBox>("scan_click")->setCurrentIndex(1);
    Q_EMIT rig.panel->bars()->BarChosen(0);
    QCOMPARE(ParseIntervention(b()), ParseIntervention(before + " + " + item));
  }

  void TheButtonHasTheCost() {
    Rig rig;
    rig.Show();
    QCOMPARE(rig.start->text(), QString("Scan"));
    rig.control->ClaimRunSeconds(4);
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.Settle());
    rig.session->FlushChanges();
    rig.panel->form()->SetText("samples", "7");
    rig.panel->form()->SetText("places", "1,50%");
    const int64_t runs = int64_t{7} * 2 * FakeEngine::kLayers * FakeEngine::kHeads;
    QVERIFY2(rig.start->text().startsWith(QStringLiteral("Scan: %L1 runs, about ").arg(runs)),
             qPrintable(rig.start->text()));
    // A run of the last row takes at least the share of a prompt that the sweep's estimate uses.
    const double share = kLastRowsShare + 1.0 / FakeEngine::kTokens;
    const double prompt = rig.session->prompt_seconds().value_or(0);
    QVERIFY(prompt > 1);
    const auto ends_with = [&](double runs_of_prompt) {
      return rig.start->text().endsWith(", about " + DurationText(prompt * runs_of_prompt));
    };
    QVERIFY2(ends_with(14 + share * static_cast<double>(runs)), qPrintable(rig.start->text()));
    // All rows of the layers from 3 on change.
    rig.panel->form()->SetText("over", "channels");
    rig.panel->form()->SetText("with", "channel({channel}, factor=0, layers=3-5, rows=all)");
    QVERIFY2(ends_with(14 + 0.5 * 14 * FakeEngine::kHidden), qPrintable(rig.start->text()));
    rig.panel->form()->SetText("over", "heads");
    rig.panel->form()->SetText("with", "");
    // Under Ms-PoE as setting A, a head changes the ratios of all layers above it.
    const QString before = rig.start->text();
    rig.session->SetSettings(ParseIntervention("ms-poe"), rig.session->setting(Side::kB), false);
    rig.session->FlushChanges();
    rig.panel->DrawWaiting();  // as when the panel is shown
    QVERIFY2(rig.start->text() != before, qPrintable(before));
    auto* channels = rig.Find<QPushButton>("channels_start");
    QVERIFY2(channels->text().startsWith("Find position channels: 24 prompts, about "),
             qPrintable(channels->text()));
    auto* sweep = rig.Find<QPushButton>("sweep_start");
    QVERIFY2(sweep->text().startsWith("Run the sweep: "), qPrintable(sweep->text()));
  }

  // Shares arrive with the last sample: they are offered, and the shown view stays.
  void TheLastSampleDoesNotChangeTheView() {
    Rig rig;
    rig.Show();
    Record scan;
    scan.name = kScanRecord;
    scan.axes = {{"layer", 2, "", {}, {}}, {"span", 2, "", {"gold", "question"}, {}}};
    scan.axes.push_back({"place", 1, "rank", {}, {1}});
    scan.attributes = {{"with", std::string("patch(span={span}, layers={layer})")},
                       {"samples", int64_t{3}},
                       {"complete", int64_t{0}}};
    const auto add = [&scan](const char* name, std::vector<double> values) {
      scan.arrays.push_back({name, {"layer", "span"}, std::move(values), "nats", ""});
    };
    add("mean_effect", {1, 2, 3, 4});
    const auto show = [&] {
      RunFile file;
      file.records = {scan};
      rig.session->ShowFile(file);
      QTRY_VERIFY(rig.record());
      rig.Draw();
    };
    show();
    QCOMPARE(rig.view->currentText(), QString("mean over places"));
    QVERIFY(!rig.note->text().contains("new view"));
    add("mean_share", {0.25, 0.5, 0.75, 1});
    scan.attributes["complete"] = int64_t{1};
    show();
    QCOMPARE(rig.view->count(), 2);
    QCOMPARE(rig.view->currentText(), QString("mean over places"));
    QCOMPARE(rig.panel->map()->ValueOf(1, 1), 4.0);
    QVERIFY2(rig.note->text().contains("new view: share of the effect restored"),
             qPrintable(rig.note->text()));
    rig.view->setCurrentIndex(0);
    QCOMPARE(rig.panel->map()->ValueOf(1, 1), 1.0);
    QVERIFY(!rig.note->text().contains("new view"));
    // Layer 0 is at the bottom, as in all maps.
    RecordPlot* map = rig.panel->map();
    QVERIFY(!map->yAxis->rangeReversed());
    QVERIFY2(map->title().startsWith("patch(span=each span, layers=each layer)"),
             qPrintable(map->title()));
    QVERIFY2(map->caption().contains("3 samples"), qPrintable(map->caption()));
    QVERIFY(PlotCsv(*map).contains("layer,span,share of the effect restored"));
  }

  // A slider does not wait for a scan.
  void AScanGivesWayToASettingAndGoesOn() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.StartAndHold();
    rig.session->SetSettings({}, Factor(0), false);
    QTRY_VERIFY(rig.session->settled(Side::kB));
    QVERIFY(rig.session->record(Side::kB, "outcome"));
    QTRY_COMPARE(rig.control->scans().size(), size_t{2});
    QVERIFY(rig.session->scans());
    rig.LetGo();
  }

  void CancelStopsItAndWhatIsDoneStays() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.StartAndHold();
    rig.session->Cancel();
    QTRY_VERIFY(!rig.session->has_pending_request());
    rig.Draw();
    QVERIFY(!rig.session->scans());
    QVERIFY(rig.record() && !rig.IsComplete());
    QVERIFY(rig.note->text().contains(QLatin1String("stopped")));
    bool stored = false;
    for (const Record& record : rig.session->RecordsOnScreen().records)
      stored = stored || record.name == kScanRecord;
    QVERIFY(stored);
    rig.start->click();
    QVERIFY(rig.record());  // the map is not empty until the scan resumes
    rig.LetGo();
  }

  void WhatTheModelLacksIsRefusedInTheBar() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.panel->form()->SetText("layers", "40-41");
    rig.start->click();
    QVERIFY(rig.window.errors()->messages().join(QString()).contains(QLatin1String("0 to 5")));
    QVERIFY(rig.control->scans().empty());
  }

  void AnotherTaskDropsItAnotherSampleDoesNot() {
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    rig.start->click();
    QTRY_VERIFY(rig.IsComplete());
    PromptRequest request = *rig.session->shown_prompt_request();
    request.sample = 3;
    rig.session->SetPrompt(request);
    QVERIFY(rig.Settle());
    QVERIFY(rig.record());
    request.seed = 99;
    rig.session->SetPrompt(request);
    QVERIFY(rig.Settle());
    QVERIFY(!rig.record());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ScanPanelTest)
#include "scan_panel_test.moc"
