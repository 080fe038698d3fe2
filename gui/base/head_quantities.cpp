// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/head_quantities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <QCoreApplication>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"

namespace midscope {

namespace {

constexpr char kMixerLayer[] = "mixer_layer";
// Larger tables, of a foreign file, are not drawn.
constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kMostCells = 10'000'000;

// Whether the array has exactly the given axes, all elements and numeric data.
bool IsNumberArray(const Record& record, const Array& array, const std::vector<std::string>& axes) {
  return array.axes == axes && !std::holds_alternative<std::vector<std::string>>(array.data) &&
         HasArray(record, array.name, axes);
}

// The layers of an axis of layers, which only that of mixers counts by their numbers; empty if they
// are no layers.
std::vector<int64_t> LayersOf(const Record& record, const std::string& axis) {
  std::vector<int64_t> layers;
  const QVector<double> values = AxisValues(record, axis);
  layers.reserve(static_cast<size_t>(values.size()));
  for (qsizetype i = 0; i < values.size(); ++i) {
    const double layer = axis == kMixerLayer ? values[i] : static_cast<double>(i);
    if (!(layer >= 0 && layer < kMostLayers)) return {};
    layers.push_back(static_cast<int64_t>(layer));
  }
  return layers;
}

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

QString Text(const char* text) { return QCoreApplication::translate("midscope", text); }

bool Attends(std::span<const float> row) {
  return std::any_of(row.begin(), row.end(), [](float weight) { return weight != 0; });
}

double OnSpan(std::span<const float> row, const TokenSpan& tokens) {
  return tokens.empty() ? kNotMeasured : SumOver(row, tokens);
}

double OverUniform(std::span<const float> row, const MarkedTokens& tokens) {
  if (tokens.gold.empty()) return kNotMeasured;
  const auto share =
      static_cast<double>(tokens.gold.end - tokens.gold.begin) / static_cast<double>(row.size());
  return SumOver(row, tokens.gold) / share;
}

double Entropy(std::span<const float> row, const MarkedTokens& /*tokens*/) {
  double entropy = 0;
  for (const float each : row) {
    const auto weight = static_cast<double>(each);
    if (std::isnan(weight)) return kNotMeasured;
    if (weight > 0) entropy -= weight * std::log(weight);
  }
  return entropy;
}

double Centre(std::span<const float> row, const MarkedTokens& /*tokens*/) {
  double sum = 0;
  double moment = 0;
  for (size_t key = 0; key < row.size(); ++key) {
    const auto weight = static_cast<double>(row[key]);
    sum += weight;
    moment += weight * static_cast<double>(key);
  }
  if (!(sum > 0)) return kNotMeasured;
  return row.size() < 2 ? 0 : moment / sum / static_cast<double>(row.size() - 1);
}

std::vector<AttentionQuantity> MakeQuantities() {
  return {
      {"gold", Text("attention on gold"), "",
       Text("sum of the last query's attention weights over the gold passage"),
       [](std::span<const float> row, const MarkedTokens& tokens) {
         return OnSpan(row, tokens.gold);
       }},
      {"gold_over_uniform", Text("gold over uniform"), Text("times"),
       Text("attention on gold, divided by the gold passage's share of the tokens: 1 is what equal "
            "weights would give"),
       OverUniform},
      {"first", Text("attention on the first %1 tokens (sink)").arg(kSinkTokens), "",
       Text("sum of the weights of the first tokens, which take what a head has no use for"),
       [](std::span<const float> row, const MarkedTokens& /*tokens*/) {
         return SumOver(row, {"", 0, kSinkTokens});
       }},
      {"last", Text("attention on the last %1 tokens").arg(kLastTokens), "",
       Text("sum of the weights of the last tokens, the query's own among them"),
       [](std::span<const float> row, const MarkedTokens& /*tokens*/) {
         const auto keys = static_cast<int64_t>(row.size());
         return SumOver(row, {"", std::max<int64_t>(keys - kLastTokens, 0), keys});
       }},
      {"selection", Text("attention on the selected tokens"), "",
       Text("sum of the weights of the tokens that are selected in the text or in a plot"),
       [](std::span<const float> row, const MarkedTokens& tokens) {
         return OnSpan(row, tokens.range);
       }},
      {"entropy", Text("entropy of the row"), Text("nats"),
       Text("−Σ p ln p over the keys: 0 is one token, ln(tokens) equal weights"), Entropy},
      {"centre", Text("centre of attention"), Text("share of the prompt"),
       Text("mean position of the keys, weighted by attention: 0 is the first token, 1 the last"),
       Centre},
  };
}

}  // namespace

const std::vector<AttentionQuantity>& AttentionQuantities() {
  static const std::vector<AttentionQuantity> list = MakeQuantities();
  return list;
}

const AttentionQuantity* FindAttentionQuantity(const std::string& id) {
  for (const AttentionQuantity& quantity : AttentionQuantities()) {
    if (quantity.id == id) return &quantity;
  }
  return nullptr;
}

HeadTable QuantityTable(const AttentionQuantity& quantity, const Record* attention,
                        const MarkedTokens& tokens) {
  HeadTable table;
  if (!attention || !HasArray(*attention, kLastQueryAttention, {"layer", "head", "key"})) {
    return table;
  }
  table.layers = AxisSize(*attention, "layer");
  table.heads = AxisSize(*attention, "head");
  table.values.reserve(static_cast<size_t>(table.layers * table.heads));
  // Avoids a copy of the array if the file stores float: a sum over few tokens then reads only
  // their elements.
  const auto* own =
      std::get_if<std::vector<float>>(&attention->FindArray(kLastQueryAttention)->data);
  const auto keys = static_cast<size_t>(AxisSize(*attention, "key"));
  std::vector<float> copy;
  for (int64_t layer = 0; layer < table.layers; ++layer) {
    for (int64_t head = 0; head < table.heads; ++head) {
      std::span<const float> row;
      if (own) {
        row = std::span(*own).subspan(static_cast<size_t>(layer * table.heads + head) * keys, keys);
      } else {
        const QVector<double> read = LastAxisRow(*attention, kLastQueryAttention, {layer, head});
        copy.assign(read.begin(), read.end());
        row = copy;
      }
      table.values.push_back(Attends(row) ? quantity.value(row, tokens) : kNotMeasured);
    }
  }
  return table;
}

void ClearWithoutAttention(const Record* attention, HeadTable& table) {
  const AttentionQuantity any{
      "", {}, {}, {}, [](std::span<const float>, const MarkedTokens&) { return 0.0; }};
  const HeadTable attends = QuantityTable(any, attention, {});
  if (attends.values.size() != table.values.size()) return;
  for (size_t i = 0; i < table.values.size(); ++i) table.values[i] += attends.values[i];
}

std::vector<std::string> HeadAxes(const Record& record, const Array& array,
                                  const std::vector<std::string>& leading,
                                  const std::vector<std::string>& trailing) {
  for (const auto& [layer, head] : {std::pair("layer", "head"), {kMixerLayer, "mixer_head"}}) {
    std::vector<std::string> axes = leading;
    axes.insert(axes.end(), {layer, head});
    axes.insert(axes.end(), trailing.begin(), trailing.end());
    if (IsNumberArray(record, array, axes)) return axes;
  }
  return {};
}

bool IsHeadArray(const Record& record, const Array& array) {
  return !HeadAxes(record, array, {}).empty();
}

bool IsHeadArrayByPlace(const Record& record, const Array& array) {
  return !HeadAxes(record, array, {"place"}).empty();
}

HeadTable ArrayTable(const Record* record, const std::string& array, std::optional<int64_t> place) {
  HeadTable table;
  const Array* found = record ? record->FindArray(array) : nullptr;
  if (!found) return table;
  std::vector<std::vector<int64_t>> parts;  // leading indices whose mean is returned
  std::vector<std::string> axes = HeadAxes(*record, *found, {});
  if (!axes.empty()) {
    parts = {{}};
  } else if (axes = HeadAxes(*record, *found, {"place"}); !axes.empty()) {
    const int64_t index = place ? AxisIndexOf(*record, "place", static_cast<double>(*place)) : -1;
    for (int64_t at = 0; at < AxisSize(*record, "place"); ++at) {
      if (!place || at == index) parts.push_back({at});
    }
  }
  if (parts.empty()) return table;
  const std::vector<int64_t> layers = LayersOf(*record, *(axes.end() - 2));
  const int64_t heads = AxisSize(*record, axes.back());
  if (layers.empty() || heads == 0) return table;
  const int64_t rows = *std::max_element(layers.begin(), layers.end()) + 1;
  if (rows > kMostCells / heads) return table;
  table.layers = rows;
  table.heads = heads;
  table.values.resize(static_cast<size_t>(table.layers * heads), kNotMeasured);
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::span row =
        std::span(table.values)
            .subspan(static_cast<size_t>(layers[i] * heads), static_cast<size_t>(heads));
    std::fill(row.begin(), row.end(), 0);
    for (std::vector<int64_t> part : parts) {
      part.push_back(static_cast<int64_t>(i));
      const QVector<double> values = LastAxisRow(*record, array, part);
      for (qsizetype head = 0; head < std::min<qsizetype>(values.size(), heads); ++head)
        row[static_cast<size_t>(head)] += values[head] / std::ssize(parts);
    }
  }
  return table;
}

QVector<double> RowOfHead(const Record& record, const std::string& array, HeadId head) {
  const Array* found = record.FindArray(array);
  if (!found || found->axes.size() != 3) return {};
  const std::string& axis = found->axes.front();
  const int64_t layer =
      axis == kMixerLayer ? AxisIndexOf(record, axis, static_cast<double>(head.layer)) : head.layer;
  return layer < 0 ? QVector<double>() : LastAxisRow(record, array, {layer, head.head});
}

HeadTable Difference(const HeadTable& a, const HeadTable& b) {
  if (a.layers != b.layers || a.heads != b.heads) return {};
  HeadTable difference = b;
  for (size_t i = 0; i < difference.values.size(); ++i) difference.values[i] -= a.values[i];
  return difference;
}

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
