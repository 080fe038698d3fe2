// SPDX-License-Identifier: GPL-3.0-or-later
// A map of one number per head, with layer 0 at the bottom and heads across. Colours are Viridis,
// or blue (more) and red (less) around exact zero for signed numbers; grey means no value. The
// wheel over the colour scale changes its range, and a double click there restores the range of the
// values; beside it, the number of heads outside the range is shown. Lines separate groups of heads
// that share a key/value head. If the numbers can be painted, the wheel over a cell and a vertical
// drag change them, and Shift+drag (or Shift+arrows) marks a block of heads that change together.
#pragma once

#include <QString>
#include <QTimer>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "gui/base/head_quantities.h"
#include "gui/base/view_types.h"
#include "gui/plots/plot.h"
#include "gui/widgets/selection.h"

namespace midscope {

// The contents of a map.
struct HeadMap {
  HeadTable table;
  QString value_name;  // in tooltips: "score"
  QString scale;       // label of the colour scale: "score (share of keys)"
  bool diverging = false;
  double centre = 0;  // centre of diverging colours
  // The colour range; nullopt: the range of the values.
  std::optional<QCPRange> range = {};
  // Further lines of the tooltip; if `own_text`, all of the tooltip except name and rank.
  std::function<QString(HeadId)> note = {};
  bool own_text = false;
};

class HeadMapPlot : public Plot {
  Q_OBJECT

 public:
  explicit HeadMapPlot(QWidget* parent = nullptr,
                       const QString& file_stem = QStringLiteral("head_map"));

  // Number of query heads per key/value head, for labels such as `L12H3 (KV1)` and the lines
  // between groups; 1: no sharing.
  void SetHeadsPerKeyValueHead(int64_t heads);
  void Show(HeadMap map);
  // A colour range that covers all these tables; nullopt if they have no values.
  static std::optional<QCPRange> RangeOf(const std::vector<const HeadTable*>& tables,
                                         bool diverging, double centre = 0);
  // Sets whether the wheel, drags, + and - change the numbers (Painted) instead of the view;
  // Ctrl+wheel then zooms.
  void SetPaintable(bool paintable);
  bool paintable() const { return paintable_; }
  // The heads that are painted together: the marked block, else the selected head.
  std::vector<HeadId> painted_heads() const;
  // Selects a head. On a map without that head, the marker is drawn at the nearest cell (on an
  // empty map not at all), and the selection is kept.
  void SelectHead(midscope::HeadId head);
  void SetPinned(const std::vector<PinnedHead>& pinned);
  // Shows or hides the colour scale; hidden if a map beside this one shows the same scale.
  void ShowScale(bool shown);
  // Sets whether cells are square until the user zooms.
  void SetSquare(bool square);
  void ShowScaleLabel(bool shown);
  QRectF marked_cell() const;  // in axis coordinates; empty: none
  // The frames of the pinned heads that exist in the map.
  const std::vector<QCPItemRect*>& pin_frames() const { return pin_frames_; }
  // The lines between groups of heads that share a key/value head.
  const std::vector<QCPItemLine*>& group_lines() const { return group_lines_; }

  HeadId selected() const { return selected_; }
  int64_t layers() const { return drawn_.table.layers; }
  int64_t heads() const { return drawn_.table.heads; }
  bool diverging() const { return drawn_.diverging; }
  QCPRange data_range() const { return map_->dataRange(); }
  QRect scale_rect() const { return scale_->visible() ? scale_->outerRect() : QRect(); }
  QString HeadName(HeadId head) const;
  // The name of the coloured quantity, with the number of values outside the colour range.
  QString scale_label() const;
  // The displayed value; NaN outside the map.
  double CellValue(HeadId head) const;
  // The rank of the head among all layers: 1 for the largest value; 0 if it has no value.
  int64_t Rank(HeadId head) const;
  std::optional<HeadId> HeadAt(const QPointF& position) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;
  std::optional<QPointF> CurrentPoint() const override;

 Q_SIGNALS:
  void HeadChosen(midscope::HeadId head);
  // Emitted for Ctrl+click on a head, and for the space bar on the selected head.
  void PinRequested(midscope::HeadId head);
  // Multiplies the numbers of the heads by e^change; while `dragging`, `change` is relative to the
  // start of the drag.
  void Painted(const std::vector<midscope::HeadId>& heads, double change, bool dragging);
  // The user has chosen another colour range; nullopt: the range of the values.
  void ColoursChosen(std::optional<QCPRange> range);
  // The head under the pointer; nullopt: none.
  void HeadHovered(std::optional<midscope::HeadId> head);

 protected:
  void ClickAt(const QPointF& position) override;
  void HoverAt(const QPointF& position) override;
  void HoverEnds() override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void Brush(const QPointF& from, const QPointF& to) override;
  void RestyleData() override;

 private:
  void DrawCells(bool other_shape);
  void DrawGroups();
  void PlaceMarker();
  void PlacePins();
  void SetScale();
  QPen GroupPen() const;  // pen of the lines between groups
  bool OnScale(const QPointF& position) const;
  void TurnColours(const QWheelEvent& event);
  void FitLayout();
  bool Has(HeadId head) const;
  bool PaintKey(QKeyEvent* event);
  void MarkBlock(std::optional<std::pair<HeadId, HeadId>> corners);
  std::vector<HeadId> HeadsAt(HeadId head) const;
  void EndWheel();

  QCPColorMap* map_;
  QCPColorScale* scale_;
  QCPItemRect* marker_;        // white, drawn inside marker_below_
  QCPItemRect* marker_below_;  // black and wider
  std::vector<QCPItemRect*> pin_items_;
  std::vector<QCPItemRect*> pin_frames_;  // one coloured frame per pinned head
  std::vector<QCPItemLine*> group_lines_;
  std::vector<PinnedHead> pinned_;
  HeadMap drawn_;
  HeadId selected_;
  bool scale_label_shown_ = true;
  bool square_ = false;
  QSize fitted_;  // size of the axes for which square cells were computed
  bool paintable_ = false;
  QCPItemRect* block_frame_;
  std::optional<std::pair<HeadId, HeadId>> block_;  // two opposite corners; nullopt: no block
  // Heads of the current drag or wheel turn; empty: none.
  std::vector<HeadId> painting_;
  QPointF paint_begin_;
  bool paint_moved_ = false;
  double wheel_change_ = 0;
  QTimer wheel_ends_;
  int64_t heads_per_key_value_head_ = 1;
};

}  // namespace midscope
