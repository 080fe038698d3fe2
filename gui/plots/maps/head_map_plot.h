// SPDX-License-Identifier: GPL-3.0-or-later
// A number of every head: layer 0 at the bottom, heads across. Viridis, or blue (more) and red
// (less) around exact zero where the number has a sign; grey for no value. The wheel over the scale
// of colours changes their range, a double click gives back that of the values; the number of heads
// beyond it is shown beside it. Heads that share a key/value head are between two lines. Where its
// numbers can be painted, the wheel over a cell and a drag up or down change them, Shift+drag (and
// Shift+arrows) marks a block that changes as one.
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

// Contents of a map.
struct HeadMap {
  HeadTable table;
  QString value_name;  // in tooltips: "score"
  QString scale;       // beside the colours: "score (share of keys)"
  bool diverging = false;
  double centre = 0;  // of diverging colours
  // The colours' range; without it that of the values.
  std::optional<QCPRange> range = {};
  // Further lines of the tooltip, or all of it beside name and rank where `own_text`.
  std::function<QString(HeadId)> note = {};
  bool own_text = false;
};

class HeadMapPlot : public Plot {
  Q_OBJECT

 public:
  explicit HeadMapPlot(QWidget* parent = nullptr,
                       const QString& file_stem = QStringLiteral("head_map"));

  // Query heads per key/value head, for the labels `L12H3 (KV1)` and the lines between groups; 1:
  // every head has its own.
  void SetHeadsPerKeyValueHead(int64_t heads);
  void Show(HeadMap map);
  // The range of the colours for these tables together; nullopt where they have no values.
  static std::optional<QCPRange> RangeOf(const std::vector<const HeadTable*>& tables,
                                         bool diverging, double centre = 0);
  // Whether wheel, drag and + and - change the numbers (Painted) instead of the view; with Ctrl the
  // wheel zooms.
  void SetPaintable(bool paintable);
  bool paintable() const { return paintable_; }
  // The heads that change as one: the marked block, else the selected one.
  std::vector<HeadId> painted_heads() const;
  // The selection is kept; on a smaller map the marker is at the nearest cell, on an empty one not
  // drawn.
  void SelectHead(midscope::HeadId head);
  void SetPinned(const std::vector<PinnedHead>& pinned);
  // Hides the scale of colours where a map beside this one has the same.
  void ShowScale(bool shown);
  // Cells as high as wide, while the user has not zoomed.
  void SetSquare(bool square);
  void ShowScaleLabel(bool shown);
  QRectF marked_cell() const;  // in axis coordinates; empty for none
  // The frames of pinned heads that the map has.
  const std::vector<QCPItemRect*>& pin_frames() const { return pin_frames_; }
  // The lines between groups of heads with one key/value head.
  const std::vector<QCPItemLine*>& group_lines() const { return group_lines_; }

  HeadId selected() const { return selected_; }
  int64_t layers() const { return drawn_.table.layers; }
  int64_t heads() const { return drawn_.table.heads; }
  bool diverging() const { return drawn_.diverging; }
  QCPRange data_range() const { return map_->dataRange(); }
  QRect scale_rect() const { return scale_->visible() ? scale_->outerRect() : QRect(); }
  QString HeadName(HeadId head) const;
  // The quantity of the colours, and the number of values beyond their range.
  QString scale_label() const;
  // The drawn value; NaN outside.
  double CellValue(HeadId head) const;
  // 1 for the head with the largest value of all layers; 0 where it has none.
  int64_t Rank(HeadId head) const;
  std::optional<HeadId> HeadAt(const QPointF& position) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  void HeadChosen(midscope::HeadId head);
  // Emitted for Ctrl+click, and for the space bar on the selected head.
  void PinRequested(midscope::HeadId head);
  // The numbers of the heads times e^change; while `dragging`, from where the drag began.
  void Painted(const std::vector<midscope::HeadId>& heads, double change, bool dragging);
  // Another range of colours; nullopt: that of the values.
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
  QPen GroupPen() const;  // of the lines between groups
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
  QCPItemRect* marker_;        // white, inside the black one
  QCPItemRect* marker_below_;  // black and wider
  std::vector<QCPItemRect*> pin_items_;
  std::vector<QCPItemRect*> pin_frames_;  // the coloured ones of these
  std::vector<QCPItemLine*> group_lines_;
  std::vector<PinnedHead> pinned_;
  HeadMap drawn_;
  HeadId selected_;
  bool scale_label_shown_ = true;
  bool square_ = false;
  QSize fitted_;  // of the axes, for which square cells were made
  bool paintable_ = false;
  QCPItemRect* block_frame_;
  std::optional<std::pair<HeadId, HeadId>> block_;  // two opposite corners
  // Heads of the drag or the turn of the wheel under way; empty: none.
  std::vector<HeadId> painting_;
  QPointF paint_begin_;
  bool paint_moved_ = false;
  double wheel_change_ = 0;
  QTimer wheel_ends_;
  int64_t heads_per_key_value_head_ = 1;
};

}  // namespace midscope
