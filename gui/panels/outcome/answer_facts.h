// SPDX-License-Identifier: GPL-3.0-or-later
// The question and the model's answer, read from the session's records.
#pragma once

#include <QString>
#include <QStringList>
#include <limits>
#include <optional>

#include "core/base/record.h"
#include "gui/base/view_types.h"
#include "gui/session/record_name.h"

namespace midscope {

class Session;

// Facts of the shown prompt.
struct ShownAnswer {
  QString question;           // the passage `question` and what follows it, else the last line
  QString answer;             // "": nothing is expected
  QStringList answer_tokens;  // its tokens; empty where they are not known
};
ShownAnswer ShownAnswerOf(const Session& session);

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Facts of one side. NaN, -1 and nullopt: not known.
struct SaidFacts {
  RecordName name;  // that of the next tokens, or else of the outcome
  QString next;     // the likeliest next token; "": not known
  double next_probability = kNoNumber;
  QString answer_token;  // the answer's first token
  double answer_probability = kNoNumber;
  int64_t answer_rank = -1;       // 0: the likeliest
  double answer_nll = kNoNumber;  // nats
  // "place 7": the only piece whose answer begins with the likeliest next token; "": not known, or
  // several do.
  QString answered_place;
  std::optional<bool> right;   // the greedy continuation is the answer
  bool outcome_older = false;  // answer_nll and right are not of the requested setting
  bool known() const { return !next.isEmpty() || answer_nll == answer_nll; }
};
SaidFacts SaidOf(const Session& session, Side side);

// "the model's next token is ' London', with a space": where the likeliest next token is the
// answer's beginning but for the white space in front; "" else.
QString SpaceWarning(const ShownAnswer& asked, const SaidFacts& said);

// "| paper|": tokens between bars.
QString TokensText(const QStringList& tokens);
// Tokens of generated text; empty for null.
QStringList GeneratedTokens(const Record* generation);
// "ends here", "cut at 32 tokens", "empty", "…" while it goes on; "" for null.
QString EndText(const Record* generation);
// Index of the first token that differs; the shorter text's length where one begins the other; -1
// where both are equal or one is empty.
qsizetype FirstDifference(const QStringList& a, const QStringList& b);

}  // namespace midscope
