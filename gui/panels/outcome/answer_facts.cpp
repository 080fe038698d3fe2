// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/answer_facts.h"

#include <QObject>
#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "probes/engine/settled_outcomes.h"
#include "probes/prompt/prompt_record.h"

namespace midscope {
namespace {

// The text of the passage `question` and the text after it; "" if there is no such passage.
QString QuestionPassage(const Record& prompt) {
  const QStringList names = Texts(prompt, kSpanName);
  const qsizetype span = names.indexOf(QStringLiteral("question"));
  if (span < 0) return {};
  const double token = ValueAt(prompt, "span_token_begin", {span});
  const double byte = ValueAt(prompt, "token_begin", {static_cast<int64_t>(token)});
  if (std::isnan(token) || std::isnan(byte)) return {};
  const QByteArray text = TextAttribute(prompt, "text").toUtf8();
  return QString::fromUtf8(text.mid(static_cast<qsizetype>(byte))).trimmed();
}

QString LastLine(const QString& text) {
  const QStringList lines = text.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  return lines.isEmpty() ? QString() : lines.last().trimmed();
}

// An element of an array [place] of the file's sample; "" if missing.
QString SampleText(const Session& session, const char* array) {
  for (const std::string& name : session.record_names(Side::kA)) {
    const Record* record = session.record(Side::kA, name);
    if (!record || !HasArray(*record, array, {"place"})) continue;
    const QStringList texts = Texts(*record, array);
    const auto place = static_cast<qsizetype>(session.sample_choice().place);
    return texts.value(texts.size() == 1 ? 0 : place);
  }
  return {};
}

// The place of the only piece whose answer begins with the token.
QString AnsweredPlace(const Record& prompt, const QString& token) {
  const QString word = token.trimmed();
  if (word.isEmpty() || !HasArray(prompt, kPieceAnswer, {"piece"})) return {};
  const QStringList answers = Texts(prompt, kPieceAnswer);
  qsizetype found = -1;
  for (qsizetype piece = 0; piece < answers.size(); ++piece) {
    if (!answers[piece].trimmed().startsWith(word)) continue;
    if (found >= 0) return {};
    found = piece;
  }
  if (found < 0) return {};
  return QObject::tr("place %1").arg(found + IntegerAttribute(prompt, "first_place", 1));
}

// Index of the shown place in an outcome; -1 if it is missing.
int64_t PlaceIn(const Session& session, const Record& outcome) {
  const int64_t places = AxisSize(outcome, "place");
  if (!session.shows_file())
    return places == std::ssize(session.prompts()) ? static_cast<int64_t>(session.place()) : -1;
  const Record* prompt = session.prompt();
  const int64_t place = prompt ? IntegerAttribute(*prompt, "place", 0) : 0;
  const int64_t index = AxisIndexOf(outcome, "place", static_cast<double>(place));
  return places == 1 ? 0 : index;
}

void ReadOutcome(const Session& session, Side side, SaidFacts& said) {
  const Record* outcome = session.record(side, kOutcomeRecord);
  const int64_t place = outcome ? PlaceIn(session, *outcome) : -1;
  if (place >= 0 && AxisSize(*outcome, "setting") == 1) {
    said.answer_nll = ValueAt(*outcome, kAnswerNll, {0, place});
    said.noise = NoiseOf(outcome);
    const double right = ValueAt(*outcome, "correct", {0, place});
    if (!std::isnan(right) && !std::isnan(said.answer_nll)) said.right = right > 0;
    said.outcome_older = session.ShownAsOlder(side, *outcome);
    if (!said.name.older && said.next.isEmpty()) said.name = NameOf(session, side, outcome);
    return;
  }
  const Record* answer = session.record(side, kAnswerRecord);
  if (!answer) return;
  said.answer_nll = NumberAttribute(*answer, kAnswerNll, kNoNumber);
  const int64_t right = IntegerAttribute(*answer, "correct", -1);
  if (right >= 0) said.right = right > 0;
  said.outcome_older = session.ShownAsOlder(side, *answer);
}

}  // namespace

ShownAnswer ShownAnswerOf(const Session& session) {
  ShownAnswer shown;
  if (const Record* prompt = session.prompt()) {
    shown.question = QuestionPassage(*prompt);
    if (shown.question.isEmpty()) shown.question = LastLine(TextAttribute(*prompt, "text"));
    shown.answer = TextAttribute(*prompt, "answer");
    shown.answer_tokens = Texts(*prompt, kAnswerTokenText);
  }
  if (shown.question.isEmpty()) shown.question = SampleText(session, kQuestionText);
  if (shown.answer.isEmpty()) shown.answer = SampleText(session, kAnswerText);
  return shown;
}

SaidFacts SaidOf(const Session& session, Side side) {
  SaidFacts said;
  const Record* next = session.record(side, kNextTokensRecord);
  said.name = NameOf(session, side, next);
  // Records of several prompts have further axes.
  if (next && HasArray(*next, "token_text", {"rank"})) {
    said.next = Texts(*next, "token_text").value(0);
    if (const Record* prompt = session.prompt())
      said.answered_place = AnsweredPlace(*prompt, said.next);
    said.next_probability = ValueAt(*next, "probability", {0});
    said.answer_token = TextAttribute(*next, "answer_token_text");
    said.answer_probability = NumberAttribute(*next, "answer_probability", kNoNumber);
    said.answer_rank = IntegerAttribute(*next, "answer_rank", -1);
  }
  ReadOutcome(session, side, said);
  return said;
}

double NoiseOf(const Record* outcome) {
  const double noise = outcome ? NumberAttribute(*outcome, kAnswerNllNoise, 0) : 0;
  return std::isnan(noise) ? 0 : noise;
}

QString SpaceWarning(const ShownAnswer& shown, const SaidFacts& said) {
  if (said.next.isEmpty() || shown.answer.isEmpty() || said.answer_rank == 0) return {};
  const QString next = said.next.trimmed();
  const bool begins = !next.isEmpty() && shown.answer.trimmed().startsWith(next);
  const bool spaced = said.next.startsWith(QLatin1Char(' '));
  if (!begins || spaced == shown.answer.startsWith(QLatin1Char(' '))) return {};
  return spaced
             ? QObject::tr("The model's next token is %1, with a space: begin the answer with one")
                   .arg(ShownToken(said.next))
             : QObject::tr(
                   "The model's next token is %1, without a space: leave it out of the "
                   "answer")
                   .arg(ShownToken(said.next));
}

QString TokensText(const QStringList& tokens) {
  if (tokens.isEmpty()) return {};
  return QLatin1Char('|') + tokens.join(QLatin1Char('|')) + QLatin1Char('|');
}

QStringList GeneratedTokens(const Record* generation) {
  return generation ? Texts(*generation, kNewTokenText) : QStringList();
}

QString EndText(const Record* generation) {
  if (!generation) return {};
  if (IntegerAttribute(*generation, "complete", 1) == 0) return QString(QChar(0x2026));
  const bool empty = IntegerAttribute(*generation, "empty", 0) != 0;
  if (IntegerAttribute(*generation, "cut", 0) != 0) {
    const QString cut = QObject::tr("cut at %1 tokens").arg(AxisSize(*generation, "new_token"));
    return empty ? QObject::tr("empty, %1").arg(cut) : cut;
  }
  return empty ? QObject::tr("empty: the text ends at once") : QObject::tr("ends here");
}

qsizetype FirstDifference(const QStringList& a, const QStringList& b) {
  if (a.isEmpty() || b.isEmpty()) return -1;
  const qsizetype common = std::min(a.size(), b.size());
  for (qsizetype i = 0; i < common; ++i) {
    if (a[i] != b[i]) return i;
  }
  return a.size() == b.size() ? -1 : common;
}

}  // namespace midscope
