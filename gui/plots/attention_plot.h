// SPDX-License-Identifier: GPL-3.0-or-later
// Plots the attention of the last query over the tokens: A and B of one head; several heads, one
// colour per head, A solid and B dashed; or the difference B - A. On a linear axis, bars show the
// sum over each passage, and stems the tokens where few of them are visible. The gold passage, the
// selected tokens and the piece under the pointer are shaded. Rings mark the keys that Ms-PoE's
// score counts, and a line the score's threshold.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <vector>

#include "core/base/record.h"
#include "core/base/spans.h"
#include "gui/base/view_types.h"
#include "gui/plots/plot.h"

namespace midscope {

// The keys that Ms-PoE's position-awareness score of a head counts, by their weights before
// rotation.
struct CountedRow {
  QVector<double> counted;  // [key]: 1 if the key is counted; empty: unknown
  double threshold = 0;     // as attention weight
  QString rule;             // how the threshold is defined: ">= 3/tokens"
  bool operator==(const CountedRow&) const = default;
};

// The attention row of another head.
struct HeadRow {
  QString name;
  QColor color;
  QVector<double> row_a;  // [key]; empty: not drawn
  QVector<double> row_b;
  bool operator==(const HeadRow&) const = default;
};

class TokenTicker;

class AttentionPlot : public Plot {
  Q_OBJECT

 public:
  explicit AttentionPlot(QWidget* parent = nullptr);

  // `prompt`: the record of that name (see probes/engine/engine.h); if null, tokens are shown
  // without their texts and passages.
  void SetPrompt(const Record* prompt);
  // One value per key; empty if the side has no record.
  void SetRows(const QVector<double>& row_a, const QVector<double>& row_b);
  // Sets the counted keys for the rows that were set last.
  void SetCounted(const CountedRow& counted_a, const CountedRow& counted_b);
  void SetNames(const QString& name_a, const QString& name_b);
  // Draws a side grey and dotted because its row is not of the requested setting.
  void SetOlder(bool older_a, bool older_b);
  void SetLogarithmic(bool on);
  // Marks the key that is under the pointer in another view; -1: none.
  void SetMarkedKey(int64_t key);
  // Shades the selected tokens; an empty span shades none.
  void SetRange(const TokenSpan& range);
  // Sets further heads to draw in the same plot.
  void SetOthers(const std::vector<HeadRow>& others);
  // Sets which lines are drawn; B is drawn only if it has a row.
  void SetCompare(Compare compare);
  // Hides the legend and the axis labels, for a plot below one that has them.
  void SetCompact();
  // Sets where the axes of a compact plot begin, in pixels from the left: plots below each other
  // have their tokens below each other.
  void SetLeft(int left);
  // Shows or hides the numbers or tokens below the axis of a compact plot.
  void ShowTokenLabels(bool shown);
  // Sets one colour for both lines, which then differ in style only; an invalid colour selects the
  // colours of A and B.
  void SetHeadColor(const QColor& color);

  const QVector<double>& row(Side side) const { return side == Side::kA ? row_a_ : row_b_; }
  const QStringList& tokens() const { return tokens_; }
  QCPGraph* graph_of(Side side) const { return side == Side::kA ? graph_a_ : graph_b_; }
  // The rings around the counted keys, at their weights in the row, and the line at the threshold.
  QCPGraph* counted_of(Side side) const { return side == Side::kA ? rings_a_ : rings_b_; }
  QCPItemStraightLine* threshold_of(Side side) const {
    return side == Side::kA ? threshold_a_ : threshold_b_;
  }
  // The sums of the row over each passage that contains no other passage: bars, five points each,
  // and bars of the tokens outside all passages, on a linear axis that shows many tokens;
  // horizontal lines, three points each, on a logarithmic axis of a long prompt; otherwise empty.
  QCPGraph* sums_of(Side side) const { return side == Side::kA ? sums_a_ : sums_b_; }
  // Two graphs, for A and B, per other head.
  const std::vector<QCPGraph*>& other_graphs() const { return other_graphs_; }
  // Whether bars of passages are drawn instead of tokens.
  bool shows_sums() const { return shows_sums_; }
  const TokenSpan& range() const { return range_; }
  bool logarithmic() const { return logarithmic_; }
  // The gold passage; empty if there is none.
  const TokenSpan& gold() const { return gold_; }
  int64_t KeyAt(const QPointF& position) const;

