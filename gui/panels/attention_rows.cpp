// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention_rows.h"

#include <algorithm>
#include <variant>

#include "core/base/record_lookup.h"
#include "core/base/record_names.h"
#include "gui/base/record_access.h"

namespace midscope {

QVector<double> AttentionRow(const Record* record, HeadId head) {
  if (!record) return {};
  return LastAxisRow(*record, kLastQueryAttention, {head.layer, head.head});
}

QVector<double> MeanAttentionRow(const Record& record, int64_t layer, int64_t first,
                                 int64_t count) {
  QVector<double> mean;
  for (int64_t head = first; head < first + count; ++head) {
    const QVector<double> row = AttentionRow(&record, {layer, head});
    if (mean.isEmpty()) mean.resize(row.size(), 0);
    for (qsizetype key = 0; key < std::min(mean.size(), row.size()); ++key) {
      mean[key] += row[key] / static_cast<double>(count);
    }
  }
  return mean;
}

CountedRow CountedKeysRow(const Record* record, const Record* attention, HeadId head) {
  const char* setting = "intervention";
  if (!record || !attention ||
      AttributeText(*record, setting) != AttributeText(*attention, setting)) {
    return {};
  }
  const auto threshold = record->attributes.find(kThresholdWeight);
  if (threshold == record->attributes.end()) return {};
  const auto* weight = std::get_if<double>(&threshold->second);
  return {LastAxisRow(*record, kCountedKeys, {head.layer, head.head}), weight ? *weight : 0,
          QString::fromStdString(AttributeText(*record, "threshold"))};
}

}  // namespace midscope
