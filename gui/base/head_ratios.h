// SPDX-License-Identifier: GPL-3.0-or-later
// Tables with one position ratio per head: the changes that users and controls make to them, and
// the files that the setting ratios(FILE) reads.
#pragma once

#include <QString>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/base/head_quantities.h"
#include "gui/base/view_types.h"

namespace midscope {

// A table in which every head has the given ratio.
HeadRatioTable EqualRatios(int64_t layers, int64_t heads, double ratio);
// Multiplies the ratios of the given heads by e^change, rounded to three decimals and clamped to
// the valid range of a ratio.
HeadRatioTable ScaledRatios(HeadRatioTable table, const std::vector<HeadId>& heads, double change);
// Sets the ratio of the given heads.
HeadRatioTable WithRatios(HeadRatioTable table, const std::vector<HeadId>& heads, double ratio);
// In each layer, gives the smallest ratio to the head with the highest score, and so on, as in
// Ms-PoE. Permutes the layer's ratios; if all of them are equal, uses 1.2 to 1.8 in equal
// steps instead. Returns the table unchanged if the scores have another shape or some are missing.
HeadRatioTable RatiosByScore(HeadRatioTable table, const HeadTable& scores);
// Reverses the order of the ratios in each layer: the head with the smallest ratio gets the
// largest, and so on. A control for the effect of the order.
HeadRatioTable ReversedRatios(HeadRatioTable table);
// Gives all heads that share a key/value head the mean of their ratios.
HeadRatioTable GroupedRatios(HeadRatioTable table, int64_t heads_per_key_value_head);

// JSON text [[head 0, head 1, ...] of layer 0, ...], as in ratio files.
std::string RatioJson(const HeadRatioTable& table);
// The folder in which the window stores ratio files, one per distinct table.
QString RatioFolder();
// The first part of the name of files with ratios that were edited from Ms-PoE's ratios.
inline constexpr char kEditedMsPoe[] = "ms-poe-edited-";
// Whether the file contains ratios that were edited from Ms-PoE's ratios (by the file's name).
bool IsEditedMsPoe(const std::string& file);
// Sets the table's file name to the file in `folder` for its ratios; if `write`, also writes that
// file. A table that began as Ms-PoE's keeps the first part of its name. Throws Error if the file
// cannot be written.
HeadRatioTable InFolder(HeadRatioTable table, const QString& folder, bool write);

}  // namespace midscope
