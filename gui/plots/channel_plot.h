// SPDX-License-Identifier: GPL-3.0-or-later
// Plots one hidden channel of the residual stream against position. All layers: a thin line per
// layer of A, and the mean over the scaled layers with a band of one standard deviation over
// layers, A solid and B dashed. One chosen layer: A solid and B dashed. Lines that leave the frame
// are named at its edge, and the legend shows Spearman's rho between each bold line and position.
// Scaling does not change the stream, but the values that attention reads from it: a dotted line is
// the bold one times B's factor. Dragging the dotted line up or down (or the bold one, if there is
// no dotted one) changes the factor.
#pragma once

#include <QSet>
#include <QStringList>
#include <optional>
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
    int64_t layer = -1;  // -1: all layers
    // Number of first positions left out; their norm is many times that of the rest.
    int64_t dropped = 30;
    int64_t smoothing = 1;  // window of a moving mean, in positions; 1: no smoothing
    LayerSet highlighted{false, {}};
    Compare compare = Compare::kSplit;
    QString factor_a;  // "× 0.5": factor that the setting applies to the channel; "": none
    QString factor_b;
    // B's requested factor of the channel, for the dotted line; 1 if B does not scale the channel.
    // nullopt: the factor cannot be changed.
    std::optional<double> factor_now;
    bool operator==(const View&) const = default;
  };
  // Records with hidden_channel [layer, channel, position]; null if there is none.
  void Show(const Record* hidden_a, const Record* hidden_b, const View& view);
  // Set the texts of tokens for the ticks, the selected range of tokens, and the marked token.
  void SetTokens(const QStringList& tokens);
  void SetRange(const TokenSpan& range);
  void SetMarkedToken(int64_t token);
  // The mean over layers; nullptr if it is not drawn.
  QCPGraph* mean_of(Side side) const { return side == Side::kA ? mean_a_ : mean_b_; }
  // The upper edge of the band around the mean, filled down to the lower edge; nullptr if there is
  // none.
  QCPGraph* band_of(Side side) const { return side == Side::kA ? band_a_ : band_b_; }
  // The bold line of B, or else of A, times B's factor; nullptr if the factor is 1.
  QCPGraph* read_line() const { return read_; }
  // The lines of single layers, in layer order.
  const std::vector<QCPGraph*>& layer_lines() const { return layer_lines_; }
  // The layers whose lines leave the frame at the top or bottom, such as "L28, L29".
  QString BeyondText(bool above) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  void TokenHovered(qint64 token);
  void TokenClicked(qint64 token);
  // Half-open [begin, end).
  void RangeBrushed(qint64 begin, qint64 end);
  // Emitted when the line is dragged or + or - is pressed. `factor`: B's factor that moves the line
  // there. `dragging`: the drag is not finished.
  void FactorDragged(double factor, bool dragging);

 protected:
  void RestyleData() override;
  void ClickAt(const QPointF& position) override;
  void Brush(const QPointF& from, const QPointF& to) override;
  void HoverAt(const QPointF& position) override;
  void HoverEnds() override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString EmptyText(bool captured) const;
  struct MeanLine {
    QVector<double> mean;
    QVector<double> deviation;
    double rho = 0;  // of the mean without smoothing; NaN: undefined
  };
  // The state at the start of a drag of the line.
  struct FactorDrag {
    double factor;
    double value;  // of the pointer, on the y axis
    double slope;  // change of the value per unit of the factor
    bool moved = false;
  };
  // The bold line of a side; nullptr if there is none.
  const QCPGraph* BoldLine(Side side) const;
  const QCPGraph* FactorLine() const;
  void AddRead();
  void ShowRead();
  std::optional<FactorDrag> DragAt(const QPointF& position) const;
  double FactorAt(const FactorDrag& drag, const QPointF& position) const;
  // Whether `drawn` contains the same numbers as `hidden` (null: none).
  static bool Holds(const Record* hidden, const Record& drawn);
  // The values of the shown channel [layer][position], unsmoothed and smoothed; empty if the record
  // does not contain the channel.
  struct Rows {
    QVector<double> layers;  // layer numbers
    std::vector<QVector<double>> values;
    std::vector<QVector<double>> smoothed;
    bool empty() const { return values.empty(); }
  };
  Rows RowsOf(const Record& hidden) const;
  void Draw();
  void DrawBoth();
  // Updates what a change of the factor affects: the names of the means, and the line of the values
  // that attention reads.
  void DrawFactors();
  // Number of positions per bin if that many positions are shown; the smallest and largest value of
  // each bin are drawn.
  int64_t BinOf(double positions) const;
  double ShownPositions() const;
  void FollowZoom();
  // The point of a line nearest to a position; nullptr if none is near.
  const QCPGraphData* PointAt(const QCPGraph* line, double position) const;
  void DrawTitle(bool difference);
  QVector<double> Smoothed(const QVector<double>& values) const;
  // Returns ", ρ 0.93", or "" if rho is NaN. RhoOf computes it over the positions that are not
  // dropped.
  QString RhoText(double rho) const;
  double RhoOf(const QVector<double>& values) const;
  enum class Extremes { kBoth, kLeast, kLargest };  // values of a bin that are drawn
  QCPGraph* AddLine(const QVector<double>& smoothed, const QString& name, const QPen& pen,
                    Extremes drawn = Extremes::kBoth);
  void AddLayers(const Rows& rows, Side side, bool faint);
  MeanLine MeanOf(const Rows& rows) const;
  void AddMean(const MeanLine& line, Side side);
  void AddDifference(const MeanLine& a, const MeanLine& b);
  // Whether the mean includes the layer: a highlighted one, or any layer if none is highlighted.
  bool InMean(int64_t layer) const;
  QString MeanText() const;
  // The colour of a layer's line, chosen to be readable on the background.
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
  QCPGraph* read_ = nullptr;
  std::vector<QCPGraph*> layer_lines_;
  QSet<const QCPGraph*> beyond_mean_;  // lines of layers that are not in the mean
  QSharedPointer<TokenTicker> ticker_;
  QCPItemRect* range_shade_;
  QCPItemStraightLine* marked_;
  QCPItemText* above_;
  QCPItemText* below_;
  QStringList tokens_;
  bool difference_ = false;  // whether B - A is drawn
  Rows rows_a_;
  Rows rows_b_;
  double rho_a_ = 0;
  double rho_b_ = 0;
  int64_t bin_ = 1;
  std::optional<FactorDrag> drag_;
  QPointF press_;
};

}  // namespace midscope
