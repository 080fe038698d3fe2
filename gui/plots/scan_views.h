// SPDX-License-Identifier: GPL-3.0-or-later
// Views of a scan (record `scan`, probes/sweep/scan_effects.h): the effect on the answer at one
// gold place, its mean over places, the middle place compared with the ends, and for patches the
// recovered share.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"
#include "gui/plots/bar_plot.h"

namespace midscope {

struct ScanView {
  QString name;        // "mean over places", "place 5"
  std::string array;   // "mean_effect"
  int64_t place = -1;  // index along the axis `place`; -1: the array has none
  bool operator==(const ScanView&) const = default;
};

// All views in the order of a list; empty if `scan` is null.
std::vector<ScanView> ScanViews(const Record* scan);

// Whether the scanned items are heads, so that the head map can show it.
bool IsHeadScan(const Record* scan);

// The effect of a head in nats (above 0: the answer is less likely without the head); NaN if there
// is none.
double ScanEffectOf(const Record& scan, const ScanView& view, HeadId head);

// Returns "effect 0.48 [0.21, 0.75]\np 0.012"; bounds and p are omitted if the record lacks them.
QString ScanEffectText(const Record& scan, const ScanView& view, HeadId head);

// The `most` items with the largest absolute values, largest first, named as in `midscope scan`
// ("L3H2", "channel 100", "L3 gold"). Omits items that have not run.
QVector<BarPlot::Bar> LargestItems(const Record& scan, const ScanView& view, qsizetype most);

// The name of the item at these indices of the axes of items.
QString ScanItemName(const Record& scan, const std::vector<int64_t>& at);

// A record with only the view's array, over the axes of items, for a RecordPlot. The array has the
// name ScanValueName(view).
Record GridOfView(const Record& scan, const ScanView& view);

// Returns "effect (nats)" or "share of the effect restored".
QString ScanValueName(const ScanView& view);

// Explains the sign of a value: "above 0: the change makes the answer less likely".
QString ScanValueNote(const ScanView& view);

// The term and the view: "ablate(each head) — place 5".
QString ScanTitle(const Record& scan, const ScanView& view);

}  // namespace midscope
