// SPDX-License-Identifier: GPL-3.0-or-later
// TextPanel: the tokens of its texts. A second model may split a text into other tokens; A and B
// are then compared by characters, and the selection, which is in tokens of A, is translated.
#include <QPushButton>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/record_names.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

constexpr int kQueryLetters = 18;
constexpr int kQueryFrame = 16;  // pixels beside a button's text

}  // namespace

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
  ShowQuery();
}

void TextPanel::MakeQueryButton() {
  query_ = Named(new QPushButton(this), "text_query");
  query_->setAccessibleName(tr("Token whose attention is shown"));
  // Its width does not depend on the token.
  query_->setFixedWidth(kQueryLetters * fontMetrics().averageCharWidth());
  connect(query_, &QPushButton::clicked, this, &TextPanel::ChooseQuery);
}

// The clicked token becomes the query; without one, the last token does.
void TextPanel::ChooseQuery() {
  const int64_t token = selection()->locked_token();
  const bool other = token >= 0 && token != session()->query_row();
  session()->SetQueryRow(other ? std::optional(token) : std::nullopt);
}

void TextPanel::ShowQuery() {
  const std::optional<int64_t> row = session()->query_row();
  const int64_t token = selection()->locked_token();
  const auto last = static_cast<int64_t>(text_of_a_.tokens.size()) - 1;
  const bool other = token >= 0 && token < last && token != row;
  const QString shown = other ? tr("From “%1”").arg(text_of_a_.tokens.value(token).trimmed())
                        : row ? tr("Back to the last")
                              : tr("From the last token");
  query_->setText(fontMetrics().elidedText(shown, Qt::ElideRight, query_->width() - kQueryFrame));
  query_->setEnabled(session()->ready() && (other || row));
  query_->setToolTip(
      other ? tr("Shows what token %1 attends to, in every panel with attention: one full run")
                  .arg(token)
      : row ? tr("Shows the attention of the last token again, which is the one that answers")
            : tr("The attention shown is that of the last token. Click a token in the text to see "
                 "what it attends to."));
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
