// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/prompt_text.h"

#include <QCoreApplication>
#include <algorithm>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "gui/base/display_text.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"

namespace midscope {

namespace {

// Token texts are made for labels (\n for a line end). The shown text is that of the prompt, in
// which the tokens begin at byte offsets.
void FindTokens(const Record& prompt, PromptText& result) {
  const QVector<double> bytes = LastAxisRow(prompt, "token_begin", {});
  result.text = TextAttribute(prompt, "text");
  if (result.text.isEmpty() || bytes.size() != result.tokens.size()) {
    result.begins.append(0);
    for (const QString& token : result.tokens) {
      result.begins.append(result.begins.last() + static_cast<int>(token.size()));
    }
    result.text = result.tokens.join(QString());
    return;
  }
  const QString& text = result.text;
  qsizetype unit = 0;  // UTF-16 offset, as in QTextDocument
  double byte = 0;     // UTF-8 offset, as in the record
  for (const double begin : bytes) {
    while (unit < text.size() && byte < begin) {
      const bool pair = text[unit].isHighSurrogate() && unit + 1 < text.size();
      const char16_t code = text[unit].unicode();
      byte += pair ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
      unit += pair ? 2 : 1;
    }
    result.begins.append(static_cast<int>(unit));
  }
  result.begins.append(static_cast<int>(text.size()));
}

}  // namespace

PromptText ReadPromptText(const Record* prompt) {
  PromptText result;
  if (!prompt) {
    result.begins = {0};
    return result;
  }
  result.tokens = Texts(*prompt, "token_text");
  result.gold = GoldTokens(*prompt);
  FindTokens(*prompt, result);
  const QStringList names = Texts(*prompt, kSpanName);
  const QVector<double> begins = LastAxisRow(*prompt, "span_token_begin", {});
  const QVector<double> ends = LastAxisRow(*prompt, "span_token_end", {});
  for (qsizetype i = 0; i < std::min({names.size(), begins.size(), ends.size()}); ++i) {
    TokenSpan span{names[i].toStdString(), static_cast<int64_t>(begins[i]),
                   static_cast<int64_t>(ends[i])};
    const bool gold = span.begin == result.gold.begin && span.end == result.gold.end;
    if (!gold) result.pieces.push_back(std::move(span));
  }
  return result;
}

namespace {

std::vector<std::string> AxesByPassage() { return {"place", "layer", "head", "passage"}; }

// All named passages in the order of the text.
std::vector<TokenSpan> SpansOf(const PromptText& text) {
  std::vector<TokenSpan> spans = text.pieces;
  if (!text.gold.empty()) spans.push_back(text.gold);
  std::stable_sort(spans.begin(), spans.end(),
                   [](const TokenSpan& a, const TokenSpan& b) { return a.begin < b.begin; });
  return spans;
}

QVector<double> OfPassages(const Record& record, const TokenSource& source,
                           const TokenContext& context) {
  const int64_t place = AxisIndexOf(record, "place", static_cast<double>(context.place));
  const std::vector<TokenSpan> spans = SpansOf(context.text);
  const QVector<double> row =
      LastAxisRow(record, source.array, {place, context.head.layer, context.head.head});
  if (place < 0 || row.size() != std::ssize(spans)) return {};
  QVector<double> values(context.text.tokens.size(), 0);
  for (qsizetype i = 0; i < row.size(); ++i) {
    const TokenSpan& span = spans[static_cast<size_t>(i)];
    for (int64_t at = span.begin; at < std::min<int64_t>(span.end, values.size()); ++at)
      values[at] = row[i];
  }
  return values;
}

bool IsTokenAxis(const std::string& axis) {
  return axis == "key" || axis == "token" || axis == "position";
}

QString NameOfArray(const Record& record, const Array& array) {
  QString name = QString::fromStdString(record.name);
  if (array.name != record.name) name += QStringLiteral(": ") + QString::fromStdString(array.name);
  return name.replace('_', ' ');
}

}  // namespace

std::vector<TokenSource> SourcesOf(const Record& record, const PromptText& text) {
  const int64_t tokens = text.tokens.size();
  std::vector<TokenSource> sources;
  for (const Array& array : record.arrays) {
    if (array.axes == AxesByPassage() && AxisSize(record, "passage") == std::ssize(SpansOf(text))) {
      sources.push_back(
          {TokenSource::Kind::kOfPassage,
           record.name + "/" + array.name,
           QCoreApplication::translate("midscope", "%1 of the head").arg(ArrayWords(array.name)),
           record.name,
           array.name,
           {}});
      continue;
    }
    if (array.axes.empty() || !IsTokenAxis(array.axes.back()) || !IsMeasured(array)) continue;
    if (AxisSize(record, array.axes.back()) != tokens) continue;
    const bool of_head = !HeadAxes(record, array, {}, {array.axes.back()}).empty();
    if (array.axes.size() != 1 && !of_head) continue;
    const auto kind = of_head ? TokenSource::Kind::kOfHead : TokenSource::Kind::kOfToken;
    sources.push_back({kind,
                       record.name + "/" + array.name,
                       NameOfArray(record, array),
                       record.name,
                       array.name,
                       {}});
  }
  return sources;
}

QVector<double> MeanOverHeads(const Record& attention) {
  const int64_t layers = AxisSize(attention, "layer");
  const int64_t heads = AxisSize(attention, "head");
  QVector<double> mean;
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (int64_t head = 0; head < heads; ++head) {
      const QVector<double> row = LastAxisRow(attention, kLastQueryAttention, {layer, head});
      if (mean.isEmpty()) mean.resize(row.size(), 0);
      for (qsizetype key = 0; key < std::min(mean.size(), row.size()); ++key) mean[key] += row[key];
    }
  }
  for (double& value : mean) value /= static_cast<double>(layers * heads);
  return mean;
}

