// SPDX-License-Identifier: MIT
// Changes by mouse and keys on the plots themselves: B's factor on the channel's line, the colour
// range of the map, the flicker between A and B; and the notes that plots show by default.
#include <QComboBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QUndoStack>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"
#include "gui/layout/dock_area.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class PlotsByHandTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    HeadMapPanel* map_panel = window.panel<HeadMapPanel>();
    HeadMapPlot* map = map_panel->plot();
    ChannelPanel* channel_panel = window.panel<ChannelPanel>();
    ChannelPlot* channel = channel_panel->plot();
    Selection* selection = window.findChild<Selection*>();

    Rig() { Show(); }
    bool Open() {
      if (!OpenModel()) return false;
      window.docks()->Show(QStringLiteral("channel"));
      QApplication::processEvents();
      channel->replot();
      return channel->isVisible() && channel->mean_of(Side::kA);
    }
    // The pixel of the line at the position.
    QPoint OnLine(const QCPGraph* line, double position) const {
      const double value = line->data()->findBegin(position, false)->value;
      return {qRound(channel->xAxis->coordToPixel(position)),
              qRound(channel->yAxis->coordToPixel(value))};
    }
    std::vector<ChannelScaling> scalings() const {
      return window.history()->current().b.All<ChannelScaling>();
    }
    void Wheel(Plot* plot, const QPoint& at, int angle) const {
      QWheelEvent wheel(at, plot->mapToGlobal(at), {}, {0, angle}, Qt::NoButton, Qt::NoModifier,
                        Qt::NoScrollPhase, false);
      QApplication::sendEvent(plot, &wheel);
    }
  };

 private Q_SLOTS:
  void DraggingTheLineTurnsTheFactorInOneStep() {
    Rig rig;
    QVERIFY(rig.Open());
    const int steps = rig.window.history()->stack()->count();
    const QPoint from = rig.OnLine(rig.channel->mean_of(Side::kA), 100);
    const double value = rig.channel->mean_of(Side::kA)->data()->findBegin(100, false)->value;
    // Dragging to half the value at that position means a factor of 0.5.
    const QPoint to(from.x(), qRound(rig.channel->yAxis->coordToPixel(value / 2)));
    QTest::mousePress(rig.channel, Qt::LeftButton, {}, from);
    const QPoint middle = (from + to) / 2;
    for (const QPoint& at : {middle, to}) {
      QMouseEvent move(QEvent::MouseMove, at, rig.channel->mapToGlobal(at), Qt::NoButton,
                       Qt::LeftButton, Qt::NoModifier);
      QApplication::sendEvent(rig.channel, &move);
      QVERIFY(rig.session->dragging());
    }
    QTest::mouseRelease(rig.channel, Qt::LeftButton, {}, to);
    QVERIFY(!rig.session->dragging());
    QCOMPARE(rig.scalings().size(), size_t{1});
    QCOMPARE(rig.scalings().front().channel, rig.session->channel());
    QVERIFY2(std::abs(rig.scalings().front().factor - 0.5) < 0.03,
             qPrintable(QString::number(rig.scalings().front().factor)));
    QCOMPARE(rig.window.history()->stack()->count(), steps + 1);
    QVERIFY(rig.Settle());
    // The line that attention reads is B's bold line times the factor; the next drag moves that
    // line.
    rig.channel->replot();
    QVERIFY(rig.channel->read_line());
    const QCPGraph* bold = rig.channel->mean_of(Side::kB);
    const double read = rig.channel->read_line()->data()->findBegin(60, false)->value;
    QCOMPARE(read, bold->data()->findBegin(60, false)->value * rig.scalings().front().factor);
    const QPoint on_read = rig.OnLine(rig.channel->read_line(), 100);
    QVERIFY(rig.channel->TooltipAt(on_read).contains("factor of B"));
    rig.window.history()->stack()->undo();
    QVERIFY(rig.scalings().empty());
  }

  void TheLineThatAttentionReadsIsInTheFrame() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.history()->Change({{}, Factor(-1)}, false);
    QVERIFY(rig.Settle());
    rig.session->FlushChanges();
    QVERIFY(rig.channel->read_line());
    bool any = false;
    const QCPRange values = rig.channel->read_line()->getValueRange(any);
    QVERIFY(any && values.lower < 0);
    QVERIFY(rig.channel->yAxis->range().contains(values.center()));
    QVERIFY(rig.channel->yAxis->range().lower < values.center());
  }

  void KeysTurnTheFactorAndAClickOnTheLineLocksAToken() {
    Rig rig;
    QVERIFY(rig.Open());
    QTest::keyClick(rig.channel, Qt::Key_Minus);
    QCOMPARE(rig.scalings().front().factor, 0.9);
    QTest::keyClick(rig.channel, Qt::Key_Plus);
    QTest::keyClick(rig.channel, Qt::Key_Plus);
    QCOMPARE(rig.scalings().front().factor, 1.1);
    QVERIFY(rig.Settle());
    rig.channel->replot();
    QTest::mouseClick(rig.channel, Qt::LeftButton, {}, rig.OnLine(rig.channel->read_line(), 90));
    QCOMPARE(rig.selection->locked_token(), int64_t{90});
    QCOMPARE(rig.scalings().front().factor, 1.1);
  }

  void AnotherScaledChannelOfBKeepsItsPlace() {
    Rig rig;
    QVERIFY(rig.Open());
    Intervention both = Factor(0.5);
    ChannelScaling other = *both.Find<ChannelScaling>();
    other.channel = 7;
    both.Add(TermOf(other));
    rig.window.history()->Change({{}, both}, false);
    QVERIFY(rig.Settle());
    other.factor = -1;
    Q_EMIT rig.channel_panel->ScalingOffered(other, false);
    QCOMPARE(rig.scalings().size(), size_t{2});
    QCOMPARE(rig.scalings()[0], both.All<ChannelScaling>()[0]);
    QCOMPARE(rig.scalings()[1], other);
  }

  void TheLegendSaysHowMonotoneTheLineIs() {
    Record hidden;
    hidden.name = "hidden_channels";
    hidden.axes = {
        {"layer", 1, "", {}, {}}, {"channel", 1, "", {}, {7}}, {"position", 60, "", {}, {}}};
    std::vector<float> values(60);
    for (size_t i = 0; i < 60; ++i) values[i] = i < 30 ? 500.0F : 1 / static_cast<float>(i);
    hidden.arrays = {{"hidden_channel", {"layer", "channel", "position"}, values, "", ""}};
    ChannelPlot plot;
    ChannelPlot::View view;
    view.channel = 7;
    view.dropped = 30;  // the first positions do not belong to the trend
    view.smoothing = 5;
    plot.Show(&hidden, nullptr, view);
    const QString mean = plot.mean_of(Side::kA)->name();
    QVERIFY2(mean.contains("ρ -1.00"), qPrintable(mean));
    view.layer = 0;
    plot.Show(&hidden, nullptr, view);
    QVERIFY(plot.layer_lines().front()->name().contains("ρ -1.00"));
  }

  void TheWheelOverTheScaleChangesTheColoursAndSessionsKeepThem() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.map_panel->SetMode(Compare::kA);
    rig.map->replot();
    const QCPRange before = rig.map->data_range();
    QVERIFY(!rig.map->scale_label().contains("▲"));
    for (int i = 0; i < 5; ++i) rig.Wheel(rig.map, rig.map->scale_rect().center(), 120);
    const QCPRange narrower = rig.map->data_range();
    QVERIFY(narrower.upper < 0.62 * before.upper);
    QCOMPARE(narrower.lower, before.lower);
    QVERIFY2(rig.map->scale_label().contains("▲"), qPrintable(rig.map->scale_label()));
    const nlohmann::json state = rig.map_panel->State();
    // Each quantity has its own colour range.
    rig.map_panel->ChooseQuantity("entropy");
    QVERIFY(rig.map->data_range().upper != narrower.upper);
    rig.map_panel->Restore(state);
    QCOMPARE(rig.map->data_range().upper, narrower.upper);
    QTest::mouseDClick(rig.map, Qt::LeftButton, {}, rig.map->scale_rect().center());
    QCOMPARE(rig.map->data_range().upper, before.upper);
    for (const char* broken :
         {R"({"head_map": {"colours": 3}})", R"({"head_map": {"colours": {"gold": [1, 0]}}})",
          R"({"head_map": {"colours": {"gold": ["a", 2]}}})"}) {
      const nlohmann::json json = nlohmann::json::parse(broken);
      QVERIFY_EXCEPTION_THROWN(HeadMapPanel::CheckState(JsonFields(json, "session", "")), Error);
    }
  }

  void CellsCanBeSquare() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.map->replot();
    const auto cell = [&rig] {
      return QSizeF(rig.map->axisRect()->width() / rig.map->xAxis->range().size(),
                    rig.map->axisRect()->height() / rig.map->yAxis->range().size());
    };
    QVERIFY(std::abs(cell().width() / cell().height() - 1) > 0.1);
    rig.map->SetSquare(true);
    rig.map->replot();
    QVERIFY(std::abs(cell().width() / cell().height() - 1) < 0.01);
    QVERIFY(rig.map->xAxis->range().contains(-0.4));
    QVERIFY(rig.map->yAxis->range().contains(FakeEngine::kLayers - 0.6));
  }

  void AAndBAreShownByTurns() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.window.history()->Change({{}, Factor(0)}, false);
    QVERIFY(rig.Settle());
    rig.selection->SetCompare(Compare::kSplit);
    QSignalSpy turns(rig.selection, &Selection::CompareChanged);
    auto* button = rig.window.findChild<QToolButton*>("compare_flicker");
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(button->isChecked());
    QTRY_VERIFY_WITH_TIMEOUT(turns.size() >= 3, 5000);
    QCOMPARE(turns[0][0].value<Compare>(), Compare::kB);
    QCOMPARE(turns[1][0].value<Compare>(), Compare::kA);
    QCOMPARE(turns[2][0].value<Compare>(), Compare::kB);
    // A session stores the chosen comparison, not the current picture of the flicker.
    QCOMPARE(rig.map_panel->State().at("compare").get<int>(), static_cast<int>(Compare::kSplit));
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(rig.selection->compare(), Compare::kSplit);
    // Choosing another comparison also ends the flicker.
    rig.selection->SetFlicker(true);
    rig.selection->SetCompare(Compare::kDifference);
    QVERIFY(!button->isChecked());
    QVERIFY(!rig.selection->flickers());
  }

  void ChoicesOfRowsHavePictures() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.window.history()->Change({{}, ParseIntervention("pi(1.5) + channel(3, factor=0)")}, false);
    for (const char* name : {"term_channel_rows", "term_pi_rows"}) {
      const auto* rows = rig.Find<QComboBox>(name);
      for (int i = 0; i < rows->count(); ++i) {
        QVERIFY2(!rows->itemIcon(i).isNull(), qPrintable(rows->itemText(i)));
        for (int j = 0; j < i; ++j) {
          QVERIFY(rows->itemIcon(i).pixmap(60, 20).toImage() !=
                  rows->itemIcon(j).pixmap(60, 20).toImage());
        }
      }
    }
  }

  void EveryPlaceHasItsRow() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.window.history()->Change({{}, Factor(0)}, false);
    QVERIFY(rig.Settle());
    auto* panel = rig.window.panel<AttentionPanel>();
    rig.window.ShowPanel(panel);
    rig.selection->Choose({3, 2});
    const size_t shown = rig.session->place();
    panel->SetBeside(AttentionPanel::Beside::kPlacesBelow);
    const size_t places = rig.session->prompts().size();
    QVERIFY(places > 2);
    QCOMPARE(panel->plots_below().size(), places);
    QVERIFY(!panel->plots_below()[shown]->row(Side::kA).isEmpty());
    QVERIFY(panel->plots_below()[(shown + 1) % places]->row(Side::kA).isEmpty());
    auto* walk = rig.window.findChild<QPushButton*>("attention_places");
    QVERIFY(walk->isVisible());
    QCOMPARE(walk->text(), QStringLiteral("Run the other %1").arg(places - 1));
    QTest::mouseClick(walk, Qt::LeftButton);
    QTRY_VERIFY(walk->isHidden());
    QCOMPARE(rig.session->place(), shown);
    const double strength = FakeEngine::Strength(Factor(0));
    for (size_t i = 0; i < places; ++i) {
      const AttentionPlot* plot = panel->plots_below()[i];
      const int64_t place =
          static_cast<int64_t>(std::get<int64_t>(rig.session->prompts()[i].attributes.at("place")));
      QCOMPARE(plot->row(Side::kA)[7], double{FakeEngine::Attention(3, 2, 7, place, 0)});
      QCOMPARE(plot->row(Side::kB)[7], double{FakeEngine::Attention(3, 2, 7, place, strength)});
      QVERIFY2(plot->title().contains("gold at"), qPrintable(plot->title()));
      QVERIFY(plot->counted_of(Side::kA)->data()->size() > 0);
      QCOMPARE(plot->threshold_of(Side::kA)->visible(), !plot->shows_sums());  // weight of a token
    }
    // After a change of B, only the shown place has its records.
    rig.window.history()->Change({{}, Factor(0.5)}, false);
    QVERIFY(rig.Settle());
    rig.session->FlushChanges();
    QVERIFY(!panel->plots_below()[(shown + 1) % places]->row(Side::kA).isEmpty());
    QVERIFY(panel->plots_below()[(shown + 1) % places]->row(Side::kB).isEmpty());
    QVERIFY(walk->isVisible());
    // Without B, the places are drawn in A's colour alone.
    rig.window.history()->Change({{}, {}}, false);
    QVERIFY(rig.Settle());
    rig.session->FlushChanges();
    const AttentionPlot* other = panel->plots_below()[(shown + 1) % places];
    QVERIFY(!other->row(Side::kA).isEmpty());
    QVERIFY(other->row(Side::kB).isEmpty());
  }

  // Plots of places scroll: the panel needs no more height for five of them than for one.
  void PlotsBelowDoNotGrowThePanel() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    auto* panel = rig.window.panel<AttentionPanel>();
    rig.window.ShowPanel(panel);
    const int before = panel->minimumSizeHint().height();
    panel->SetBeside(AttentionPanel::Beside::kPlacesBelow);
    const std::vector<AttentionPlot*>& plots = panel->plots_below();
    QVERIFY(plots.size() > 2);
    QApplication::processEvents();
    QVERIFY2(panel->minimumSizeHint().height() <= before + 120,
             qPrintable(QString::number(panel->minimumSizeHint().height() - before)));
    for (AttentionPlot* plot : plots) {
      QVERIFY(std::abs(plot->height() - plots.front()->height()) <= 1);
      QCOMPARE(plot->xAxis->tickLabels(), plot == plots.back());
      plot->replot();
      QCOMPARE(plot->axisRect()->left(), panel->plot()->axisRect()->left());
    }
    panel->SetBeside(AttentionPanel::Beside::kPinnedOver);
    QApplication::processEvents();
    QCOMPARE(panel->minimumSizeHint().height(), before);
  }

  void IntervalsOfFewSamplesAreDotted() {
    OutcomePlot plot;
    OutcomePlot::Line line;
    line.series.places = {1, 2};
    line.series.values = {1, 2};
    line.series.low = {0.5, 1.5};
    line.series.high = {1.5, 2.5};
    line.mean = true;
    const auto style_of = [&plot] {
      for (int i = 0; i < plot.plottableCount(); ++i) {
        if (auto* bars = qobject_cast<QCPErrorBars*>(plot.plottable(i))) return bars->pen().style();
      }
      return Qt::NoPen;
    };
    line.series.samples = 3;
    plot.Show({line}, Measure::kNll);
    QCOMPARE(style_of(), Qt::DotLine);
    line.series.samples = 20;
    plot.Show({line}, Measure::kNll);
    QCOMPARE(style_of(), Qt::SolidLine);
  }

  // Regression: drawing a dashed zigzag line with many points took seconds.
  void DashesThatAreNotSeenAreNotDrawn() {
    LinesPlot plot;
    plot.resize(300, 200);
    QCPGraph* line = plot.addGraph();
    const QPen dashed(Qt::red, 2, Qt::DashLine);
    line->setPen(dashed);
    QVector<double> keys;
    QVector<double> values;
    for (int i = 0; i < 20000; ++i) {
      keys << i;
      values << i % 2;
    }
    line->setData(keys, values, true);
    plot.xAxis->setRange(0, 20000);
    plot.replot();
    QCOMPARE(line->pen().style(), Qt::SolidLine);
    plot.xAxis->setRange(0, 50);
    plot.replot();
    QCOMPARE(line->pen(), dashed);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PlotsByHandTest)
#include "plots_by_hand_test.moc"
