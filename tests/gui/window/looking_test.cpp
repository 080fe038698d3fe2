// SPDX-License-Identifier: MIT
// Views of the model's attention: map, attention and hidden channel show one selection, changed by
// mouse and keys, on planted numbers and once on the embedded model. For the text, see
// looking_at_text_test.cpp.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTest>
#include <QToolButton>
#include <cmath>

#include "core/base/json_fields.h"
#include "gui/base/display_text.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/head_map/head_list.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/panels/settings/stack_editor.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/session/session.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/input_boxes.h"

#include "tests/gui/support/looking_rig.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/test_engine.h"

namespace midscope {

// The time limit of a run of the embedded model on a loaded machine.
constexpr int kLong = 60000;  // milliseconds

class LookingTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : LookingRig {
    AttentionPanel* attention_panel = window.panel<AttentionPanel>();
    AttentionPlot* attention = attention_panel->plot();
    ChannelPlot* channel = window.panel<ChannelPanel>()->plot();

    QPoint Key(const Plot& plot, double token) const {
      return {qRound(plot.xAxis->coordToPixel(token)), plot.axisRect()->center().y()};
    }
    void Wheel(Plot* plot, double token) const {
      const QPoint at = Key(*plot, token);
      QWheelEvent wheel(at, plot->mapToGlobal(at), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                        Qt::NoScrollPhase, false);
      QApplication::sendEvent(plot, &wheel);
    }
  };

 private Q_SLOTS:
  void CtrlClickPinsAHeadEverywhere() {
    Rig rig;
    QVERIFY(rig.OpenWithB(0));
    QTest::mouseClick(rig.map, Qt::LeftButton, {}, rig.Cell({1, 0}));
    QTest::mouseClick(rig.map, Qt::LeftButton, Qt::ControlModifier, rig.Cell({4, 2}));
    QCOMPARE(rig.selection->head(), (HeadId{1, 0}));  // the user has not chosen it
    const PinnedHead* pin = rig.selection->PinOf({4, 2});
    QVERIFY(pin);
    QCOMPARE(rig.map->pin_frames().size(), size_t{1});
    QCOMPARE(rig.map->pin_frames().front()->pen().color(), pin->color);
    // Pinned heads have their own plots, or are in one plot: A solid and B dashed, both in the
    // head's colour.
    QCOMPARE(rig.attention_panel->plots_below().size(), size_t{1});
    rig.Find<QComboBox>("pinned_form")->setCurrentIndex(0);
    const auto& graphs = rig.attention->other_graphs();
    QCOMPARE(graphs.size(), size_t{2});
    QCOMPARE(graphs[0]->pen().color(), pin->color);
    QCOMPARE(graphs[0]->pen().style(), Qt::SolidLine);
    QCOMPARE(graphs[1]->pen().style(), Qt::DashLine);
    QCOMPARE(graphs[1]->data()->at(55)->value,
             double{FakeEngine::Attention(4, 2, 55, 6, FakeEngine::Strength(Factor(0)))});
    QCOMPARE(rig.attention->graph_of(Side::kB)->pen().style(), Qt::DashLine);
    QVERIFY(rig.text_panel->sources().contains(QStringLiteral("attention of L4H2")));
    rig.text_panel->ChooseSource("L4H2");
    QCOMPARE(rig.text->scale().hue, pin->color);
    // Draws each head in its own plot.
    rig.Find<QComboBox>("pinned_form")->setCurrentIndex(1);
    QCOMPARE(rig.attention->other_graphs().size(), size_t{0});
    QCOMPARE(rig.attention_panel->plots_below().size(), size_t{1});
    const AttentionPlot* below = rig.attention_panel->plots_below().front();
    QVERIFY(below->title().contains("L4H2"));
    QCOMPARE(below->row(Side::kA)[55], double{FakeEngine::Attention(4, 2, 55, 6, 0)});
    QTest::mouseClick(rig.map, Qt::LeftButton, Qt::ControlModifier, rig.Cell({4, 2}));
    QCOMPARE(rig.attention_panel->plots_below().size(), size_t{0});
    QVERIFY(rig.selection->pinned().empty());
  }

