// SPDX-License-Identifier: GPL-3.0-or-later
// Session: the attention of another token of the prompt than the last one. Capture runs bring it as
// record attention_rows.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"

namespace midscope {
namespace {

constexpr char kRows[] = "attention_rows";
constexpr char kRowAttention[] = "row_attention";  // [layer, head, row, key]
constexpr char kAttentionAt[] = "attention-at";

// One row of record attention_rows in the form of record last_query_attention; nullptr if the
// record lacks the row.
std::shared_ptr<const Record> AttentionOfRow(const Record& rows, int64_t row,
                                             const QString& token) {
  const int64_t at = AxisIndexOf(rows, "row", static_cast<double>(row));
  const Array* array = rows.FindArray(kRowAttention);
  const auto* all = array ? std::get_if<std::vector<float>>(&array->data) : nullptr;
  if (at < 0 || !all) return nullptr;
  const int64_t count = AxisSize(rows, "row");
  const int64_t keys = AxisSize(rows, "key");
  const int64_t heads = AxisSize(rows, "layer") * AxisSize(rows, "head");
  std::vector<float> weights;
  weights.reserve(static_cast<size_t>(heads * keys));
  for (int64_t head = 0; head < heads; ++head) {
    const auto begin = all->begin() + (head * count + at) * keys;
    weights.insert(weights.end(), begin, begin + keys);
  }
  auto record = std::make_shared<Record>();
  record->name = kLastQueryAttention;
  for (const char* axis : {"layer", "head", "key"}) record->axes.push_back(*rows.FindAxis(axis));
  record->arrays = {{kLastQueryAttention,
                     {"layer", "head", "key"},
                     std::move(weights),
                     "",
                     "attention of one token of the prompt, 0 for keys behind it"}};
  record->attributes = rows.attributes;
  record->attributes[kQueryRow] = row;
  record->attributes[kQueryToken] = token.toStdString();
  return record;
}

}  // namespace

const Record* Session::attention(Side side) const {
  if (!query_row()) return record(side, kLastQueryAttention);
  if (side == Side::kB && !differs()) return nullptr;
  return shown_->state(side).query_attention.get();
}

void Session::SetQueryRow(std::optional<int64_t> row) {
  const Record* shown = live_.prompt();
  const int64_t tokens = shown ? IntegerAttribute(*shown, "prompt_tokens", 0) : 0;
  if (row && (*row < 0 || *row >= tokens - 1)) row.reset();
  if (row == std::exchange(query_row_, row)) return;
  for (SideView* side : {&live_.a, &live_.b}) side->query_attention.reset();
  MarkLive(Change::kWhatIfRecords);
  if (second_) {
    const int64_t of_b = row ? TokenFor(*this, Side::kA, *row, Side::kB) : -1;
    second_->SetQueryRow(of_b < 0 ? std::nullopt : std::optional(of_b));
  }
  if (row) RepeatCaptureRuns();
}

// The options of probes, and the row of the query if another than the last is shown.
std::string Session::AskedProbeOptions() const {
  if (!query_row_) return probe_options_;
  nlohmann::json options = nlohmann::json::parse(probe_options_);
  std::string rows = options.value(kAttentionAt, "");
  if (!rows.empty()) rows += ',';
  options[kAttentionAt] = rows + std::to_string(*query_row_);
  return options.dump();
}

void Session::TakeQueryRow(SideView& side) const {
  const auto rows = side.records.find(kRows);
  const Record* shown = live_.prompt();
  if (!query_row_ || rows == side.records.end() || !shown) return;
  const QStringList tokens = Texts(*shown, "token_text");
  side.query_attention =
      AttentionOfRow(*rows->second, *query_row_, tokens.value(static_cast<qsizetype>(*query_row_)));
}

}  // namespace midscope
