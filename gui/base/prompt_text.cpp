// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/prompt_text.h"

#include <algorithm>

#include "core/base/record_names.h"
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

}  // namespace midscope
