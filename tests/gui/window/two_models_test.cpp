// SPDX-License-Identifier: MIT
// Two models in one window, each in an engine process: A is the embedded model, whose tokens are
// words, B a tiny one, whose tokens are letters, with other layers and channels. Contract: numbers
// of B are those that its model has alone on the same text, and what cannot be compared says why.
#include <signal.h>

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/files/session_file.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/prompt/adapter_bar.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/setting_history.h"
#include "gui/session/two_models.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/selection.h"
#include "probes/client/client_engine.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class TwoModelsTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

  std::shared_ptr<EngineLink> second_link_ = test::TestEngine();

  static PromptRequest OwnText() {
    PromptRequest own;
    own.task.clear();
    own.text = "Alice bought: a pen. Bob bought: a lamp. Alice bought: a";
    own.gold_begin = 0;
    own.gold_end = 20;
    own.answer = " pen";
    return own;
  }
  static QString Tiny(const char* name) {
    return QString::fromStdString(test::TinyModelPath(name));
  }
  void OpenFirst(const QString& model) {
    Make({1600, 1000});
    session_->SetSecondEngine([this] { return MakeClientEngine(second_link_); });
    window_->prompt_panel()->SetPrompt(OwnText());
    window_->OpenModel(model);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
  }
  void OpenSecond(const QString& model) {
    Find<QLineEdit>("second_model")->setText(model);
    QTest::mouseClick(Find<QPushButton>("open_second"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(
        !Errors().isEmpty() || (Settled() && session_->record(Side::kB, kOutcomeRecord)), kLongest);
  }
  double Nll(Side side) const {
    const Record* outcome = session_->record(side, kOutcomeRecord);
    return outcome ? ValueAt(*outcome, kAnswerNll, {0, 0}) : std::nan("");
  }
  // The loss of the answer that the model has alone, on its own engine.
  static double NllAlone(const QString& model, const Intervention& setting) {
    const std::unique_ptr<Engine> engine = MakeClientEngine(test::TestEngine());
    OpenRequest open;
    open.model = model.toStdString();
    engine->Open(open, {});
    engine->SetPrompt(OwnText(), {});
    return ValueAt(engine->WhatIf({.intervention = setting}, {}, {}).records.front(), kAnswerNll,
                   {0, 0});
  }

 private Q_SLOTS:
  void cleanup() { window_.reset(); }  // NOLINT(readability-identifier-naming): Qt's name

  void NumbersOfBAreThoseOfItsModel() {
    OpenFirst(QStringLiteral("embedded"));
    const double alone = Nll(Side::kA);
    OpenSecond(Tiny("gemma2"));
    QCOMPARE(Errors(), QString());
    QCOMPARE(Nll(Side::kA), alone);
    QCOMPARE(Nll(Side::kB), NllAlone(Tiny("gemma2"), {}));
    QCOMPARE(AttributeText(*session_->prompt(Side::kB), "text"), OwnText().text);
    QCOMPARE(AxisSize(*session_->prompt(Side::kB), "token"),
             static_cast<int64_t>(OwnText().text.size()));
    // The setting is that of B's model only.
    window_->SetSetting(Side::kB, QStringLiteral("channel(20, factor=-1, layers=all)"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QCOMPARE(Nll(Side::kA), alone);
    QCOMPARE(Nll(Side::kB),
             NllAlone(Tiny("gemma2"), ParseIntervention("channel(20, factor=-1, layers=all)")));
    // Back to a setting that was there: numbers that stand still.
    window_->SetSetting(Side::kB, QStringLiteral("none"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QCOMPARE(Nll(Side::kB), NllAlone(Tiny("gemma2"), {}));
    // A term that only A's model could take.
    window_->SetSetting(Side::kB, QStringLiteral("channel(100, factor=-1, layers=all)"));
    QTRY_VERIFY_WITH_TIMEOUT(Errors().startsWith("Model of B: "), kLongest);
    QVERIFY2(Errors().contains("100"), qPrintable(Errors()));
    QCOMPARE(Nll(Side::kA), alone);
  }

  void PanelsNameTheModelsAndSayWhatIsNotComparable() {
    OpenFirst(QStringLiteral("embedded"));
    OpenSecond(Tiny("gemma2"));
    QCOMPARE(Errors(), QString());
    QVERIFY(Find<QToolButton>("compare_b")->text().contains("gemma2"));
    QVERIFY(Find<ElidedLabel>("answer_setting_a")->text().contains("SmolLM2"));
    QVERIFY(Find<ElidedLabel>("answer_setting_b")->text().contains("gemma2"));
    QVERIFY(Find<QLabel>("answer_difference")->text().contains("whole answers"));
    const auto& lines = window_->panel<OutcomePanel>()->plot()->lines();
    QCOMPARE(lines.size(), size_t{2});
    QVERIFY2(lines[1].name.contains("B gemma2"), qPrintable(lines[1].name));
    QVERIFY2(Find<QLabel>("means_note")->text().contains("tokens differ"),
             qPrintable(Find<QLabel>("means_note")->text()));
    // Maps of other sizes stay side by side.
    auto* map = window_->panel<HeadMapPanel>();
    QTest::mouseClick(Find<QToolButton>("compare_difference"), Qt::LeftButton);
    QCOMPARE(map->plot()->layers(), int64_t{30});
    QCOMPARE(map->plot_of_b()->layers(), int64_t{3});
    QVERIFY(!map->plot_of_b()->isHidden() && map->plot_of_difference()->isHidden());
    QCOMPARE(Find<QLabel>("map_note")->text(),
             QStringLiteral("no B − A: the models have 30 and 3 layers"));
    // The channel has a plot per model; B's has no channel 100.
    auto* channel = window_->panel<ChannelPanel>();
    QVERIFY(!channel->plot()->isHidden() && !channel->plot_of_b()->isHidden());
    QCOMPARE(WhyNotComparable(*session_, Compared::kChannel),
             QStringLiteral("the model of B has 30 channels"));
    QCOMPARE(channel->plot_of_b()->graphCount(), 0);
    session_->SetChannel(5);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QVERIFY(channel->plot_of_b()->graphCount() > 0);
  }

  // The same samples on two models: B − A is paired, with the means' own numbers.
  void MeansOfTwoModelsArePaired() {
    Make({1600, 1000});
    session_->SetSecondEngine([this] { return MakeClientEngine(second_link_); });
    PromptRequest task;
    task.task = "list:lines=4";
    task.places = "1,4";
    window_->prompt_panel()->SetPrompt(task);
    window_->OpenModel(QStringLiteral("embedded"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    OpenSecond(QStringLiteral("embedded dtype=bfloat16"));
    QCOMPARE(Errors(), QString());
    session_->SetSamples(3);
    session_->StartMeans();
    QTRY_VERIFY_WITH_TIMEOUT(
        session_->DifferenceOfMeans() && session_->DifferenceOfMeans()->complete, kLongest);
    const OutcomeSeries a = session_->MeansOf(Side::kA, Measure::kNll)->series;
    const OutcomeSeries b = session_->MeansOf(Side::kB, Measure::kNll)->series;
    const OutcomeSeries difference = session_->DifferenceOfMeans()->series;
    QCOMPARE(difference.samples, int64_t{3});
    QCOMPARE(difference.places, (QVector<double>{1, 4}));
    for (qsizetype place = 0; place < 2; ++place) {
      QVERIFY(std::abs(difference.values[place] - (b.values[place] - a.values[place])) < 1e-9);
      QVERIFY(difference.low[place] < difference.values[place]);
      QVERIFY(difference.values[place] < difference.high[place]);
    }
    QTest::mouseClick(Find<QToolButton>("compare_difference"), Qt::LeftButton);
    session_->FlushChanges();
    const auto& lines = window_->panel<OutcomePanel>()->plot()->lines();
    QCOMPARE(lines.size(), size_t{2});
    QVERIFY2(lines[1].name.startsWith("B − A, mean of 3"), qPrintable(lines[1].name));
    QCOMPARE(Find<QLabel>("means_note")->text(), QString());
    // Another setting of B stops the means of its model only.
    session_->SetMeansStartAutomatically(false);
    session_->SetSamples(200);
    session_->StartMeans();
    QTRY_VERIFY_WITH_TIMEOUT(session_->DifferenceOfMeans(), kLongest);
    window_->SetSetting(Side::kB, QStringLiteral("pi(1.5)"));
    QTRY_VERIFY_WITH_TIMEOUT(
        Find<QLabel>("means_note")->text().contains("stopped: the setting changed"), kLongest);
  }

  void TextsAreComparedByCharacters() {
    OpenFirst(QStringLiteral("embedded"));
    OpenSecond(Tiny("gemma2"));
    auto* panel = window_->panel<TextPanel>();
    window_->ShowPanel(panel);
    window_->selection()->Choose({2, 1});  // both have it
    window_->selection()->SetCompare(Compare::kSplit);
    panel->DrawWaiting();
    const auto letters = static_cast<qsizetype>(OwnText().text.size());
    QCOMPARE(panel->text_of_b()->prompt().tokens.size(), letters);
    QVERIFY(panel->text()->prompt().tokens.size() < letters);
    window_->selection()->SetCompare(Compare::kB);
    QCOMPARE(panel->text()->prompt().tokens.size(), letters);
    window_->selection()->SetCompare(Compare::kDifference);
    QVERIFY(panel->text()->prompt().tokens.size() < letters);
    // Attention is a share: by characters, its sum stays.
    panel->ChooseSource("mean");
    double sum = 0;
    for (const double value : panel->text()->values()) sum += value;
    QVERIFY2(std::abs(sum) < 1e-4, qPrintable(QString::number(sum)));
    // A range of A's tokens is the same characters of B.
    const Record& a = *session_->prompt(Side::kA);
    const TokenSpan gold = GoldTokens(a);
    const TokenSpan of_b = TokensFor(*session_, Side::kA, gold, Side::kB);
    QCOMPARE(of_b.begin, int64_t{0});
    QCOMPARE(of_b.end, int64_t{20});
    QCOMPARE(TokensFor(*session_, Side::kB, of_b, Side::kA).end, gold.end);
  }

  void AModelThatIsNotThereLeavesOne() {
    OpenFirst(Tiny("llama"));
    OpenSecond(QStringLiteral("/no/such/model.gguf"));
    QVERIFY2(Errors().contains("/no/such/model.gguf"), qPrintable(Errors()));
    QTRY_VERIFY(!session_->second());
    QVERIFY(!session_->differs());
    QVERIFY(!Find<QPushButton>("close_second")->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
  }

  // One click switches an adapter off, another one on; its recipe's setting is given to both.
  void AnAdapterIsSwitchedByOneClick() {
    const QTemporaryDir folder;
    const std::string adapter = folder.filePath("tuned").toStdString();
    std::filesystem::copy(MIDSCOPE_TESTS "/core/golden/adapters/llama", adapter);
    std::ofstream(adapter + "/midscope_recipe.json")
        << "{\"method\": \"cream\", \"factor\": \"4\", \"setting\": \"pi(4)\"}";
    OpenFirst(Tiny("llama"));
    const double base = Nll(Side::kA);
    const auto settled = [this] {
      return !Errors().isEmpty() || (Settled() && session_->record(Side::kB, kOutcomeRecord));
    };
    auto* bar = window_->adapter();
    QVERIFY(bar->isHidden());
    window_->actions_list()->Do("adapter " + QString::fromStdString(adapter));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    QCOMPARE(Errors(), QString());
    QVERIFY(bar->isVisible());
    const double tuned = Nll(Side::kB);
    QCOMPARE(Nll(Side::kA), base);
    QCOMPARE(tuned, NllAlone(Tiny("llama") + " adapter=" + QString::fromStdString(adapter), {}));
    QVERIFY(tuned != base);
    auto* on = Find<QCheckBox>("adapter_on");
    QVERIFY(on->isChecked());
    QTest::mouseClick(on, Qt::LeftButton, {}, QPoint(8, on->height() / 2));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    QCOMPARE(Nll(Side::kB), base);
    QCOMPARE(on->text(), QStringLiteral("Adapter tuned × 0"));
    // A half, by the slider; then on again, with the last scale.
    auto* slider = Find<QSlider>("adapter_scale");
    slider->setValue(5);
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    const double half = Nll(Side::kB);
    QVERIFY(half != base && half != tuned);
    QTest::mouseClick(on, Qt::LeftButton, {}, QPoint(8, on->height() / 2));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    QCOMPARE(Nll(Side::kB), base);
    QTest::mouseClick(on, Qt::LeftButton, {}, QPoint(8, on->height() / 2));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    QCOMPARE(Nll(Side::kB), half);
    QVERIFY(window_->actions_list()->Find("close-second")->action->isEnabled());
    window_->actions_list()->Do(QStringLiteral("adapter-scale 1"));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    QCOMPARE(Nll(Side::kB), tuned);
    QCOMPARE(slider->value(), 10);
    QVERIFY(Find<ElidedLabel>("adapter_note")->text().contains("cream, factor=4"));
    auto* use = Find<QPushButton>("adapter_use_setting");
    QCOMPARE(use->text(), QStringLiteral("Use pi(4) for A and B"));
    QTest::mouseClick(use, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(settled(), kLongest);
    QCOMPARE(window_->history()->current().a, ParseIntervention("pi(4)"));
    QCOMPARE(window_->history()->current().b, ParseIntervention("pi(4)"));
    QVERIFY(!use->isEnabled());
    QTest::mouseClick(Find<QPushButton>("close_second"), Qt::LeftButton);
    QTRY_VERIFY(bar->isHidden());
    window_->actions_list()->Do(QStringLiteral("adapter /no/such/folder"));
    QTRY_VERIFY_WITH_TIMEOUT(Errors().contains("/no/such/folder"), kLongest);
  }

  void AKilledSecondEngineStartsAgain() {
    OpenFirst(Tiny("llama"));
    OpenSecond(Tiny("gemma2"));
    const double before = Nll(Side::kB);
    ::kill(second_link_->pid(), SIGKILL);
    window_->SetSetting(Side::kB, QStringLiteral("pi(1.5)"));
    QTRY_VERIFY_WITH_TIMEOUT(Errors().startsWith("Model of B: "), kLongest);
    QVERIFY(!std::isnan(Nll(Side::kA)));
    QTest::mouseClick(Find<QToolButton>("error_action"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(Settled() && session_->record(Side::kB, kOutcomeRecord), kLongest);
    window_->SetSetting(Side::kB, QStringLiteral("none"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QCOMPARE(Nll(Side::kB), before);
  }

  void SessionsKeepTheSecondModel() {
    OpenFirst(Tiny("llama"));
    OpenSecond(Tiny("gemma2") + QStringLiteral(" dtype=bfloat16"));
    QCOMPARE(Errors(), QString());
    QCOMPARE(session_->second()->provenance().dtype, std::string("bfloat16"));
    const SavedSession saved =
        ParseSession(SessionText(window_->files()->session()), "test.midscope");
    QCOMPARE(QString::fromStdString(saved.second_model),
             Tiny("gemma2") + QStringLiteral(" dtype=bfloat16"));
    QTest::mouseClick(Find<QPushButton>("close_second"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QVERIFY(!session_->second() && !session_->differs());
    QTRY_COMPARE(Find<QToolButton>("compare_b")->text(), QStringLiteral("B"));
    window_->files()->Apply(saved);
    QTRY_VERIFY_WITH_TIMEOUT(
        Settled() && session_->second() && session_->record(Side::kB, kOutcomeRecord), kLongest);
    QCOMPARE(session_->second()->provenance().dtype, std::string("bfloat16"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::TwoModelsTest)
#include "two_models_test.moc"
