// SPDX-License-Identifier: MIT
// Drawing while a slider is dragged and during a run: only plots that changed and are visible are
// drawn, with fast lines, and never numbers that are not known yet.
#include <QLabel>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <map>

#include "gui/files/result_file.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "tests/gui/support/change_spy.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class PaintingTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    AttentionPlot* attention = window.panel<AttentionPanel>()->plot();
    HeadMapPlot* map = window.panel<HeadMapPanel>()->plot();
    ChannelPlot* channel = window.panel<ChannelPanel>()->plot();
    OutcomePlot* outcome = window.panel<OutcomePanel>()->plot();
    RecordPlot* record = window.panel<RecordPanel>()->plot();
    std::map<const Plot*, int> replots;

    Rig() {
      session->SetPauseDelay(1 << 30);
      Show();
      window.ShowPanel(window.panel<AttentionPanel>());
      for (Plot* plot : std::initializer_list<Plot*>{attention, map, channel, outcome, record}) {
        QObject::connect(plot, &QCustomPlot::afterReplot, plot, [this, plot] { ++replots[plot]; });
      }
    }
    // Makes one step of a drag and waits until it is painted.
    bool Drag(double factor) {
      window.history()->Change({{}, Factor(factor)}, true);
      if (!SpyUntil(stopped, [this] { return !session->has_pending_request(); })) return false;
      Paint();
      return true;
    }
    static void Paint() {
      for (int turn = 0; turn < 5; ++turn) QCoreApplication::processEvents();
    }
    bool WaitForPart() {
      ChangeSpy changed(session);
      return SpyUntil(changed, [this] {
        const Record* part = session->record(Side::kB, "last_query_attention");
        return part && part->attributes.contains("layers_done");
      });
    }
  };

 private Q_SLOTS:
  void AStepRedrawsOnlyPlotsThatChangedAndAreSeen() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.Drag(0.5));
    QVERIFY(rig.Drag(0.45));  // makes space for the map of B beside that of A
    rig.replots.clear();
    QVERIFY(rig.Drag(0.4));
    QVERIFY(rig.replots[rig.attention] > 0);
    QVERIFY(rig.replots[rig.outcome] > 0);
    QCOMPARE(rig.replots[rig.map], 0);     // the map of A
    QCOMPARE(rig.replots[rig.record], 0);  // it is in a tab behind another
  }

  void EqualNumbersAreNotDrawnAgain() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.Paint();
    rig.replots.clear();
    rig.window.panel<AttentionPanel>()->Refresh(Change::kWhatIfRecords);
    rig.window.panel<HeadMapPanel>()->Refresh(Change::kMapRecords);
    rig.window.panel<ChannelPanel>()->Refresh(Change::kMapRecords);
    rig.window.panel<OutcomePanel>()->Refresh(Change::kWhatIfRecords);
    rig.Paint();
    for (const auto& [plot, count] : rig.replots) {
      QVERIFY2(count == 0, qPrintable(plot->file_stem()));
    }
  }

  // A plot without numbers is redrawn if the reason for that changes.
  void AnEmptyPlotTellsItsNewReason() {
    AttentionPlot plot;
    const auto message = [&plot] {
      QString shown;
      for (int i = 0; i < plot.itemCount(); ++i) {
        const auto* text = qobject_cast<QCPItemText*>(plot.item(i));
        if (text && text->visible()) shown += text->text();
      }
      return shown;
    };
    plot.SetReason(QStringLiteral("nothing here"));
    plot.SetRows({}, {});
    plot.resize(600, 400);
    plot.replot();
    QVERIFY2(message().contains("nothing here"), qPrintable(message()));
  }

  void AHiddenPanelIsDrawnWhenItIsShown() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.Paint();
    rig.replots.clear();
    rig.window.history()->Change({Factor(0.3), {}}, false);
    QVERIFY(rig.Settle());
    rig.Paint();
    QCOMPARE(rig.replots[rig.record], 0);
    rig.window.ShowPanel(rig.window.panel<RecordPanel>());
    rig.Paint();
    QVERIFY(rig.replots[rig.record] > 0);
    // Exported plots are drawn, visible or not.
    rig.window.ShowPanel(rig.window.panel<OutcomePanel>());
    rig.Paint();
    rig.window.history()->Change({Factor(0.2), {}}, false);
    QVERIFY(rig.Settle());
    QVERIFY(!rig.window.plots().empty());
    QVERIFY(rig.record->title().contains("0.2"));
  }

  void LinesAreFastWhileDraggingAndSmoothAfterIt() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    auto* slider = rig.Find<QSlider>("term_channel_factor_slider");
    rig.window.history()->Change({{}, Factor(1)}, false);
    QVERIFY(rig.Settle());
    const QPen pen = rig.attention->graph_of(Side::kB)->pen();
    QVERIFY(!rig.attention->notAntialiasedElements().testFlag(QCP::aePlottables));
    slider->setSliderDown(true);
    slider->setSliderPosition(slider->value() - 30);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    rig.Paint();
    QVERIFY(rig.session->dragging());
    QVERIFY(rig.attention->notAntialiasedElements().testFlag(QCP::aePlottables));
    QCOMPARE(rig.attention->graph_of(Side::kB)->pen().widthF(), 1.0);
    rig.replots.clear();
    slider->setSliderDown(false);
    QVERIFY(rig.Settle());
    rig.Paint();
    QVERIFY(!rig.attention->notAntialiasedElements().testFlag(QCP::aePlottables));
    QCOMPARE(rig.attention->graph_of(Side::kB)->pen(), pen);
    QVERIFY(rig.replots[rig.attention] > 0);
  }

  // Finished layers are shown under the setting that made them; the others are shown as unknown.
  void ARunThatGoesOnIsShownLayerByLayer() {
    Rig rig;
    rig.control->LetWhatIfsFollow(true);
    QVERIFY(rig.OpenModel());
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kB);
    rig.control->TellOfLayers(2);
    rig.control->HoldWhatIfs(true);
    rig.control->HoldCaptureRuns(true);
    rig.window.history()->Change({{}, Factor(0.5)}, false);
    QVERIFY(rig.WaitForPart());
    rig.Paint();
    const double strength = FakeEngine::Strength(Factor(0.5));
    QCOMPARE(rig.map->CellValue({1, 2}), double{FakeEngine::Score(1, 2, strength)});
    QVERIFY(std::isnan(rig.map->CellValue({2, 0})));
    QVERIFY2(rig.map->title().contains("2 of 6 layers done"), qPrintable(rig.map->title()));
    QVERIFY(rig.map->title().contains("channel(100, factor=0.5"));
    const QString legend = rig.attention->graph_of(Side::kB)->name();
    QVERIFY2(legend.contains("factor=0.5") && legend.contains("2 of 6 layers done"),
             qPrintable(legend));
    QVERIFY(rig.attention->caption().contains("2 of 6 layers done"));
    // A partial record is not saved as if it were complete.
    const Session::ScreenRecords screen = rig.session->RecordsOnScreen();
    for (const Record& record : screen.records) {
      QVERIFY2(!record.attributes.contains("layers_done"), record.name.c_str());
      QVERIFY2(!record.name.ends_with("_b"), record.name.c_str());
    }
    QVERIFY2(screen.left_out.join('\n').contains("unfinished"),
             qPrintable(screen.left_out.join('\n')));
    rig.control->HoldWhatIfs(false);
    rig.control->HoldCaptureRuns(false);
    QVERIFY(rig.Settle());
    QVERIFY(!std::isnan(rig.map->CellValue({2, 0})));
    QVERIFY(!rig.map->title().contains("layers done"));
    QVERIFY(rig.session->RecordsOnScreen().left_out.isEmpty());
  }

  // The shown place is complete before the outcome of all places: it is shown as complete and can
  // be saved.
  void TheShownPlaceComesFirst() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.control->TellOfLayers(FakeEngine::kLayers);
    rig.control->HoldWhatIfs(true);
    rig.window.history()->Change({{}, Factor(0.5)}, true);
    ChangeSpy changed(rig.session);
    QVERIFY(SpyUntil(changed, [&] {
      const Record* b = rig.session->record(Side::kB, "last_query_attention");
      return b && rig.session->IsRequested(Side::kB, *b);
    }));
    QVERIFY(!rig.session->record(Side::kB, "outcome"));
    rig.Paint();
    rig.replots.clear();
    rig.control->HoldWhatIfs(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    rig.Paint();
    QVERIFY(rig.session->record(Side::kB, "outcome"));
    QVERIFY(rig.replots[rig.outcome] > 0);
    QCOMPARE(rig.replots[rig.attention], 0);  // it was drawn with the partial reply
  }

  // Part of a run whose setting is no longer requested is not shown, unless it is a step of a drag.
  void APartOfACancelledRunStaysUnderItsName() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.control->TellOfLayers(3);
    rig.control->HoldWhatIfs(true);
    rig.control->HoldCaptureRuns(true);
    rig.window.history()->Change({{}, Factor(0.5)}, false);
    QVERIFY(rig.WaitForPart());
    rig.session->Cancel();
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    rig.Paint();
    QVERIFY(rig.attention->graph_of(Side::kB)->name().contains("3 of 6 layers done"));
    QTemporaryDir folder;
    const QString path = folder.filePath("screen.h5");
    SaveResults(*rig.session, path);
    Rig other;
    QVERIFY(other.OpenResults(path));
    QVERIFY(!other.session->record(Side::kB, "last_query_attention"));
  }

  void TheStatusLineSaysThatASettingWasSeenBefore() {
    Rig rig;
    WhatIfCost cost;
    cost.seconds = 0.0004;
    cost.seen_before = true;
    Q_EMIT rig.session->WhatIfTimed(cost);
    QCOMPARE(rig.Find<QLabel>("what_if_text")->text(),
             QStringLiteral("last change: 0.4 ms, seen before"));
    cost = {};
    cost.seconds = 123.6;
    Q_EMIT rig.session->WhatIfTimed(cost);
    QCOMPARE(rig.Find<QLabel>("what_if_text")->text(),
             QStringLiteral("last change: 3 min, all layers"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PaintingTest)
#include "painting_test.moc"
