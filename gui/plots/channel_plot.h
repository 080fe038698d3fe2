// SPDX-License-Identifier: GPL-3.0-or-later
// One hidden channel of the residual stream against position. All layers: a thin line per layer of
// A, and over the scaled layers the mean with a band of one standard deviation over layers, of A
// solid and of B dashed. One chosen layer: A solid and B dashed. What lies beyond the frame is
// named at its edge.
#pragma once

#include <QSet>
#include <QStringList>
#include <vector>

#include "core/base/record.h"
#include "core/base/spans.h"
#include "core/intervention/intervention.h"
#include "gui/base/view_types.h"
#include "gui/plots/plot.h"

namespace midscope {

class TokenTicker;

class ChannelPlot : public Plot {
  Q_OBJECT

 public:
  explicit ChannelPlot(QWidget* parent = nullptr);

  struct View {
    int64_t channel = 0;
    int64_t layer = -1;     // -1: all layers
    int64_t dropped = 30;   // first positions left out: their norm is many times the rest's
    int64_t smoothing = 1;  // window of a moving mean, in positions; 1: the values as they are
    LayerSet highlighted{false, {}};
    Compare compare = Compare::kSplit;
    QString factor_a;  // "× 0.5": what the setting makes of the channel; "": nothing
    QString factor_b;
    bool operator==(const View&) const = default;
  };
  // Records with hidden_channel [layer, channel, position]; null for none.
  void Show(const Record* hidden_a, const Record* hidden_b, const View& view);
  // Texts of the tokens, for ticks; the range of tokens that is selected, and the marked token.
  void SetTokens(const QStringList& tokens);
  void SetRange(const TokenSpan& range);
  void SetMarkedToken(int64_t token);

  // The mean over layers; null where it is not drawn.
  QCPGraph* mean_of(Side side) const { return side == Side::kA ? mean_a_ : mean_b_; }
  // The upper edge of the band around it, filled down to the lower one; null for none.
  QCPGraph* band_of(Side side) const { return side == Side::kA ? band_a_ : band_b_; }
  // The lines of single layers, in their order.
  const std::vector<QCPGraph*>& layer_lines() const { return layer_lines_; }
  // "L28, L29": the layers whose lines leave the frame above or below.
  QString BeyondText(bool above) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  void TokenHovered(qint64 token);
  void TokenClicked(qint64 token);
  // Half-open.
  void RangeBrushed(qint64 begin, qint64 end);

 protected:
  void RestyleData() override;
  void ClickAt(const QPointF& position) override;
  void Brush(const QPointF& from, const QPointF& to) override;
  void HoverAt(const QPointF& position) override;
  void HoverEnds() override;

 private:
  QString EmptyText(bool captured) const;
  struct MeanLine {
    QVector<double> mean;
    QVector<double> deviation;
  };
  // Whether `drawn` has the numbers of `hidden` (null: none).
  static bool Holds(const Record* hidden, const Record& drawn);
  void Draw();
  void DrawBoth(int64_t index_a, int64_t index_b);
  void DrawTitle(bool difference);
  QVector<double> Smoothed(const QVector<double>& values) const;
  QCPGraph* AddLine(const QVector<double>& smoothed, const QString& name, const QPen& pen);
  void AddLayers(const Record& hidden, int64_t channel_index, Side side, bool faint);
  MeanLine MeanOf(const Record& hidden, int64_t channel_index) const;
  void AddMean(const MeanLine& line, Side side);
  void AddDifference(const MeanLine& a, const MeanLine& b);
  // Whether the mean includes the layer: a highlighted one, or any where none is highlighted.
  bool InMean(int64_t layer) const;
  QString MeanText() const;
  // The colour of a layer's line, readable on the background.
  QColor LayerColor(int64_t index, int64_t layers) const;
  void NoteBeyond();
  int64_t TokenAt(const QPointF& position) const;

  View view_;
  Record hidden_a_;
  Record hidden_b_;
  QCPGraph* mean_a_ = nullptr;
  QCPGraph* mean_b_ = nullptr;
  QCPGraph* band_a_ = nullptr;
  QCPGraph* band_b_ = nullptr;
  std::vector<QCPGraph*> layer_lines_;
  QSet<const QCPGraph*> beyond_mean_;  // lines of layers that are not in the mean
  QSharedPointer<TokenTicker> ticker_;
  QCPItemRect* range_shade_;
  QCPItemStraightLine* marked_;
  QCPItemText* above_;
  QCPItemText* below_;
  QStringList tokens_;
};

}  // namespace midscope
