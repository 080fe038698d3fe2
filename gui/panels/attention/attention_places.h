// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include <QVector>

#include "core/base/record.h"
#include "gui/base/head_quantities.h"
#include "gui/plots/attention_plot.h"

namespace midscope {

// Rows of heads out of records, as AttentionPanel draws them.

// The record's attention of a head, by key; empty where it has none.
QVector<double> AttentionRow(const Record* record, HeadId head);

// The mean of heads [first, first + count) of a layer, by key; empty where the record has none.
QVector<double> MeanAttentionRow(const Record& record, int64_t layer, int64_t first, int64_t count);

// Keys that the score of a head counts, where the record is of the run that made `attention`.
CountedRow CountedKeysRow(const Record* record, const Record* attention, HeadId head);

}  // namespace midscope
