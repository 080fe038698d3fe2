// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/head_choice.h"

#include <algorithm>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"

namespace midscope {

TokenSpan GoldTokens(const Record& prompt) {
  int64_t gold = IntegerAttribute(prompt, "gold", -1);
  if (gold < 0) gold = Texts(prompt, kSpanName).indexOf(QStringLiteral("gold"));
  const QVector<double> begins = LastAxisRow(prompt, "span_token_begin", {});
  const QVector<double> ends = LastAxisRow(prompt, "span_token_end", {});
  if (gold < 0 || gold >= std::min(begins.size(), ends.size())) return {};
  return {"gold", static_cast<int64_t>(begins[gold]), static_cast<int64_t>(ends[gold])};
}

HeadId MostAttentionOn(const Record& attention, const TokenSpan& tokens) {
  HeadId best;
  double most = 0;
  for (int64_t layer = 0; layer < AxisSize(attention, "layer"); ++layer) {
    for (int64_t head = 0; head < AxisSize(attention, "head"); ++head) {
      const QVector<double> row = LastAxisRow(attention, kLastQueryAttention, {layer, head});
      double sum = 0;
      for (int64_t key = tokens.begin; key < std::min<int64_t>(tokens.end, row.size()); ++key) {
        sum += row[key];
      }
      if (sum > most) {
        most = sum;
        best = {layer, head};
      }
    }
  }
  return best;
}

}  // namespace midscope
