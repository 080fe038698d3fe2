// SPDX-License-Identifier: GPL-3.0-or-later
// What the head map can show of a scan over heads (record `scan`, probes/sweep/scan_effects.h): the
// effect on the answer at a place of the gold piece, its mean over places, the middle against the
// ends.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/base/view_types.h"

namespace midscope {

struct ScanView {
  QString name;        // "mean over places", "place 5"
  std::string array;   // "mean_effect"
  int64_t place = -1;  // index along the axis `place`; -1: the array has none
  bool operator==(const ScanView&) const = default;
};

// In the order of a list; empty for null, and for a scan that does not go over heads.
std::vector<ScanView> ScanViews(const Record* scan);

// The effect of a head in nats (above 0 the answer is less likely without it); NaN for none.
double ScanEffectOf(const Record& scan, const ScanView& view, HeadId head);

// "effect 0.48 [0.21, 0.75]\np 0.012": with the bounds and p that the record has.
QString ScanEffectText(const Record& scan, const ScanView& view, HeadId head);

}  // namespace midscope
