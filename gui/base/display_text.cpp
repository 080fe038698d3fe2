// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/display_text.h"

#include <cmath>
#include <exception>
#include <map>

#include <QDir>
#include <QFileInfo>
#include <QObject>
#include <QRegularExpression>
#include <QStringList>
#include <QVector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "gui/base/record_access.h"

namespace midscope {

QString ErrorText(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::filesystem::filesystem_error& error) {
    return QString::fromStdString(FileSystemProblem(error));
  } catch (const std::exception& error) {
    return QString::fromUtf8(error.what());
  }
  return {};
}

QString HeadText(HeadId head) { return QStringLiteral("L%1H%2").arg(head.layer).arg(head.head); }

HeadId ReadHeadId(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^(?:attn_)?L?(\\d{1,4})[H_](\\d{1,4})$"),
                                          QRegularExpression::CaseInsensitiveOption);
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) {
    throw UsageError("--head", "'" + text.toStdString() + "' is not a head",
                     "Write it as L12H3, layers and heads counted from zero");
  }
  return {match.captured(1).toLongLong(), match.captured(2).toLongLong()};
}

namespace {

constexpr double kMostSeconds = 90;
constexpr double kMostMinutes = 120;
constexpr double kMinute = 60;

}  // namespace

QString DurationText(double seconds) {
  if (seconds < kMostSeconds) return QObject::tr("%1 s").arg(std::ceil(seconds));
  const double minutes = seconds / kMinute;
  if (minutes < kMostMinutes) return QObject::tr("%1 min").arg(std::ceil(minutes));
  return QObject::tr("%1 h").arg(std::ceil(minutes / kMinute));
}

QString WithCost(const QString& action, const QString& work, std::optional<double> seconds) {
  const QString text = QObject::tr("%1: %2").arg(action, work);
  return seconds ? QObject::tr("%1, about %2").arg(text, DurationText(*seconds)) : text;
}

QString WithoutFolders(const QString& setting) {
  static const QRegularExpression folders(QStringLiteral("ratios\\(\"?([^,()\"]*/)"));
  QString text = setting;
  for (QRegularExpressionMatch match = folders.match(text); match.hasMatch();
       match = folders.match(text)) {
    text.remove(match.capturedStart(1), match.capturedLength(1));
  }
  return text;
}

QString ModelLabel(const QString& model, const QString& otherwise) {
  // The embedded model is displayed under its makers' name for it.
  if (model == QLatin1String("embedded")) return QStringLiteral("SmolLM2-135M-Instruct (embedded)");
  QString name = QFileInfo(QDir::cleanPath(model)).fileName();
  for (const char* ending : {".gguf", ".safetensors"}) {
    if (name.endsWith(QLatin1String(ending), Qt::CaseInsensitive))
      name.chop(static_cast<qsizetype>(qstrlen(ending)));
  }
  return name.isEmpty() ? otherwise : name;
}

namespace {

constexpr char kPlaceText[] = "place_text";

}  // namespace

QString PlaceName(const Record& prompt) {
  QString text = TextAttribute(prompt, kPlaceText);
  if (text.endsWith(QLatin1Char('%'))) return text;
  const int64_t place = IntegerAttribute(prompt, "place", 0);
  return place > 0 ? QString::number(place) : QString();
}

QString PromptName(const Record& prompt) {
  QString place = PlaceName(prompt);
  if (!TextAttribute(prompt, "task").isEmpty() && !place.isEmpty()) return place;
  const int64_t pieces = IntegerAttribute(prompt, "pieces", 0);
  if (!place.isEmpty() && pieces > 0)
    return QObject::tr("gold %1 of %2").arg(IntegerAttribute(prompt, "place", 0)).arg(pieces);
  return place.isEmpty() ? QObject::tr("own text") : place;
}

std::map<double, QString> PlaceNames(const std::vector<Record>& prompts,
                                     const std::vector<Record>& file_records) {
  std::map<double, QString> names;
  for (const Record& prompt : prompts) {
    const int64_t place = IntegerAttribute(prompt, "place", 0);
    const QString name = PlaceName(prompt);
    if (place > 0 && name != QString::number(place)) names[static_cast<double>(place)] = name;
  }
  for (const Record& record : file_records) {
    if (!record.FindArray(kPlaceText)) continue;
    const QVector<double> places = AxisValues(record, "place");
    const QStringList texts = Texts(record, kPlaceText);
    for (qsizetype i = 0; i < places.size() && i < texts.size(); ++i) {
      if (texts[i].endsWith(QLatin1Char('%'))) names[places[i]] = texts[i];
    }
  }
  return names;
}

namespace {

// Titles for records whose identifiers are not descriptive enough.
const std::map<std::string, const char*>& BetterTitles() {
  static const std::map<std::string, const char*> titles = {
      {"attention_rollout", QT_TRANSLATE_NOOP("midscope", "Attention rollout over layers")},
      {"answer_attribution", QT_TRANSLATE_NOOP("midscope", "What the answer's logit is made of")},
      {"answer_attribution_by_place",
       QT_TRANSLATE_NOOP("midscope", "Over samples: the answer's logit")},
      {"effective_attention",
       QT_TRANSLATE_NOOP("midscope", "What a delta rule or state space takes from each token")},
      {"gold_following", QT_TRANSLATE_NOOP("midscope", "Over samples: attention on passages")},
      {"position_awareness_by_place",
       QT_TRANSLATE_NOOP("midscope", "Over samples: position-awareness score")},
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

QString NameWithUnit(const std::string& name, const std::string& unit) {
  const QString text = ArrayWords(name);
  return unit.empty() ? text : text + QStringLiteral(" (%1)").arg(QString::fromStdString(unit));
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
