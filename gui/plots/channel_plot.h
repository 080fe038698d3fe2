// SPDX-License-Identifier: GPL-3.0-or-later
// One hidden channel of the residual stream against position. All layers: a thin line per layer of
// A, the scaled layers highlighted, and with B the mean over these layers, A solid and B dashed.
// One chosen layer: A solid and B dashed.
#pragma once

#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "gui/base/view_types.h"
#include "gui/plots/plot.h"

namespace midscope {

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
    bool operator==(const View&) const = default;
  };
  // Records with hidden_channel [layer, channel, position]; null for none.
  void Show(const Record* hidden_a, const Record* hidden_b, const View& view);

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 protected:
  void RestyleData() override;

 private:
  // Whether `drawn` has the numbers of `hidden` (null: none).
  static bool Holds(const Record* hidden, const Record& drawn);
  void Draw();
  double MeanAround(const QVector<double>& values, qsizetype position) const;
  void AddLine(const QVector<double>& values, const QString& name, const QPen& pen);
  void AddLayers(const Record& hidden, int64_t channel_index, Side side);
  void AddMean(const Record& hidden, int64_t channel_index, Side side);
  // Whether the mean includes the layer: a highlighted one, or any where none is highlighted.
  bool InMean(int64_t layer) const;
  QString MeanText() const;

  View view_;
  Record hidden_a_;
  Record hidden_b_;
};

}  // namespace midscope