  void ResetView() override;
  // While bars show sums of passages: the weights of all tokens.
  QString Table() const override;
  QString TooltipAt(const QPointF& position) const override;
  std::optional<QPointF> CurrentPoint() const override;

 Q_SIGNALS:
  // The key under the pointer; -1: none.
  void KeyHovered(qint64 key);
  void KeyClicked(qint64 key);
  // Half-open [begin, end).
  void RangeBrushed(qint64 begin, qint64 end);

 protected:
  void ClickAt(const QPointF& position) override;
  void Brush(const QPointF& from, const QPointF& to) override;
  void HoverAt(const QPointF& position) override;
  void HoverEnds() override;
  void RestyleData() override;

 private:
  // Below this number of tokens, lines are drawn as steps, because values between two tokens have
  // no meaning. From this number on, a logarithmic axis shows sums of passages too.
  static constexpr int kMostSteps = 300;
  // Up to this number of visible tokens, a linear axis shows tokens as stems.
  static constexpr int kMostStems = 80;

  QCPItemRect* MakeShade();
  void PlaceShade(QCPItemRect* shade, const TokenSpan& span);
  // The smallest span except the gold that contains the key; nullptr if there is none.
  const TokenSpan* SpanAt(int64_t key) const;
  // The part of each passage's width that a bar has, such as the second of three.
  struct Slot {
    int index = 0;
    int count = 1;
  };
  bool WantsSums() const;
  // The passages, and the tokens before, between and after them as passages without a name.
  std::vector<TokenSpan> BarSpans(int64_t keys) const;
  void FillSums(QCPGraph* graph, const QVector<double>& row, const Slot& slot) const;
  void FillAllSums();
  // Chooses bars of passages or stems of tokens by the number of visible tokens.
  void FollowRange();
  void ResetAlongY();
  void WidenGold();
  static void FillGraph(QCPGraph* graph, const QVector<double>& row);
  void StyleLines();
  void StyleBars(QCPGraph* sums) const;
  void FillLines();
  void ShowLines();
  void UseScale();
  bool differs() const { return compare_ == Compare::kDifference && !row_b_.isEmpty(); }
  // The values that must be visible on the y axis.
  QVector<double> DrawnValues() const;
  static void PlaceCounted(const CountedRow& counted, const QVector<double>& row, QCPGraph* rings,
                           QCPItemStraightLine* line);
  QString CountedText(const CountedRow& counted, int64_t key) const;
  static QString OtherText(const HeadRow& other, int64_t key);
  QString SumsText(int64_t key) const;

  QCPGraph* graph_a_;
  QCPGraph* graph_b_;
  QCPGraph* difference_;
  QCPGraph* sums_a_;
  QCPGraph* sums_b_;
  std::vector<QCPGraph*> other_graphs_;
  std::vector<QCPGraph*> other_sums_;
  QCPGraph* rings_a_;
  QCPGraph* rings_b_;
  QCPItemStraightLine* threshold_a_;
  QCPItemStraightLine* threshold_b_;
  QCPItemRect* gold_shade_;
  QCPItemRect* range_shade_;
  QCPItemRect* hover_shade_;
  QCPItemText* hover_name_;
  QCPItemText* gold_name_;
  QCPItemStraightLine* marked_;
  QVector<double> row_a_;
  QVector<double> row_b_;
  CountedRow counted_a_;
  CountedRow counted_b_;
  QStringList tokens_;
  std::vector<TokenSpan> spans_;  // without gold
  // Passages that contain no other, including the gold, by position.
  std::vector<TokenSpan> passages_;
  TokenSpan gold_;
  TokenSpan range_;
  TokenSpan hovered_span_;  // the shaded piece; empty: none
  std::vector<HeadRow> others_;
  Compare compare_ = Compare::kSplit;
  QColor head_color_;
  QSharedPointer<TokenTicker> ticker_;
  bool logarithmic_ = false;
  bool shows_sums_ = false;
  bool stems_ = false;  // whether tokens are drawn as stems
  bool compact_ = false;
  bool older_a_ = false;
  bool older_b_ = false;
};

}  // namespace midscope
