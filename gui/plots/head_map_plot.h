// SPDX-License-Identifier: GPL-3.0-or-later
// A number of every head: layers downwards, heads across. The position-awareness score in Viridis;
// for the difference B - A, and for the effect of a scan, blue (more) or red (less) around exact
// zero; grey for no value.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"
#include "gui/plots/plot.h"
#include "gui/plots/scan_views.h"

namespace midscope {

class HeadMapPlot : public Plot {
  Q_OBJECT

 public:
  explicit HeadMapPlot(QWidget* parent = nullptr);

  // Query heads per key/value head, for the labels `L12H3 (KV1)`; 1: every head has its own.
  void SetHeadsPerKeyValueHead(int64_t heads);
  // Records with position_awareness_score [layer, head], and position_ratio [layer, head] of the
  // shown side; null for none.
  void Show(const Record* score_a, const Record* score_b, const Record* ratio_a,
            const Record* ratio_b, MapMode mode);
  // The effects of a scan, of ScanViews(&scan).
  void ShowScan(const Record& scan, const ScanView& view);
  // The selection is kept; on a smaller map the marker is at the nearest cell, on an empty one not
  // drawn.
  void SelectHead(midscope::HeadId head);
  QRectF marked_cell() const;  // in axis coordinates; empty for none

  HeadId selected() const { return selected_; }
  int64_t layers() const { return layers_; }
  int64_t heads() const { return heads_; }
  QString HeadName(HeadId head) const;
  QString scale_label() const;  // what the colours stand for
  // The drawn value; NaN outside.
  double CellValue(HeadId head) const;
  // 1 for the head with the largest value of all layers; 0 where it has none.
  int64_t Rank(HeadId head) const;
  std::optional<HeadId> HeadAt(const QPointF& position) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  void HeadChosen(midscope::HeadId head);

 protected:
  void ClickAt(const QPointF& position) override;
  void keyPressEvent(QKeyEvent* event) override;
  void RestyleData() override;

 private:
  // Draws these, unless they are drawn already.
  void SetValues(std::vector<double> values, int64_t layers, int64_t heads);
  bool diverging() const { return scan_view_ || mode_ == MapMode::kDifference; }
  QString ValueText(HeadId head, double value) const;
  void DrawCells();
  void PlaceMarker();
  void SetScale();

  QCPColorMap* map_;
  QCPColorScale* scale_;
  QCPItemRect* marker_;
  Record ratio_;
  Record scan_;
  std::optional<ScanView> scan_view_;  // none: scores are shown
  std::vector<double> values_;         // [layer, head], as drawn
  MapMode mode_ = MapMode::kA;
  HeadId selected_;
  int64_t layers_ = 0;
  int64_t heads_ = 0;
  int64_t heads_per_key_value_head_ = 1;
};

}  // namespace midscope