QVector<double> MeanOverLayers(const Record& hidden, int64_t channel, const LayerSet& layers) {
  QVector<double> mean;
  const int64_t index = AxisIndexOf(hidden, "channel", static_cast<double>(channel));
  if (index < 0 || !HasArray(hidden, kHiddenChannel, {"layer", "channel", "position"})) return mean;
  const QVector<double> numbers = AxisValues(hidden, "layer");
  const bool all = layers.all || layers.ranges.empty();
  int64_t count = 0;
  for (int64_t i = 0; i < AxisSize(hidden, "layer"); ++i) {
    if (!all && !layers.Contains(static_cast<int64_t>(numbers.value(i)))) continue;
    const QVector<double> row = LastAxisRow(hidden, kHiddenChannel, {i, index});
    if (mean.isEmpty()) mean.resize(row.size(), 0);
    for (qsizetype at = 0; at < std::min(mean.size(), row.size()); ++at) mean[at] += row[at];
    ++count;
  }
  for (double& value : mean) value /= static_cast<double>(count);
  return mean;
}

QVector<double> ValuesOf(const Record* record, const TokenSource& source,
                         const TokenContext& context) {
  if (!record) return {};
  const HeadId head = context.head;
  switch (source.kind) {
    case TokenSource::Kind::kHead:
    case TokenSource::Kind::kOfHead:
      return RowOfHead(*record, source.array, head);
    case TokenSource::Kind::kPinned:
      return LastAxisRow(*record, source.array, {source.head.layer, source.head.head});
    case TokenSource::Kind::kMeanOfHeads:
      return MeanOverHeads(*record);
    case TokenSource::Kind::kChannel:
      return MeanOverLayers(*record, context.channel, context.layers);
    case TokenSource::Kind::kOfToken:
      return LastAxisRow(*record, source.array, {});
    case TokenSource::Kind::kOfPassage:
      return OfPassages(*record, source, context);
  }
  return {};
}

}  // namespace midscope