  // The first picture of a channel is of a short prompt, in which the words hide its trend.
  void AShortPromptIsNamedAsSuch() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    const auto* note = rig.Find<ElidedLabel>("channel_length");
    QVERIFY(note->isVisible() && note->width() > 100);
    QVERIFY2(note->text().contains("too few for a trend (about 2000 needed)"),
             qPrintable(note->text()));
  }

  void ThePointerPreviewsAHead() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    const HeadId before = rig.selection->head();
    Q_EMIT rig.map->HeadHovered(HeadId{5, 3});
    QCOMPARE(rig.attention_panel->head(), (HeadId{5, 3}));
    QVERIFY2(rig.attention->title().contains("under the pointer"),
             qPrintable(rig.attention->title()));
    QCOMPARE(rig.text->values()[7], double{FakeEngine::Attention(5, 3, 7, 6, 0)});
    Q_EMIT rig.map->HeadHovered(std::nullopt);
    QCOMPARE(rig.attention_panel->head(), before);
  }

  void MeansOverHeadsAreRows() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.selection->Choose({2, 3});
    rig.Find<QComboBox>("attention_row")->setCurrentIndex(2);  // mean of its group, heads 2 and 3
    const double of_group = (double{FakeEngine::Attention(2, 2, 55, 6, 0)} +
                             double{FakeEngine::Attention(2, 3, 55, 6, 0)}) /
                            2;
    QVERIFY(std::abs(rig.attention->row(Side::kA)[55] - of_group) < 1e-12);
    QVERIFY2(rig.attention->title().contains("L2 KV1"), qPrintable(rig.attention->title()));
    rig.Find<QComboBox>("attention_row")->setCurrentIndex(1);
    QVERIFY(rig.attention->title().contains("mean of L2"));
  }

  void TheZoomSurvivesStepsAndHeadsAndIsShared() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.window.ShowPanel(rig.attention_panel);
    rig.Wheel(rig.attention, 60);
    const QCPRange x = rig.attention->xAxis->range();
    const QCPRange y = rig.attention->yAxis->range();
    QVERIFY(x.size() < FakeEngine::kTokens - 20);
    QCOMPARE(rig.channel->xAxis->range(), x);  // the axes are linked
    const QCPRange channel_y = rig.channel->yAxis->range();
    rig.window.history()->Change({{}, Factor(0.5)}, false);
    QVERIFY(rig.Settle());
    rig.selection->Choose({5, 1});
    QCOMPARE(rig.attention->xAxis->range(), x);
    QCOMPARE(rig.attention->yAxis->range(), y);
    QCOMPARE(rig.channel->xAxis->range(), x);
    QVERIFY(!(rig.channel->held() & Qt::Vertical) || rig.channel->yAxis->range() == channel_y);
    QTest::mouseDClick(rig.attention, Qt::LeftButton, {}, rig.Key(*rig.attention, x.center()));
    QVERIFY(rig.attention->xAxis->range().size() > FakeEngine::kTokens - 1);
    QVERIFY(rig.channel->xAxis->range().size() > x.size() + 20);
    // When unlinked, each plot has its own range.
    rig.selection->SetLinked(false);
    const QCPRange all = rig.channel->xAxis->range();
    rig.Wheel(rig.attention, 60);
    QCOMPARE(rig.channel->xAxis->range(), all);
    // Shows another prompt.
    rig.session->SetPlace(3);
    rig.session->FlushChanges();
    QVERIFY(rig.Settle());
    // The range of tokens is kept.
    QVERIFY(rig.attention->xAxis->range().size() < FakeEngine::kTokens);
  }

  void BrushedTokensAreSelectedEverywhere() {
    Rig rig;
    QVERIFY(rig.OpenWithB(0));
    rig.window.ShowPanel(rig.attention_panel);
    QCoreApplication::processEvents();
    QWidget* view = rig.attention;
    QTest::mousePress(view, Qt::LeftButton, Qt::ShiftModifier, rig.Key(*rig.attention, 50));
    QTest::mouseMove(view, rig.Key(*rig.attention, 55));
    QTest::mouseRelease(view, Qt::LeftButton, Qt::ShiftModifier, rig.Key(*rig.attention, 59));
    QCOMPARE(rig.selection->range(), (TokenSpan{"", 50, 60}));
    QCOMPARE(rig.attention->range(), (TokenSpan{"", 50, 60}));
    const HeadId head = rig.attention_panel->head();
    const double a = Rig::OnGold(head, 0);
    const double b = Rig::OnGold(head, FakeEngine::Strength(Factor(0)));
    QCOMPARE(rig.Find<QLabel>("attention_sums")->text(),
             QStringLiteral("tokens 50:60: A %1, B %2, B − A %3")
                 .arg(a, 0, 'g', 3)
                 .arg(b, 0, 'g', 3)
                 .arg(b - a, 0, 'g', 3));
    // A new term takes them as its span.
    rig.window.settings()->stack()->Add("boost");
    auto* span = rig.window.findChild<TextBox*>(QStringLiteral("term_boost_span"));
    QVERIFY(span);
    QVERIFY2(span->findText(QStringLiteral("50:60")) >= 0, qPrintable(span->itemText(0)));
    QTest::keyClick(rig.attention, Qt::Key_Escape);
    QVERIFY(rig.selection->range().empty());
    QVERIFY(rig.Find<QLabel>("attention_sums")->text().isEmpty());
    QVERIFY(span->findText(QStringLiteral("50:60")) < 0);
  }

  void TheListIsSortedAndChooses() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    QTest::mouseClick(rig.Find<QToolButton>("map_list_shown"), Qt::LeftButton);
    HeadList* list = rig.map_panel->list();
    QVERIFY(list->isVisible());
    QCOMPARE(list->model()->rowCount(), static_cast<int>(FakeEngine::kLayers * FakeEngine::kHeads));
    // (5 * 5 + 0) % 13 = 12 is the largest planted score.
    QCOMPARE(list->model()->index(0, HeadListModel::kHead).data().toString(),
             QStringLiteral("L5H0"));
    list->sortByColumn(HeadListModel::kA, Qt::AscendingOrder);
    const QString least = list->model()->index(0, HeadListModel::kHead).data().toString();
    QVERIFY(least != QStringLiteral("L5H0"));
    list->setCurrentIndex(list->model()->index(0, 0));
    QCOMPARE(HeadText(rig.selection->head()), least);
  }

  void ClippedLinesAreNamed() {
    Record hidden;
    hidden.name = "hidden_channels";
    hidden.axes = {
        {"layer", 2, "", {}, {}}, {"channel", 1, "", {}, {7}}, {"position", 40, "", {}, {}}};
    std::vector<float> values(80, 0.0F);
    for (size_t i = 0; i < 40; ++i) {
      values[i] = static_cast<float>(i % 5);
      values[40 + i] = 100;
    }
    hidden.arrays = {{"hidden_channel", {"layer", "channel", "position"}, values, "", ""}};
    ChannelPlot plot;
    ChannelPlot::View view;
    view.channel = 7;
    view.dropped = 0;
    view.highlighted = {false, {{0, 0}}};
    plot.Show(&hidden, nullptr, view);
    QVERIFY(plot.yAxis->range().upper < 50);
    QCOMPARE(plot.BeyondText(true), QStringLiteral("L1"));
    QCOMPARE(plot.BeyondText(false), QString());
    QVERIFY(plot.band_of(Side::kA));
    QVERIFY(!plot.mean_of(Side::kB));
  }

  void TheViewComesBackFromASession() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.map_panel->ChooseQuantity("entropy");
    rig.selection->TogglePin({2, 1});
    rig.selection->SetCompare(Compare::kB);
    rig.text_panel->ChooseSource("mean");
    rig.Find<QCheckBox>("text_raw")->setChecked(true);
    const nlohmann::json map = rig.map_panel->State();
    const nlohmann::json text = rig.text_panel->State();
    Rig other;
    other.map_panel->Restore(map);
    other.text_panel->Restore(text);
    QVERIFY(other.OpenModel());
    QCOMPARE(other.map_panel->quantity_id(), std::string("entropy"));
    QVERIFY(other.selection->PinOf({2, 1}));
    QCOMPARE(other.selection->compare(), Compare::kB);
    QVERIFY(other.map_panel->State() == map);
    QVERIFY(other.text_panel->State() == text);
    // A file without a state restores the defaults of a new window.
    other.map_panel->Restore(nullptr);
    other.text_panel->Restore(nullptr);
    QVERIFY(other.selection->pinned().empty());
    QCOMPARE(other.selection->compare(), Compare::kSplit);
    QCOMPARE(other.map_panel->quantity_id(), std::string(HeadMapPanel::kScoreId));
    QVERIFY(!other.Find<QCheckBox>("text_raw")->isChecked());
  }

  void ASessionWithoutAHeadIsRefused() {
    const auto check = [](const char* text) {
      const nlohmann::json json = nlohmann::json::parse(text);
      HeadMapPanel::CheckState(JsonFields(json, "session", ""));
      TextPanel::CheckState(JsonFields(json, "session", ""));
    };
    check(R"({"head_map": {"quantity": "gold", "pinned": ["L2H1"], "compare": 3}})");
    check("{}");
    for (const char* bad :
         {R"({"head_map": {"pinned": ["second"]}})", R"({"head_map": {"pinned": [3]}})",
          R"({"head_map": {"compare": 4}})", R"({"head_map": 3})", R"({"text": {"raw": 1}})"}) {
      QVERIFY_EXCEPTION_THROWN(check(bad), Error);
    }
  }

  // The complete path on the embedded model: the head that finds the gold, its text, a factor.
  void TheEmbeddedModelIsLookedInto() {
    MainWindow window(test::TestEngine());
    Session* session = window.session();
    session->SetSamples(0);
    window.resize(1400, 900);
    window.show();
    window.prompt_panel()->SetTask(QStringLiteral("list:lines=5"));
    window.OpenModel(QStringLiteral("embedded"));
    QTRY_VERIFY_WITH_TIMEOUT(session->settled(Side::kA) && !session->has_pending_request(), kLong);
    auto* map = window.panel<HeadMapPanel>();
    auto* text = window.panel<TextPanel>()->text();
    auto* selection = window.findChild<Selection*>();
    map->ChooseQuantity("gold");
    map->list()->show();
    map->ChooseQuantity("gold");
    HeadId best;
    for (int64_t layer = 0; layer < map->plot()->layers(); ++layer) {
      for (int64_t head = 0; head < map->plot()->heads(); ++head) {
        if (map->plot()->Rank({layer, head}) == 1) best = {layer, head};
      }
    }
    // The suggested head is the one that attends most to the gold.
    QCOMPARE(selection->head(), best);
    QVERIFY(map->plot()->CellValue(best) > 0.1);
    // Its text is coloured by the plot's numbers, which sum to one.
    double sum = 0;
    for (const double value : text->values()) sum += value;
    QVERIFY(std::abs(sum - 1) < 1e-3);
    const TokenSpan& gold = text->prompt().gold;
    QVERIFY(!gold.empty());
    selection->SetRange(gold.begin, gold.end);
    map->ChooseQuantity("selection");
    QCOMPARE(map->plot()->Rank(best), int64_t{1});
    window.history()->Change({{}, Factor(0)}, false);
    QTRY_VERIFY_WITH_TIMEOUT(session->settled(Side::kB) && !session->has_pending_request(), kLong);
    session->FlushChanges();
    QVERIFY(window.panel<ChannelPanel>()->plot()->mean_of(Side::kB));
    QVERIFY(window.findChild<QLabel*>(QStringLiteral("attention_sums"))->text().contains("B − A"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::LookingTest)
#include "looking_test.moc"
