// SPDX-License-Identifier: MIT
// The positions panel draws the output of the samplers, updates when its fields change, and adds
// its terms to setting B.
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <cmath>

#include "core/decoder/decoder.h"
#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/positions_panel.h"
#include "gui/widgets/input_boxes.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/model_positions.h"
#include "probes/measure/builtin/position_coverage.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class PositionsPanelTest : public QObject {
  Q_OBJECT

 private:
  // Measures the embeddings of a model whose file is present.
  class EngineWithTable : public FakeEngine {
   public:
    using FakeEngine::FakeEngine;
    ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
      ModelSummary summary = FakeEngine::Open(request, context);
      if (request.model == "embedded") return summary;
      summary.has_learned_positions = true;
      summary.path = request.model;
      model_ = request.model;
      return summary;
    }
    Record MeasureLearnedPositions(const JobContext& context) const override {
      return LearnedPositions(*LearnedTableOf(*Decoder::Open(model_, {.threads = 1})), context);
    }

   private:
    std::string model_;
  };

  struct Rig : WindowRig<EngineWithTable> {
    PositionsPanel* panel = window.panel<PositionsPanel>();
    QSignalSpy made{panel, &PositionsPanel::Made};

    bool Open() {
      Show();
      window.ShowPanel(panel);
      return Await();
    }
    // Waits until the records for the last change have arrived.
    bool Await() {
      const bool came = SpyUntil(made, [this] { return !made.isEmpty(); });
      made.clear();
      return came;
    }
    void Picture(const char* name) {
      Find<QComboBox>("positions_picture")->setCurrentText(QString::fromLatin1(name));
    }
    bool Sampler(const char* name) {
      Find<QComboBox>("positions_sampler")->setCurrentText(QString::fromLatin1(name));
      return Await();
    }
    bool Number(const char* field, double value) {
      Find<NumberBox>(field)->setValue(value);
      return Await();
    }
    double Drawn(int line, double key) const {
      return panel->plot()->graph(line)->data()->findBegin(key, false)->value;
    }
    QString SettingB() const {
      return QString::fromStdString(PrintIntervention(session->setting(Side::kB)));
    }
  };

  static Record Samples(const char* name, const PositionRequest& request) {
    const PositionSampler& sampler = *FindPositionSampler(name);
    return PositionSamples(MakeSampledPositions(sampler, request, OptionSet(sampler.parameters)), 0,
                           5, {});
  }

 private Q_SLOTS:
  // A hundred names would leave no space for the lines.
  void OfManyLinesFirstAndLastAreNamedInTheLegend() {
    const PositionSampler& cream = *FindPositionSampler("cream");
    for (const int samples : {5, 100}) {
      const Record record = PositionSamples(
          MakeSampledPositions(cream, {.tokens = 64, .context = 256}, OptionSet(cream.parameters)),
          0, samples, {});
      LinesPlot plot;
      plot.Show(&record, {.array = "position_id", .marks = {{200, "trained"}}});
      QCOMPARE(plot.lines(), samples);
      QCOMPARE(plot.legend->itemCount(), samples == 5 ? 6 : 3);
      QCOMPARE(plot.title().contains(QLatin1String("sample from dark")), samples == 100);
    }
  }

  void WhatIsDrawnIsWhatTheSamplerMakes() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.Number("positions_factor", 4));
    QVERIFY(rig.Number("positions_tokens", 64));
    for (const char* name : {"cream", "pose", "randpos"}) {
      if (QString::fromLatin1(name) != rig.Find<QComboBox>("positions_sampler")->currentText())
        QVERIFY(rig.Sampler(name));
      const Record expected = Samples(name, {.tokens = 64, .context = 256});
      const auto& ids = ArrayValues<int64_t>(expected, "position_id");
      QCOMPARE(rig.panel->plot()->lines(), 5);
      for (int sample = 0; sample < 5; ++sample) {
        for (int token = 0; token < 64; ++token)
          QCOMPARE(rig.Drawn(sample, token), static_cast<double>(ids[sample * 64 + token]));
      }
    }
    QVERIFY(rig.Number("positions_seed", 2));
    const Record other = Samples("randpos", {.tokens = 64, .context = 256, .seed = 2});
    QCOMPARE(rig.Drawn(0, 63), static_cast<double>(ArrayValues<int64_t>(other, "position_id")[63]));
  }

  void CoverageRisesAndPeriodsAreHeldAgainstTheContext() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.Number("positions_tokens", 256));
    rig.Picture("covered distances");
    QCOMPARE(rig.panel->plot()->lines(), 1);
    QVERIFY(rig.Drawn(0, 1) < 0.6);
    QVERIFY(rig.Drawn(0, 100) > 0.95);
    rig.Picture("RoPE: periods");
    const Record* rope = rig.panel->FindRecord("rope");
    QVERIFY(rope != nullptr);
    QCOMPARE(rig.panel->plot()->lines(), static_cast<int>(rope->FindAxis("scheme")->size));
    QCOMPARE(rig.Drawn(0, 0), 2 * M_PI);
    // There is one more line, at the trained context.
    QCOMPARE(rig.panel->plot()->graphCount(), rig.panel->plot()->lines() + 1);
    QCOMPARE(rig.Drawn(rig.panel->plot()->lines(), 0), 4096.0);
    // The ratios of Ms-PoE's heads lengthen their periods.
    const QStringList schemes = AxisLabels(*rope, "scheme");
    const auto least =
        static_cast<int>(schemes.indexOf(QStringLiteral("ms-poe(min=1.2, max=1.8), least ratio")));
    QVERIFY2(least > 0, qPrintable(schemes.join("; ")));
    QVERIFY(std::abs(rig.Drawn(least, 5) / rig.Drawn(0, 5) - 1.2) < 1e-9);
    QVERIFY(std::abs(rig.Drawn(least + 1, 5) / rig.Drawn(0, 5) - 1.8) < 1e-9);
    // With a prompt, also the distance of the gold (tokens 50 to 59 of 120) from the last token.
    QVERIFY(rig.OpenModel());
    rig.session->FlushChanges();
    const LinesPlot* plot = rig.panel->plot();
    QCOMPARE(plot->graphCount(), plot->lines() + 2);
    QCOMPARE(rig.Drawn(plot->lines() + 1, 0), 119 - 54.5);
    QVERIFY(plot->graph(plot->lines() + 1)->name().contains("gold"));
  }

  // Plots of learned positions; they cannot be chosen for other models.
  void LearnedPositionsAreBesideTheSinusoidalEncoding() {
    Rig rig;
    QVERIFY(rig.Open());
    auto* choice = rig.Find<QComboBox>("positions_picture");
    const int item = choice->findText("learned: similarity");
    const auto enabled = [&] {
      return (choice->model()->flags(choice->model()->index(item, 0)) & Qt::ItemIsEnabled) != 0;
    };
    QVERIFY(item >= 0);
    QVERIFY(!enabled());
    QVERIFY(rig.OpenModel(test::TinyModelPath("gpt2").c_str()));
    QVERIFY(enabled());
    rig.Picture("learned: similarity");
    // The record is computed in the background, after those that are quick to compute.
    const auto found = [&] { return rig.panel->FindRecord("learned_positions") != nullptr; };
    QVERIFY(SpyUntil(rig.made, found));
    const Record* record = rig.panel->FindRecord("learned_positions");
    QVERIFY(record != nullptr);
    QCOMPARE(rig.panel->plot()->lines(), 2);
    QVERIFY(std::abs(rig.Drawn(0, 0) - 1) < 1e-6);
    // Neighbouring positions of the sinusoidal encoding are similar.
    QVERIFY(rig.Drawn(1, 1) > 0.9);
    rig.Picture("learned: periods");
    QCOMPARE(rig.Drawn(2, 0), 131.0);  // the trained context
    QVERIFY(std::abs(rig.Drawn(1, 0) - 2 * M_PI) < 0.01);
  }

  void TermsGoToSettingB() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.OpenModel());
    rig.Find<QComboBox>("rope_scheme")->setCurrentText("pi(8)");
    rig.Find<QToolButton>("scheme_to_b")->click();
    QCOMPARE(rig.SettingB(), QString("pi(8)"));
    // Two heads of Ms-PoE are drawn, but one term is offered.
    auto* schemes = rig.Find<QComboBox>("rope_scheme");
    QCOMPARE(schemes->findText("ms-poe", Qt::MatchStartsWith),
             schemes->findText("ms-poe(min=1.2, max=1.8)"));
    schemes->setCurrentText("ms-poe(min=1.2, max=1.8)");
    rig.Find<QToolButton>("scheme_to_b")->click();
    QVERIFY2(rig.SettingB().startsWith("ms-poe("), qPrintable(rig.SettingB()));
    schemes->setCurrentText("pi(8)");
    rig.Find<QToolButton>("scheme_to_b")->click();
    rig.Find<QToolButton>("positions_to_b")->click();
    QVERIFY2(rig.SettingB().startsWith("pi(8) + positions("), qPrintable(rig.SettingB()));
    QVERIFY(rig.SettingB().contains("sampler=cream"));
    // Another sampler replaces the first one, and another scheme the first scheme.
    QVERIFY(rig.Sampler("randpos"));
    rig.Find<QToolButton>("positions_to_b")->click();
    QCOMPARE(rig.SettingB().count("positions("), 1);
    QVERIFY(rig.SettingB().contains("sampler=randpos"));
    rig.Find<QComboBox>("rope_scheme")->setCurrentText("ntk(8)");
    rig.Find<QToolButton>("scheme_to_b")->click();
    QVERIFY2(rig.SettingB().startsWith("ntk(8) + positions("), qPrintable(rig.SettingB()));
    QVERIFY(rig.window.errors()->messages().isEmpty());
  }

  void WhatCannotBeSampledIsSaid() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.Find<NumberBox>("positions_tokens")->setValue(2);  // too few for three segments
    auto* error = rig.Find<QLabel>("positions_error");
    QTRY_VERIFY(!error->isHidden());
    QVERIFY2(error->text().contains("cream"), qPrintable(error->text()));
    QVERIFY(rig.Number("positions_tokens", 256));
    QVERIFY(error->isHidden());
    // Eight million positions would need gigabytes.
    rig.Find<NumberBox>("positions_tokens")->setValue(32768);
    rig.Find<NumberBox>("positions_factor")->setValue(256);
    QTRY_VERIFY(!error->isHidden());
    QVERIFY2(error->text().contains("1048576"), qPrintable(error->text()));
  }

  void StateComesBack() {
    Rig first;
    QVERIFY(first.Open());
    QVERIFY(first.Sampler("pose"));
    QVERIFY(first.Number("positions_factor", 3));
    first.Picture("density of distances");
    const nlohmann::json state = first.panel->State();
    Rig second;
    second.panel->Restore(state);
    QVERIFY(second.panel->State() == state);
    QVERIFY(second.panel->PositionsTerm() == first.panel->PositionsTerm());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PositionsPanelTest)
#include "positions_panel_test.moc"
