// SPDX-License-Identifier: MIT
// The selection that all panels share: heads that are chosen, previewed and pinned, tokens that are
// hovered, locked and brushed; and the numbers of heads that the map can show, compared with sums
// calculated by hand.
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "gui/base/head_quantities.h"
#include "gui/base/prompt_text.h"
#include "gui/top_bar.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class SelectionTest : public QObject {
  Q_OBJECT

 private:
  // A record with one layer of two heads over four keys.
  static Record Attention() {
    Record record;
    record.name = "last_query_attention";
    record.axes = {{"layer", 1, "", {}, {}}, {"head", 2, "", {}, {}}, {"key", 4, "", {}, {}}};
    record.arrays = {{"last_query_attention",
                      {"layer", "head", "key"},
                      std::vector<float>{0.5F, 0.25F, 0.25F, 0, 0.25F, 0.25F, 0.25F, 0.25F},
                      "",
                      ""}};
    return record;
  }
  static double ValueOf(const char* id, size_t head, const MarkedTokens& tokens) {
    const Record record = Attention();
    const auto& all = AttentionQuantities();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [id](const AttentionQuantity& each) { return each.id == id; });
    return QuantityTable(*found, &record, tokens).values.at(head);
  }

 private Q_SLOTS:
  void LayersWithoutAttentionHaveNoValues() {
    Record attention = Attention();
    auto& weights = std::get<std::vector<float>>(attention.arrays[0].data);
    std::fill(weights.begin() + 4, weights.end(), 0.0F);
    const HeadTable table = QuantityTable(*FindAttentionQuantity("first"), &attention, {});
    QCOMPARE(table.values[0], 1.0);
    QVERIFY(std::isnan(table.values[1]));
    HeadTable scores{{0.3, 0.0}, 1, 2};
    ClearWithoutAttention(&attention, scores);
    QCOMPARE(scores.values[0], 0.3);
    QVERIFY(std::isnan(scores.values[1]));
    ClearWithoutAttention(nullptr, scores);
    QCOMPARE(scores.values[0], 0.3);
  }

  void AChosenHeadEndsThePreview() {
    Selection selection;
    QSignalSpy shown(&selection, &Selection::ShownHeadChanged);
    selection.PreviewHead(HeadId{3, 1});
    QCOMPARE(selection.head(), HeadId{});
    QCOMPARE(selection.shown_head(), (HeadId{3, 1}));
    QVERIFY(selection.previews());
    selection.Choose({2, 2});
    QCOMPARE(selection.shown_head(), (HeadId{2, 2}));
    selection.PreviewHead(HeadId{4, 0});
    selection.PreviewHead(std::nullopt);
    QCOMPARE(selection.shown_head(), (HeadId{2, 2}));
    QCOMPARE(shown.size(), 4);
  }

  void PinsKeepTheirColours() {
    Selection selection;
    for (int head = 0; head < 4; ++head) selection.TogglePin({1, head});
    const QColor second = selection.PinOf({1, 1})->color;
    const QColor first = selection.PinOf({1, 0})->color;
    QVERIFY(first != second);
    selection.TogglePin({1, 0});  // unpins the head
    QVERIFY(!selection.PinOf({1, 0}));
    QCOMPARE(selection.PinOf({1, 1})->color, second);
    selection.TogglePin({5, 5});  // takes the colour that is free again
    QCOMPARE(selection.PinOf({5, 5})->color, first);
    for (int head = 0; head < 9; ++head) selection.TogglePin({7, head});
    QCOMPARE(selection.pinned().size(), Selection::kMostPins);
  }

  void ALockedTokenIsShownWhereNoneIsPointedAt() {
    Selection selection;
    selection.LockToken(5);
    selection.HoverToken(8);
    QCOMPARE(selection.token(), int64_t{8});
    selection.HoverToken(-1);
    QCOMPARE(selection.token(), int64_t{5});
    selection.SetRange(2, 4);
    selection.Release();
    QCOMPARE(selection.token(), int64_t{-1});
    QVERIFY(selection.range().empty());
    selection.LockToken(5);
    selection.LockToken(5);  // a second click
    QCOMPARE(selection.locked_token(), int64_t{-1});
  }

  void QuantitiesAreWhatTheirHelpSays() {
    const MarkedTokens tokens{{"gold", 1, 3}, {"", 0, 1}};
    QCOMPARE(ValueOf("gold", 0, tokens), 0.5);
    QCOMPARE(ValueOf("gold_over_uniform", 0, tokens), 1.0);  // two of four tokens
    QCOMPARE(ValueOf("selection", 0, tokens), 0.5);
    QCOMPARE(ValueOf("first", 0, tokens), 1.0);  // fewer keys than kSinkTokens
    QCOMPARE(ValueOf("last", 1, tokens), 1.0);
    QCOMPARE(ValueOf("entropy", 1, tokens), std::log(4.0));
    QCOMPARE(ValueOf("entropy", 0, tokens), 1.5 * std::log(2.0));
    QCOMPARE(ValueOf("centre", 1, tokens), 0.5);
    QCOMPARE(ValueOf("centre", 0, tokens), 0.25);  // (0.25 + 2 * 0.25) / 3
    QVERIFY(std::isnan(ValueOf("gold", 0, {})));
    QVERIFY(std::isnan(ValueOf("selection", 0, {})));
  }

  void EveryQuantityHasANameAndHelp() {
    QSet<QString> ids;
    for (const AttentionQuantity& quantity : AttentionQuantities()) {
      QVERIFY(!quantity.name.isEmpty() && !quantity.help.isEmpty());
      ids.insert(QString::fromStdString(quantity.id));
    }
    QCOMPARE(ids.size(), static_cast<qsizetype>(AttentionQuantities().size()));
  }

  void ADifferenceNeedsTheSameHeads() {
    const HeadTable a{{1, 2}, 1, 2};
    QCOMPARE(Difference(a, {{4, 4}, 1, 2}).values, (std::vector<double>{3, 2}));
    QVERIFY(Difference(a, {{4}, 1, 1}).values.empty());
    QVERIFY(Difference(a, {}).values.empty());
  }

  void TokensHaveTheValuesOfRecords() {
    Record record = Attention();
    record.arrays.push_back({"help_of_key", {"key"}, std::vector<double>{1, -2, 0, 3}, "", ""});
    record.arrays.push_back({"key_ids", {"key"}, std::vector<int64_t>{1, 2, 3, 4}, "", ""});
    PromptText text;
    text.tokens = {"a", "b", "c", "d"};
    text.gold = {"gold", 2, 3};
    text.pieces = {{"line 1", 0, 2}};
    const std::vector<TokenSource> sources = SourcesOf(record, text);
    QCOMPARE(sources.size(), size_t{2});  // ids are not measured values
    QCOMPARE(ValuesOf(&record, sources[0], {text, 0, {0, 1}}), QVector<double>(4, 0.25));
    QCOMPARE(ValuesOf(&record, sources[1], {text, 0, {0, 1}}), (QVector<double>{1, -2, 0, 3}));
    text.tokens.append("e");
    QVERIFY(SourcesOf(record, text).empty());  // a prompt with another number of tokens
    QCOMPARE(MeanOverHeads(record), (QVector<double>{0.375, 0.25, 0.25, 0.125}));
  }

  void TokensOfAPassageHaveItsMean() {
    Record record;
    record.name = "gold_following";
    record.axes = {{"place", 2, "rank", {}, {1, 4}},
                   {"layer", 1, "", {}, {}},
                   {"head", 2, "", {}, {}},
                   {"passage", 2, "", {}, {}}};
    record.arrays = {{"mean_passage_attention",
                      {"place", "layer", "head", "passage"},
                      std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8},
                      "",
                      ""}};
    PromptText text;
    text.tokens = {"a", "b", "c", "d"};
    text.gold = {"gold", 3, 4};
    text.pieces = {{"line 1", 0, 2}};
    const std::vector<TokenSource> sources = SourcesOf(record, text);
    QCOMPARE(sources.size(), size_t{1});
    QCOMPARE(ValuesOf(&record, sources[0], {text, 4, {0, 1}}), (QVector<double>{7, 7, 0, 8}));
    QVERIFY(ValuesOf(&record, sources[0], {text, 2, {0, 1}}).empty());  // not a place of it
    text.pieces.clear();
    QVERIFY(SourcesOf(record, text).empty());  // a prompt with other passages
  }

  void OneSwitchSetsWhatEveryPanelShows() {
    Selection selection;
    CompareSwitch first(&selection);
    CompareSwitch second(&selection);
    auto* button = first.findChild<QToolButton*>(QStringLiteral("compare_difference"));
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(selection.compare(), Compare::kDifference);
    QVERIFY(second.findChild<QToolButton*>(QStringLiteral("compare_difference"))->isChecked());
    QVERIFY(!second.findChild<QToolButton*>(QStringLiteral("compare_split"))->isChecked());
    QTest::mouseClick(button, Qt::LeftButton);  // a second click leaves it chosen
    QVERIFY(button->isChecked());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SelectionTest)
#include "selection_test.moc"
