// SPDX-License-Identifier: MIT
// The attribution panel: terms as bars sorted by size, the map of heads, and the text coloured by
// contributions of all heads or of the chosen one.
#include <QCheckBox>
#include <QPushButton>
#include <QTest>
#include <cmath>

#include "gui/panels/attention/attribution_panel.h"
#include "gui/plots/record_plot.h"
#include "gui/plots/tokens/token_view.h"
#include "gui/widgets/probe_form.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/attribution_record.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class AttributionPanelTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<EngineWithAttribution> {
    AttributionPanel* panel = window.panel<AttributionPanel>();
    bool Open() {
      Show();
      window.ShowPanel(panel);
      return OpenModel();
    }
  };

 private Q_SLOTS:
  void BarsAreTheTermsLargestFirst() {
    Rig rig;
    QVERIFY(rig.Open());
    QStringList names;
    for (const BarPlot::Bar& bar : rig.panel->bars()->bars()) names << bar.name;
    QCOMPARE(names, (QStringList{"L1H0", "L0 MLP", "L1H1", "embedding", "L0H0", "L0H1", "L1 MLP"}));
    QCOMPARE(rig.panel->bars()->bars()[1].value, -2.0);
    QVERIFY(rig.panel->bars()->title().contains(QLatin1String("Paris")));
    QVERIFY(rig.panel->bars()->title().contains(QLatin1String("London")));
    QCOMPARE(rig.panel->map()->lines(), 2);
    QCOMPARE(rig.panel->map()->ValueOf(1, 0), 3.0);
    QCOMPARE(rig.panel->plots(), std::vector<Plot*>{rig.panel->bars()});
  }

  void ABarTellsItsNameAndValue() {
    BarPlot plot;
    plot.resize(400, 300);
    plot.Show({{"first", 2}, {"second", -1}}, "value");
    plot.replot();
    const QPointF second(plot.xAxis->coordToPixel(1), plot.yAxis->coordToPixel(-0.5));
    QCOMPARE(plot.TooltipAt(second), QStringLiteral("second\nvalue -1"));
    QVERIFY(plot.yAxis->range().lower < -1);
    QVERIFY(plot.yAxis->range().upper > 2);
    QVERIFY(plot.TooltipAt({-5, -5}).isEmpty());
  }

  void TheTextIsColouredByAllHeadsOrTheChosenOne() {
    Rig rig;
    QVERIFY(rig.Open());
    TokenView* tokens = rig.panel->tokens();
    QVERIFY(tokens->TooltipFor(1).contains(QLatin1String("-2")));
    QVERIFY(tokens->TooltipFor(1).contains(QLatin1String("all heads")));
    rig.Find<QCheckBox>("attribution_head")->setChecked(true);
    rig.window.findChild<Selection*>()->Choose({1, 0});
    // Head 2 of 4, whose values begin at 12 - 10.
    QVERIFY(tokens->TooltipFor(1).contains(QLatin1String("3")));
    QVERIFY(tokens->TooltipFor(1).contains(QLatin1String("L1H0")));
  }

  void SignedTextIsBlueAboveZeroAndRedBelow() {
    Record prompt;
    prompt.name = "prompt";
    prompt.axes = {{"token", 3, "", {}, {}}};
    prompt.arrays = {{"token_text", {"token"}, std::vector<std::string>{"a", "b", "c"}, "", ""}};
    TokenView view;
    view.ShowSigned(QStringLiteral("part"));
    view.SetPrompt(&prompt);
    view.show();
    view.SetRow({2, -2, 0});
    const auto colour = [&](int token) {
      return view.extraSelections().at(token).format.background().color();
    };
    QVERIFY(colour(0).blue() > colour(0).red());
    QVERIFY(colour(1).red() > colour(1).blue());
    QVERIFY(std::abs(colour(2).red() - colour(2).blue()) < 10);
  }

  void AButtonSwitchesTheProbeOn() {
    WindowRig<EngineThatOffersAttribution> rig;
    rig.Show();
    auto* panel = rig.window.panel<AttributionPanel>();
    rig.window.ShowPanel(panel);
    QVERIFY(rig.OpenModel());
    auto* button = rig.Find<QPushButton>("attribution_on");
    QVERIFY(button->isVisible());
    button->click();
    QTRY_VERIFY(!panel->bars()->bars().isEmpty());
    QVERIFY(button->isHidden());
    // The probe form shows the change too, and keeps its other options.
    auto* form = rig.Find<ProbeForm>("probes");
    QCOMPARE(form->Json(), rig.session->probe_options());
  }

  void WithoutTheRecordItSaysWhichProbeToSwitchOn() {
    WindowRig<> rig;
    rig.Show();
    auto* panel = rig.window.panel<AttributionPanel>();
    rig.window.ShowPanel(panel);
    QVERIFY(rig.OpenModel());
    QVERIFY(panel->bars()->bars().isEmpty());
    QVERIFY(panel->plots().empty());
    QVERIFY(rig.Find<QPushButton>("attribution_on")->isHidden());  // the probe is not available
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::AttributionPanelTest)
#include "attribution_panel_test.moc"
