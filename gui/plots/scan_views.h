// SPDX-License-Identifier: GPL-3.0-or-later
// Views of a scan (record `scan`, probes/sweep/scan_effects.h): the effect on the answer at a place
// of the gold piece, its mean over places, the middle against the ends, and of patches the share
// that comes back.
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

// In the order of a list; empty for null.
std::vector<ScanView> ScanViews(const Record* scan);

// Whether it goes over heads, which the head map shows.
bool IsHeadScan(const Record* scan);

// The effect of a head in nats (above 0 the answer is less likely without it); NaN for none.
double ScanEffectOf(const Record& scan, const ScanView& view, HeadId head);

// "effect 0.48 [0.21, 0.75]\np 0.012": with the bounds and p that the record has.
QString ScanEffectText(const Record& scan, const ScanView& view, HeadId head);

// The `most` items with the largest absolute values, largest first, named as `midscope scan` does
// ("L3H2", "channel 100", "L3 gold"). Items that have not run are left out.
QVector<BarPlot::Bar> LargestItems(const Record& scan, const ScanView& view, qsizetype most);

// The name of the item at these indices of the item's axes.
QString ScanItemName(const Record& scan, const std::vector<int64_t>& at);

// The view as a record with its array alone, over the items' axes, for a RecordPlot.
Record GridOfView(const Record& scan, const ScanView& view);

// "effect (nats)" or "share that comes back".
QString ScanValueName(const ScanView& view);

// The meaning of a value: "above 0: the change makes the answer less likely".
QString ScanValueNote(const ScanView& view);

// The term and the view: "ablate({head}) — place 5".
QString ScanTitle(const Record& scan, const ScanView& view);

}  // namespace midscope
