// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/two_models.h"

#include <QObject>
#include <QStringList>
#include <algorithm>
#include <string>

#include "core/base/record_names.h"
#include "gui/base/prompt_text.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"

namespace midscope {
namespace {

// Whether both models have the same tokens of the shown prompt and its answer.
bool SameTokens(const Record* a, const Record* b, const char* array) {
  return a && b && Texts(*a, array) == Texts(*b, array);
}

// The first byte of the token; the length of the text for the index one past the last.
int64_t ByteOf(const Record& prompt, double token, int64_t length) {
  const double byte = ValueAt(prompt, "token_begin", {static_cast<int64_t>(token)});
  return byte == byte ? static_cast<int64_t>(byte) : length;
}

SourceText GivenText(const Record& prompt) {
  SourceText given;
  given.own.text = AttributeText(prompt, "text");
  given.own.answer = AttributeText(prompt, "answer");
  // The only place of own text is 1.
  given.name = std::to_string(std::max<int64_t>(IntegerAttribute(prompt, "place", 0), 1));
  const QStringList names = Texts(prompt, kSpanName);
  const auto length = static_cast<int64_t>(given.own.text.size());
  for (qsizetype i = 0; i < names.size(); ++i) {
    ByteSpan span{names[i].toStdString(), 0, 0};
    span.begin = ByteOf(prompt, ValueAt(prompt, "span_token_begin", {i}), length);
    span.end = ByteOf(prompt, ValueAt(prompt, "span_token_end", {i}), length);
    if (span.begin < span.end) given.own.spans.push_back({span, ""});
  }
  return given;
}

QString ModelAndDtype(const SessionView& view) {
  return QStringLiteral("%1 %2").arg(view.ModelLabel(),
                                     QString::fromStdString(view.provenance.dtype));
}

}  // namespace

QString SideModel(const Session& session, Side side) {
  const SessionView& a = session.shown();
  if (!a.second) return {};
  const SessionView& view = side == Side::kA ? a : *a.second;
  if (!view.model) return side == Side::kA ? QString() : QObject::tr("no model yet");
  if (!a.model || !a.second->model || a.ModelLabel() != a.second->ModelLabel())
    return view.ModelLabel();
  if (ModelAndDtype(a) != ModelAndDtype(*a.second)) return ModelAndDtype(view);
  return QString::fromStdString(view.provenance.model_path);
}

QString SideName(const Session& session, Side side) {
  const QString letter = side == Side::kA ? QObject::tr("A") : QObject::tr("B");
  const QString model = SideModel(session, side);
  return model.isEmpty() ? letter : QStringLiteral("%1 %2").arg(letter, model);
}

QString WhyHeadsDiffer(int64_t layers_a, int64_t heads_a, int64_t layers_b, int64_t heads_b) {
  if (layers_a == layers_b && heads_a == heads_b) return {};
  if (layers_a != layers_b)
    return QObject::tr("the models have %1 and %2 layers").arg(layers_a).arg(layers_b);
  return QObject::tr("the models have %1 and %2 heads per layer").arg(heads_a).arg(heads_b);
}

QString WhyNotComparable(const Session& session, Compared what) {
  const SessionView& a = session.shown();
  if (!a.second) return {};
  const SessionView& b = *a.second;
  if (!a.model || !b.model) return QObject::tr("the model of B is not open yet");
  const Record* prompt_a = a.prompt();
  const Record* prompt_b = b.prompt();
  if (!prompt_a || !prompt_b) return QObject::tr("the model of B has no prompt yet");
  if (AttributeText(*prompt_a, "text") != AttributeText(*prompt_b, "text"))
    return QObject::tr("the texts differ");
  const ModelConfig& config_a = a.model->config;
  const ModelConfig& config_b = b.model->config;
  switch (what) {
    case Compared::kAnswers:
      return {};
    case Compared::kHeads:
      return WhyHeadsDiffer(config_a.layers, config_a.heads, config_b.layers, config_b.heads);
    case Compared::kTokens:
      return SameTokens(prompt_a, prompt_b, "token_text")
                 ? QString()
                 : QObject::tr("the models split the text into %1 and %2 tokens")
                       .arg(AxisSize(*prompt_a, "token"))
                       .arg(AxisSize(*prompt_b, "token"));
    case Compared::kNextTokens:
      return SameTokens(prompt_a, prompt_b, "token_text") &&
                     SameTokens(prompt_a, prompt_b, kAnswerTokenText) &&
                     config_a.vocabulary == config_b.vocabulary
                 ? QString()
                 : QObject::tr("the models' tokens differ");
    case Compared::kSampleMeans:
      return b.task.empty() ? QObject::tr("the model of B makes other samples of the task")
                            : QString();
    case Compared::kChannel:
      return session.channel() < config_b.hidden
                 ? QString()
                 : QObject::tr("the model of B has %1 channels").arg(config_b.hidden);
  }
  return {};
}

QVector<double> OnTokensOf(const Record& to, const Record& from, const QVector<double>& values,
                           bool sum) {
  if (Texts(to, "token_text") == Texts(from, "token_text")) return values;
  const PromptText source = ReadPromptText(&from);
  const PromptText target = ReadPromptText(&to);
  if (values.size() != source.tokens.size() || source.text != target.text) return {};
  // Sums over the characters before each one.
  QVector<double> before(source.text.size() + 1, 0);
  for (qsizetype token = 0; token < source.tokens.size(); ++token) {
    const int count = source.begins[token + 1] - source.begins[token];
    for (int at = source.begins[token]; at < source.begins[token + 1]; ++at)
      before[at + 1] = before[at] + (sum ? values[token] / count : values[token]);
  }
  QVector<double> result(target.tokens.size(), 0);
  for (qsizetype token = 0; token < target.tokens.size(); ++token) {
    const int begin = target.begins[token];
    const int end = target.begins[token + 1];
    const double over = before[end] - before[begin];
    if (begin < end) result[token] = sum ? over : over / (end - begin);
  }
  const auto begins_empty = [](const PromptText& text) {
    return !text.tokens.isEmpty() && text.begins[0] == text.begins[1];
  };
  if (begins_empty(source) && begins_empty(target)) result[0] = values[0];
  return result;
}

bool IsOfSecond(const Session& session, const Record& record) {
  const auto made = [&record](const SessionView& view) {
    return AttributeText(record, "model_hash") == view.provenance.model_hash &&
           AttributeText(record, "dtype") == view.provenance.dtype;
  };
  const SessionView& a = session.shown();
  return a.second && made(*a.second) && !made(a);
}

QVector<double> OnTokensOfA(const Session& session, const Record* record,
                            const QVector<double>& values, bool sum) {
  if (!record || values.isEmpty() || !IsOfSecond(session, *record)) return values;
  const std::vector<Record>& from = session.shown().second->prompts;
  const std::vector<Record>& to = session.prompts();
  const std::string prompt = AttributeText(*record, "prompt_hash");
  for (size_t place = 0; place < std::min(from.size(), to.size()); ++place) {
    if (AttributeText(from[place], "prompt_hash") == prompt)
      return OnTokensOf(to[place], from[place], values, sum);
  }
  return {};
}

TokenSpan TokensFor(const Session& session, Side from, const TokenSpan& tokens, Side to) {
  const Record* source = session.prompt(from);
  const Record* target = session.prompt(to);
  if (from == to || tokens.empty() || !source || !target || source == target) return tokens;
  if (Texts(*source, "token_text") == Texts(*target, "token_text")) return tokens;
  const PromptText source_text = ReadPromptText(source);
  const PromptText target_text = ReadPromptText(target);
  const auto last = static_cast<int64_t>(source_text.tokens.size());
  const int begin = source_text.begins.value(std::min(tokens.begin, last));
  const int end = source_text.begins.value(std::min(tokens.end, last));
  TokenSpan found{tokens.name, -1, -1};
  for (qsizetype token = 0; token < target_text.tokens.size(); ++token) {
    const int first = target_text.begins[token];
    const int past = target_text.begins[token + 1];
    if (past <= begin || first >= end) continue;
    if (found.begin < 0) found.begin = token;
    found.end = token + 1;
  }
  return found.begin < 0 ? TokenSpan{} : found;
}

int64_t TokenFor(const Session& session, Side from, int64_t token, Side to) {
  if (token < 0 || from == to) return token;
  const TokenSpan found = TokensFor(session, from, {"", token, token + 1}, to);
  return found.empty() ? -1 : found.begin;
}

std::vector<SourceText> GivenTexts(const std::vector<Record>& prompts) {
  std::vector<SourceText> given;
  given.reserve(prompts.size());
  for (const Record& prompt : prompts) given.push_back(GivenText(prompt));
  return given;
}

}  // namespace midscope
