// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/record_name.h"

#include <QObject>
#include <QStringList>
#include <set>

#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

constexpr qsizetype kLongestSetting = 60;

// Elided in the middle: settings differ at either end.
QString Short(const QString& setting) {
  if (setting.size() <= kLongestSetting) return setting;
  constexpr qsizetype kEnd = kLongestSetting / 2;
  return setting.left(kEnd) + QChar(0x2026) + setting.right(kLongestSetting - kEnd - 1);
}

}  // namespace

QString SettingOf(const Record& record) { return TextAttribute(record, "intervention"); }

RecordName NameOf(const Session& session, Side side, const Record* record) {
  RecordName name;
  QString letter = SideName(session, side);
  // A file names the second model that made a record.
  const QString model =
      record && session.shows_file() ? TextAttribute(*record, "model") : QString();
  if (!model.isEmpty()) letter += QLatin1Char(' ') + ModelLabel(model, model);
  name.text = name.full = letter;
  if (!record) return name;
  name.setting = SettingOf(*record);
  // A file of `midscope probe` has it at the prompt.
  const Record* prompt = session.prompt();
  if (name.setting.isEmpty() && session.shows_file() && prompt) name.setting = SettingOf(*prompt);
  name.older = session.ShownAsOlder(side, *record);
  if (name.setting.isEmpty()) return name;
  // The most important part first: legends are cut at their end.
  const QString form = name.older ? QObject::tr("%1, older setting: %2") : QStringLiteral("%1: %2");
  QString part;
  if (IsPartial(*record)) {
    part = QObject::tr(" (%1 of %2 layers done)")
               .arg(IntegerAttribute(*record, kLayersDone, 0))
               .arg(AxisSize(*record, "layer"));
  }
  if (record->attributes.contains(kQueryRow)) {
    part += QObject::tr(", from token %1 “%2”")
                .arg(IntegerAttribute(*record, kQueryRow, 0))
                .arg(ShownToken(TextAttribute(*record, kQueryToken)).trimmed());
  }
  const SettingMarks& marks = *session.marks();
  name.text = form.arg(letter, Short(marks.Shown(name.setting))) + part;
  name.full = form.arg(marks.WithLetter(letter, name.setting), name.setting) + part;
  return name;
}

RecordName NameOfDifference(const RecordName& a, const RecordName& b) {
  RecordName name;
  const QString form = QObject::tr("B − A (%1; %2)");
  name.text = form.arg(b.text, a.text);
  name.full = form.arg(b.full, a.full);
  name.older = a.older || b.older;
  return name;
}

QString CaptionWith(const Session& session, const std::vector<RecordName>& names) {
  QStringList parts = {PromptRequestCaption(session.provenance(), session.prompt())};
  for (const RecordName& name : names) parts << name.full;
  return parts.join(QStringLiteral("; "));
}

QString PromptRequestCaption(const Provenance& provenance, const Record* prompt) {
  QStringList parts;
  const auto add = [&parts](const QString& text) {
    if (!text.isEmpty()) parts << text;
  };
  add(QString::fromStdString(provenance.model_path));
  add(QString::fromStdString(provenance.dtype));
  if (provenance.products != "float") add(QString::fromStdString(provenance.products));
  if (prompt) {
    const QString task = TextAttribute(*prompt, "task");
    add(task.isEmpty() ? QObject::tr("own text") : task);
    if (!task.isEmpty() && prompt->attributes.contains("seed")) {
      add(QObject::tr("seed %1").arg(IntegerAttribute(*prompt, "seed", 0)));
      add(QObject::tr("sample %1").arg(IntegerAttribute(*prompt, "sample", 0)));
    }
    const QString place = PlaceName(*prompt);
    const bool depth = place.endsWith(QLatin1Char('%'));
    if (!place.isEmpty())
      add((depth ? QObject::tr("depth %1") : QObject::tr("place %1")).arg(place));
    const int64_t tokens = IntegerAttribute(*prompt, "prompt_tokens", 0);
    if (tokens > 0) add(QObject::tr("%1 tokens").arg(tokens));
  }
  return parts.join(QStringLiteral(", "));
}

std::vector<NamedRecord> RecordsOfEitherSide(const Session& session) {
  std::set<std::string> names;
  for (const Side side : {Side::kA, Side::kB}) {
    for (const std::string& name : session.record_names(side)) names.insert(name);
  }
  std::vector<NamedRecord> records;
  for (const std::string& name : names) {
    const Record* a = session.record(Side::kA, name);
    const Record* record = a ? a : session.record(Side::kB, name);
    if (record) records.push_back({name, record});
  }
  return records;
}

}  // namespace midscope
