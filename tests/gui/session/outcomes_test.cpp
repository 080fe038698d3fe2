// SPDX-License-Identifier: MIT
// One setting on one prompt has one outcome in a session, although repeated runs differ by
// rounding.
#include <QComboBox>
#include <QLabel>
#include <QTest>
#include <algorithm>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/panels/outcome/outcome_lines.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/plots/plot_files.h"
#include "gui/widgets/selection.h"
#include "probes/engine/settled_outcomes.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

constexpr double kNoise = 0.04;

// Every what-if has other numbers, as in bfloat16.
class NoisyEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    WhatIfReply reply = FakeEngine::WhatIf(request, partial, context);
    for (Record& record : reply.records) {
      if (record.name != kOutcomeRecord) continue;
      record.attributes[kAnswerNllNoise] = kNoise;
      for (Array& array : record.arrays) {
        if (array.name != kAnswerNll) continue;
        for (double& nll : std::get<std::vector<double>>(array.data)) nll += 0.001 * runs_;
      }
    }
    ++runs_;
    return reply;
  }

 private:
  int runs_ = 0;
};

// Prompts of the task "other" cannot be made, and those of "long" cannot be run.
class RefusingEngine : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  std::vector<Record> SetPrompt(const PromptRequest& request, const JobContext& context) override {
    if (request.task == "other") throw UsageError("prompt other", "it has 900 tokens");
    std::vector<Record> records = FakeEngine::SetPrompt(request, context);
    long_ = request.task == "long";
    return records;
  }
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    if (long_) throw UsageError("prompt long", "it has 800 tokens");
    return FakeEngine::CaptureRun(request, context);
  }
  WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                     const JobContext& context) override {
    if (long_) throw UsageError("prompt long", "it has 800 tokens");
    return FakeEngine::WhatIf(request, partial, context);
  }

 private:
  bool long_ = false;
};

class OutcomesTest : public QObject {
  Q_OBJECT

 private:
  template <typename PlantedEngine>
  struct Rig : WindowRig<PlantedEngine> {
    using Base = WindowRig<PlantedEngine>;
    bool SetB(const char* text) {
      Base::session->SetSettings({}, ParseIntervention(text), false);
      return Base::Settle();
    }
    QVector<double> Nll(Side side) {
      const Record* outcome = Base::session->record(side, kOutcomeRecord);
      return outcome ? LastAxisRow(*outcome, kAnswerNll, {0}) : QVector<double>();
    }
    // Runs the prompts of a task until nothing is pending.
    bool Ask(const char* task) {
      PromptRequest request;
      request.task = task;
      Base::session->SetPrompt(request);
      return SpyUntil(Base::stopped, [this] { return !Base::session->has_pending_request(); });
    }
    std::vector<OutcomePlot::Line> Lines(Measure measure) {
      return OutcomeLines(*Base::session, {measure, true, true});
    }
  };

