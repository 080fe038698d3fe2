// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/record_title.h"

#include <QObject>
#include <QStringList>
#include <map>

namespace midscope {
namespace {

// Only those whose identifier's words say too little.
const std::map<std::string, const char*>& BetterTitles() {
  static const std::map<std::string, const char*> titles = {
      {"attention_rollout", QT_TRANSLATE_NOOP("midscope", "Attention rollout over layers")},
      {"answer_attribution", QT_TRANSLATE_NOOP("midscope", "What the answer's logit is made of")},
      {"counted_keys", QT_TRANSLATE_NOOP("midscope", "Keys that the score counts")},
      {"head_scores", QT_TRANSLATE_NOOP("midscope", "Scores of heads by other definitions")},
      {"key_drift", QT_TRANSLATE_NOOP("midscope", "Drift of keys with position")},
      {"key_information",
       QT_TRANSLATE_NOOP("midscope", "What can be read from keys about their position")},
      {"last_query_attention",
       QT_TRANSLATE_NOOP("midscope", "Attention of the last token of the prompt")},
      {"position_direction",
       QT_TRANSLATE_NOOP("midscope", "Direction of the residual stream that carries position")},
      {"qr_heads", QT_TRANSLATE_NOOP("midscope", "Query-focused retrieval heads")},
      {"retrieval_heads", QT_TRANSLATE_NOOP("midscope", "Retrieval heads")},
      {"rope_bands", QT_TRANSLATE_NOOP("midscope", "Attention logits by rotary period")},
      {"span_attention", QT_TRANSLATE_NOOP("midscope", "Attention on named passages")},
  };
  return titles;
}

}  // namespace

QString ArrayWords(const std::string& array) {
  return QString::fromStdString(array).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString RecordTitle(const std::string& record) {
  const auto better = BetterTitles().find(record);
  if (better != BetterTitles().end()) return QObject::tr(better->second);
  QString words = ArrayWords(record);
  if (!words.isEmpty()) words[0] = words[0].toUpper();
  return words;
}

QString ArrayTitle(const std::string& record, const Array& array) {
  QStringList axes;
  for (const std::string& axis : array.axes) axes << ArrayWords(axis);
  QString title = RecordTitle(record);
  if (array.name != record) title += QStringLiteral(": ") + ArrayWords(array.name);
  if (!axes.isEmpty()) title += QObject::tr(" by %1").arg(axes.join(QStringLiteral(", ")));
  if (!array.unit.empty()) title += QStringLiteral(" (%1)").arg(QString::fromStdString(array.unit));
  return title;
}

}  // namespace midscope
