// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <QVector>

#include "core/base/record.h"
#include "gui/base/head_quantities.h"
#include "gui/plots/attention_plot.h"

namespace midscope {

// The smallest height of a plot of attention, in pixels.
inline constexpr int kAttentionHeight = 110;

// Reads the per-head rows that AttentionPanel draws from records.

// The attention of a head in the record, by key; empty if missing.
QVector<double> AttentionRow(const Record* record, HeadId head);

// The mean over heads [first, first + count) of a layer, by key; empty if missing.
QVector<double> MeanAttentionRow(const Record& record, int64_t layer, int64_t first, int64_t count);

// The keys that the head's position-awareness score counts. Empty unless the record belongs to the
// same setting as `attention`.
CountedRow CountedKeysRow(const Record* record, const Record* attention, HeadId head);

}  // namespace midscope