 private Q_SLOTS:
  void AnEqualRequestDoesNotReplaceAnOutcome() {
    Rig<NoisyEngine> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB("channel(100, factor=0.5)"));
    const QVector<double> a = rig.Nll(Side::kA);
    const QVector<double> b = rig.Nll(Side::kB);
    const size_t places = rig.session->prompts().size();
    for (const int64_t channel : {7, 8}) {
      for (size_t place = 0; place < places; ++place) {
        rig.session->SetPlace(place);
        QVERIFY(rig.Settle());
        rig.session->SetChannel(channel + static_cast<int64_t>(place));
        QVERIFY(rig.Settle());
        QCOMPARE(rig.Nll(Side::kA), a);
        QCOMPARE(rig.Nll(Side::kB), b);
      }
    }
    QVERIFY(rig.SetB("channel(100, factor=0.2)"));
    QCOMPARE(rig.Nll(Side::kA), a);
  }

  void AChannelThatTheModelLacksIsNotRequested() {
    Rig<FakeEngine> rig;
    rig.session->SetChannel(9999);  // from a session of a wider model
    QVERIFY(rig.OpenModel());
    QCOMPARE(rig.session->channel(), FakeEngine::kHidden - 1);
    rig.session->SetChannel(9999);
    QVERIFY(rig.Settle());
    QCOMPARE(rig.session->channel(), FakeEngine::kHidden - 1);
    QVERIFY(!rig.Nll(Side::kA).isEmpty());
  }

  void TheMessageOfTheNewestPromptIsOnTop() {
    Rig<RefusingEngine> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.Ask("long"));
    QVERIFY(rig.window.errors()->messages().last().contains("800 tokens"));
    QVERIFY(rig.Ask("other"));
    QVERIFY2(rig.window.errors()->messages().last().contains("900 tokens"),
             qPrintable(rig.window.errors()->messages().last()));
  }

  void TheOfferOfMeansComesBackWithARecalledPrompt() {
    Rig<RefusingEngine> rig;
    rig.control->ClaimRunSeconds(5.4);
    rig.session->SetSamples(20);
    QVERIFY(rig.OpenModel());
    PromptRequest first = *rig.session->shown_prompt_request();
    QVERIFY(rig.session->means_offer().has_value());
    QVERIFY(rig.Ask("long"));
    rig.session->SetPrompt(first);
    QVERIFY(rig.Settle());
    QVERIFY(rig.session->means_offer().has_value());
  }

  void NoiseIsABandAroundA() {
    Rig<NoisyEngine> rig;
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB("channel(100, factor=0.5)"));
    const auto lines = rig.Lines(Measure::kNll);
    QCOMPARE(lines.size(), size_t{2});
    QCOMPARE(lines[0].noise, kNoise);
    QCOMPARE(lines[1].noise, 0.0);
    OutcomePlot plot;
    plot.Show(lines, Measure::kNll);
    const auto band = [&plot](const char* name) {
      for (int i = 0; i < plot.graphCount(); ++i) {
        if (plot.graph(i)->name() == QLatin1String(name)) return plot.graph(i);
      }
      return static_cast<QCPGraph*>(nullptr);
    };
    QVERIFY(band("rounding noise, low") && band("rounding noise, high"));
    QCOMPARE(band("rounding noise, low")->data()->at(0)->value, rig.Nll(Side::kA)[0] - kNoise);
    QCOMPARE(band("rounding noise, high")->channelFillGraph(), band("rounding noise, low"));
    const auto difference = rig.Lines(Measure::kDifference);
    QVERIFY(difference.front().around_zero);
    plot.Show(difference, Measure::kDifference);
    QCOMPARE(band("rounding noise, low")->data()->at(0)->value, -kNoise);
  }

  // One switch for every panel: A or B on the axes of both, and their difference around zero.
  void TheSwitchChoosesTheLines() {
    Rig<NoisyEngine> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    QVERIFY(rig.SetB("channel(100, factor=0.5)"));
    const OutcomePlot* plot = rig.window.template panel<OutcomePanel>()->plot();
    const auto drawn = [plot] {
      QStringList names;
      for (int i = 0; i < plot->graphCount(); ++i) {
        if (!plot->graph(i)->name().startsWith("rounding")) names << plot->graph(i)->name().left(1);
      }
      return names;
    };
    const auto show = [&rig](Compare compare) {
      rig.window.selection()->SetCompare(compare);
      rig.session->FlushChanges();
    };
    QCOMPARE(drawn(), (QStringList{"A", "B"}));
    const QCPRange range = plot->yAxis->range();
    show(Compare::kA);
    QCOMPARE(drawn(), QStringList{"A"});
    QCOMPARE(plot->yAxis->range(), range);
    show(Compare::kB);
    QCOMPARE(drawn(), QStringList{"B"});
    QCOMPARE(plot->yAxis->range(), range);
    show(Compare::kDifference);
    QCOMPARE(plot->lines().size(), size_t{1});
    QCOMPARE(plot->lines().front().name, QString("B − A, this sample"));
    QCOMPARE(plot->lines().front().noise, kNoise);
    QVERIFY(FullLabel(*plot->yAxis).startsWith("nats: B − A"));
    QVERIFY(plot->yAxis->range().contains(0));
    QVERIFY(!rig.template Find<QComboBox>("measure")->isEnabled());
    // Without B there is no difference to draw.
    QVERIFY(rig.SetB("none"));
    rig.session->FlushChanges();
    QCOMPARE(drawn(), QStringList{"A"});
  }

  void WithoutNoiseThereIsNoBand() {
    Rig<FakeEngine> rig;
    QVERIFY(rig.OpenModel());
    OutcomePlot plot;
    plot.Show(rig.Lines(Measure::kNll), Measure::kNll);
    QCOMPARE(plot.graphCount(), 1);
  }

  void ADifferenceBelowTheNoiseIsNoNumber() {
    Rig<NoisyEngine> rig;
    QVERIFY(rig.OpenModel());
    rig.window.ChoosePlace(1);  // the planted outcome of the first place shown is the same for all
    QVERIFY(rig.Settle());
    auto* difference = rig.template Find<QLabel>("answer_difference");
    QVERIFY(rig.SetB("channel(100, factor=0.999)"));
    rig.session->FlushChanges();
    QVERIFY2(difference->text().contains("within noise</b> (0.04 nats)"),
             qPrintable(difference->text()));
    QVERIFY(rig.SetB("channel(100, factor=-1)"));
    rig.session->FlushChanges();
    QVERIFY2(!difference->text().contains("noise"), qPrintable(difference->text()));
  }

  void TheMeanOfAIsFadedWhileBHasNone() {
    Rig<FakeEngine> rig;
    rig.session->SetSamples(4);
    QVERIFY(rig.OpenModel());
    QTRY_VERIFY(rig.session->MeansOf(Side::kA, Measure::kNll));
    const auto mean_of_a = [&rig] {
      const auto lines = rig.Lines(Measure::kNll);
      return std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.mean; })
          ->color.alpha();
    };
    const int full = mean_of_a();
    rig.control->HoldComparisons(true);
    rig.session->SetSettings({}, Factor(0.5), true);
    QVERIFY(!rig.session->MeansOf(Side::kB, Measure::kNll));
    QVERIFY(mean_of_a() < full / 2);
    rig.control->HoldComparisons(false);
    rig.session->SetSettings({}, Factor(0.5), false);
    QTRY_VERIFY(rig.session->MeansOf(Side::kB, Measure::kNll));
    QCOMPARE(mean_of_a(), full);
  }

  void MessagesHaveTheWordsOfTheWindow() {
    ErrorBar bar;
    const auto* text = bar.findChild<QLabel*>("error_text");
    bar.Add("Shorten it, or switch on --beyond-context");
    QCOMPARE(text->text(),
             QString("Shorten it, or switch on Beyond context under Model > Options"));
    bar.Add("--channels 9999: there is none");
    QCOMPARE(text->text(), QString("channels 9999: there is none"));
    bar.Add("it is -1 -- or less");
    QCOMPARE(text->text(), QString("it is -1 -- or less"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::OutcomesTest)
#include "outcomes_test.moc"
