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

// Facts about the shown prompt.
struct ShownAnswer {
  QString question;           // the passage `question` and the text after it, else the last line
  QString answer;             // the expected answer; "": none
  QStringList answer_tokens;  // tokens of `answer`; empty if unknown
};
ShownAnswer ShownAnswerOf(const Session& session);

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Facts about the model's output on one side. NaN, -1 and nullopt: unknown.
struct SaidFacts {
  RecordName name;  // caption of the next tokens' record, or else of the outcome's
  QString next;     // the most likely next token; "": unknown
  double next_probability = kNoNumber;
  QString answer_token;  // the answer's first token
  double answer_probability = kNoNumber;
  int64_t answer_rank = -1;       // 0: the most likely token
  double answer_nll = kNoNumber;  // nats
  // "place 7": the only piece whose answer begins with the most likely next token; "" if unknown or
  // if several do.
  QString answered_place;
  std::optional<bool> right;  // whether the greedy continuation is the answer
  double noise = 0;           // nats; smaller differences are rounding noise (NoiseOf)
  // Answer_nll and right are for another setting than the requested one.
  bool outcome_older = false;
  bool known() const { return !next.isEmpty() || answer_nll == answer_nll; }
};
SaidFacts SaidOf(const Session& session, Side side);

// The rounding noise of a record `outcome` in nats (kAnswerNllNoise); 0 if it has none or is null.
double NoiseOf(const Record* outcome);

// If the most likely next token is the beginning of the answer except for leading white space,
// returns "the model's next token is ' London', with a space"; else "".
QString SpaceWarning(const ShownAnswer& shown, const SaidFacts& said);

// The tokens between bars: "| paper|".
QString TokensText(const QStringList& tokens);
// Tokens of the generated text; empty if `generation` is null.
QStringList GeneratedTokens(const Record* generation);
// How the generated text ends: "ends here", "cut at 32 tokens", "empty", or "…" while it is being
// generated; "" if `generation` is null.
QString EndText(const Record* generation);
// Index of the first token that differs, or the shorter list's length if it is a prefix of the
// other; -1 if the lists are equal or one is empty.
qsizetype FirstDifference(const QStringList& a, const QStringList& b);

}  // namespace midscope
