// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/place_name.h"

#include <QObject>
#include <QStringList>
#include <QVector>

#include "gui/base/record_access.h"

namespace midscope {
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

}  // namespace midscope
