// SPDX-License-Identifier: GPL-3.0-or-later
// ChannelPlot: what is under the pointer.
#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"
#include "gui/plots/channel_plot.h"

namespace midscope {

const QCPGraphData* ChannelPlot::PointAt(const QCPGraph* line, double position) const {
  const auto& points = *line->data();
  const QCPGraphData* nearest = nullptr;
  auto found = points.findBegin(position, true);  // the one before, where there is one
  for (int i = 0; i < 2 && found != points.constEnd(); ++i, ++found) {
    const bool nearer =
        !nearest || std::abs(found->key - position) < std::abs(nearest->key - position);
    if (nearer) nearest = &*found;
  }
  const bool near = nearest && std::abs(nearest->key - position) < static_cast<double>(bin_);
  return near ? nearest : nullptr;
}

QString ChannelPlot::TooltipAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return {};
  const auto key = static_cast<double>(std::llround(xAxis->pixelToCoord(position.x())));
  const QCPGraph* nearest = nullptr;
  double nearest_pixels = 30;
  double nearest_value = 0;
  for (int i = 0; i < graphCount(); ++i) {
    const QCPGraphData* found = PointAt(graph(i), key);
    if (!found) continue;
    const double pixels = std::abs(yAxis->coordToPixel(found->value) - position.y());
    if (pixels < nearest_pixels) {
      nearest_pixels = pixels;
      nearest = graph(i);
      nearest_value = found->value;
    }
  }
  if (!nearest) return {};
  QString tip = QStringLiteral("%1, channel %2\n%3")
                    .arg(nearest->name())
                    .arg(view_.channel)
                    .arg(tr("position %1: %2").arg(key).arg(nearest_value, 0, 'g', 4));
  const auto token = static_cast<qsizetype>(key);
  if (token < tokens_.size()) tip += QLatin1Char('\n') + ShownToken(tokens_[token]);
  if (DragAt(position))
    tip += tr("\ndrag ↕: factor of B (now %1)").arg(*view_.factor_now, 0, 'g', 3);
  return tip;
}

int64_t ChannelPlot::TokenAt(const QPointF& position) const {
  if (!axisRect()->rect().contains(position.toPoint())) return -1;
  const int64_t token = std::llround(xAxis->pixelToCoord(position.x()));
  const int64_t tokens = std::max(AxisSize(hidden_a_, "position"), AxisSize(hidden_b_, "position"));
  return token >= 0 && token < tokens ? token : -1;
}

void ChannelPlot::ClickAt(const QPointF& position) {
  const int64_t token = TokenAt(position);
  if (token >= 0) Q_EMIT TokenClicked(token);
}

void ChannelPlot::Brush(const QPointF& from, const QPointF& to) {
  const int64_t tokens = std::max(AxisSize(hidden_a_, "position"), AxisSize(hidden_b_, "position"));
  if (tokens == 0) return;
  const auto at = [&](double x) {
    return std::clamp<int64_t>(std::llround(xAxis->pixelToCoord(x)), 0, tokens - 1);
  };
  const auto [first, last] = std::minmax({at(from.x()), at(to.x())});
  Q_EMIT RangeBrushed(first, last + 1);
}

void ChannelPlot::HoverAt(const QPointF& position) { Q_EMIT TokenHovered(TokenAt(position)); }

void ChannelPlot::HoverEnds() { Q_EMIT TokenHovered(-1); }

}  // namespace midscope
