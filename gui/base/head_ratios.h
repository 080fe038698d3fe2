// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of a position ratio per head: what is done to them by hand and as controls, and the files
// that ratios(FILE) reads.
#pragma once

#include <QString>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/base/head_quantities.h"
#include "gui/base/view_types.h"

namespace midscope {

// Every head with the ratio.
HeadRatioTable EqualRatios(int64_t layers, int64_t heads, double ratio);
// The ratios of these heads times e^change, to three decimals and within what a ratio may be.
HeadRatioTable ScaledRatios(HeadRatioTable table, const std::vector<HeadId>& heads, double change);
// The heads with this ratio.
HeadRatioTable WithRatios(HeadRatioTable table, const std::vector<HeadId>& heads, double ratio);
// In each layer the head with the highest score has the least ratio, as in Ms-PoE. The ratios are
// those of the layer; where these are all one value, they are from 1.2 to 1.8 in equal steps.
// Unchanged where the scores are of another shape or some are missing.
HeadRatioTable RatiosByScore(HeadRatioTable table, const HeadTable& scores);
// In each layer the head with the least ratio gets the largest, and so on: the control of an order.
HeadRatioTable ReversedRatios(HeadRatioTable table);
// Heads with one key/value head have the mean of their ratios.
HeadRatioTable GroupedRatios(HeadRatioTable table, int64_t heads_per_key_value_head);

// [[head 0, head 1, ...] of layer 0, ...].
std::string RatioJson(const HeadRatioTable& table);
// The folder in which the window keeps files of ratios, one per set of numbers.
QString RatioFolder();
// Names the table after the file in the folder that its numbers have; `write`: writes the file.
// Throws Error where it can't be written.
HeadRatioTable InFolder(HeadRatioTable table, const QString& folder, bool write);

}  // namespace midscope
