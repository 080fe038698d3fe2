// SPDX-License-Identifier: GPL-3.0-or-later
// TextPanel: the tokens of its texts. A second model may have others for the same text; A and B are
// then compared by characters, and the selection, which is in tokens of A, is translated.
#include <string>

#include "core/base/record_names.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/selection.h"

namespace midscope {

Side TextPanel::TokensOf(const TokenText* text) const {
  const bool b = text == text_b_ || drawn_mode() == Compare::kB;
  return b && !why_tokens_.isEmpty() && session()->prompt(Side::kB) ? Side::kB : Side::kA;
}

QVector<double> TextPanel::RowOn(Side of, Side tokens) const {
  const QVector<double>& row = of == Side::kA ? row_a_ : row_b_;
  const Record* from = session()->prompt(of);
  const Record* to = session()->prompt(tokens);
  if (of == tokens || why_tokens_.isEmpty() || !from || !to) return row;
  // Attention is a share, which several tokens have together; other numbers are averaged.
  return OnTokensOf(*to, *from, row, source().record == kLastQueryAttention);
}

// Sets the prompts of both texts, if they have others.
void TextPanel::ShowTokens() {
  for (TokenText* text : {text_, text_b_}) {
    const Record* prompt = session()->prompt(TokensOf(text));
    const std::string hash = prompt ? AttributeText(*prompt, "prompt_hash") : std::string();
    const auto known = texts_.find(text);
    if (known != texts_.end() && known->second == hash) continue;
    texts_[text] = hash;
    text->SetPrompt(prompt);
  }
}

void TextPanel::ShowMarks() {
  for (TokenText* text : {text_, text_b_}) {
    const Side side = TokensOf(text);
    text->SetMarkedToken(TokenFor(*session(), Side::kA, selection()->token(), side));
    text->SetLockedToken(TokenFor(*session(), Side::kA, selection()->locked_token(), side));
    text->SetRange(TokensFor(*session(), Side::kA, selection()->range(), side));
  }
}

QString TextPanel::TooltipOf(int64_t token, const TokenText* text) const {
  QString tip = QLatin1Char('\n') + NameOfRow();
  const auto at = static_cast<qsizetype>(token);
  const Side tokens = TokensOf(text);
  const QVector<double> row_a = RowOn(Side::kA, tokens);
  const QVector<double> row_b = RowOn(Side::kB, tokens);
  if (at < row_a.size()) tip += tr("\nA %1").arg(row_a[at], 0, 'g', 4);
  if (at < row_b.size()) {
    tip += tr("\nB %1").arg(row_b[at], 0, 'g', 4);
    if (at < row_a.size()) tip += tr("\nB − A %1").arg(row_b[at] - row_a[at], 0, 'g', 4);
    if (!why_tokens_.isEmpty()) tip += tr("\nby characters: %1").arg(why_tokens_);
  }
  return tip;
}

}  // namespace midscope
