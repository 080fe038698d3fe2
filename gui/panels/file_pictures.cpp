// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/file_pictures.h"

#include <QObject>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "data/published/published_record.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/session/record_name.h"

namespace midscope {
namespace {

RecordSides FindIn(const std::vector<Record>& records, const std::string& array,
                   const std::vector<std::string>& axes) {
  RecordSides sides;
  for (const Record& record : records) {
    if (!HasArray(record, array, axes)) continue;
    const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
    const Record*& slot = is_b ? sides.b : sides.a;
    if (!slot) slot = &record;
  }
  return sides;
}

}  // namespace

bool HasHead(const Record& record, HeadId head) {
  return AxisIndexOf(record, "layer", static_cast<double>(head.layer)) >= 0 &&
         AxisIndexOf(record, "head", static_cast<double>(head.head)) >= 0;
}

HeadChoice ChooseHead(const HeadTable& table, const QString& reason, bool smallest) {
  double best = std::numeric_limits<double>::quiet_NaN();
  HeadChoice choice;
  for (size_t i = 0; i < table.values.size(); ++i) {
    const double value = table.values[i];
    if (std::isnan(value) || (smallest ? value >= best : value <= best)) continue;
    best = value;
    const auto at = static_cast<int64_t>(i);
    choice.head = {at / table.heads, at % table.heads};
  }
  if (!std::isnan(best)) choice.reason = QStringLiteral("%1: %2").arg(reason).arg(best, 0, 'g', 2);
  return choice;
}

FilePictures::FilePictures(const RenderRequest& request, const RunFile& file, const RunFile* whole,
                           const Record* reference)
    : request_(request),
      records_(file.records),
      all_records_(whole ? whole->records : file.records),
      provenance_(file.provenance),
      plan_json_(file.plan_json),
      prompt_(FindRecord(all_records_, kPromptRecord)),
      reference_(reference ? reference : FindRecord(records_, kPublishedRecord)) {}

RecordSides FilePictures::Find(const std::string& array,
                               const std::vector<std::string>& axes) const {
  return FindIn(records_, array, axes);
}

RecordSides FilePictures::FindInFile(const std::string& array,
                                     const std::vector<std::string>& axes) const {
  return FindIn(all_records_, array, axes);
}

QString FilePictures::SettingText(const Record* record) const {
  QString text = record ? TextAttribute(*record, "intervention") : QString();
  if (text.isEmpty() && prompt_) text = TextAttribute(*prompt_, "intervention");
  return text;
}

QString FilePictures::Titled(const QString& title, const Record* record,
                             const Record* without) const {
  const QString setting = SettingText(record);
  if (setting.isEmpty()) return title;
  const QString text =
      without ? QObject::tr("B − A (%1; %2)").arg(setting, SettingText(without)) : setting;
  return QStringLiteral("%1 — %2").arg(title, text);
}

TokenSpan FilePictures::gold() const { return prompt_ ? GoldTokens(*prompt_) : TokenSpan{}; }

HeadChoice FilePictures::chosen_head() const {
  const Record* attention = FindInFile(kLastQueryAttention, {"layer", "head", "key"}).a;
  const auto quantity = [&](const char* id) {
    return QuantityTable(*FindAttentionQuantity(id), attention, {gold(), {}});
  };
  if (attention && !gold().empty())
    return ChooseHead(quantity("gold"), QObject::tr("most attention on the gold"));
  if (const Record* score = FindInFile(kPositionAwarenessScore, {"layer", "head"}).a) {
    return ChooseHead(ArrayTable(score, kPositionAwarenessScore),
                      QObject::tr("largest position-awareness score"));
  }
  return ChooseHead(quantity("first"),
                    QObject::tr("least attention on the first %1 tokens").arg(kSinkTokens), true);
}

std::vector<HeadId> FilePictures::HeadsIn(const Record& record, const HeadChoice& choice) const {
  if (request_.heads.empty()) return {choice.head};
  for (const HeadId& head : request_.heads) {
    if (HasHead(record, head)) continue;
    throw UsageError("--head",
                     "record " + record.name + " does not have " + HeadText(head).toStdString(),
                     "Layers and heads count from zero");
  }
  return request_.heads;
}

QString FilePictures::HeadTitle(HeadId head, const HeadChoice& choice) const {
  if (!request_.heads.empty() || choice.reason.isEmpty()) return HeadText(head);
  return QStringLiteral("%1 (%2)").arg(HeadText(head), choice.reason);
}

HeadId FilePictures::head() const {
  return request_.heads.empty() ? chosen_head().head : request_.heads.front();
}

// Model, task, settings and samples. They are read from the first sweep for curves, from the plan
// for a sweep, from the options for a batch, and otherwise from the prompt.
QString FilePictures::RunCaption() const {
  if (const Record* curves = FindRecord(records_, kOutcomeCurves)) {
    return QObject::tr("%1, %2 (of the first sweep), samples: %3")
        .arg(TextAttribute(*curves, "model"), TextAttribute(*curves, "task"))
        .arg(IntegerAttribute(*curves, "samples", 0));
  }
  const auto parsed = nlohmann::json::parse(
      plan_json_.empty() ? provenance_.options_json : plan_json_, nullptr, false);
  const bool is_one_prompt = prompt_ && !AxisSize(*prompt_, "sample");
  // The prompt of a batch or sweep names its task; for `probe --task` the task is in the options.
  const bool says_task = is_one_prompt && !TextAttribute(*prompt_, "task").isEmpty();
  const bool has_task = parsed.is_object() && parsed.contains("task") && !parsed["task"].is_null();
  if (says_task || (is_one_prompt && !has_task) || !parsed.is_object())
    return PromptRequestCaption(provenance_, prompt_);
  QStringList parts;
  const auto text = [&parsed](const char* key) {
    const auto found = parsed.find(key);
    if (found == parsed.end() || found->is_null()) return QString();
    return QString::fromStdString(found->is_string() ? found->get<std::string>() : found->dump());
  };
  const auto add = [&parts](const QString& before, const QString& value) {
    if (!value.isEmpty()) parts << before + value;
  };
  add("", PromptRequestCaption(provenance_, nullptr));
  add("", text("task"));
  QStringList settings;
  const auto listed = parsed.find(plan_json_.empty() ? "with" : "settings");
  if (listed != parsed.end() && listed->is_array()) {
    for (const auto& one : *listed) {
      if (one.is_string()) settings << QString::fromStdString(one.get<std::string>());
    }
  } else if (listed != parsed.end()) {
    settings << text("with");
  }
  add("", settings.isEmpty() ? SettingText(nullptr) : settings.join(QStringLiteral(" | ")));
  const int64_t kept = prompt_ ? AxisSize(*prompt_, "sample") : 0;
  if (is_one_prompt) {
    add(QObject::tr("sample "), text("sample"));
    add(QObject::tr("place "), QString::number(IntegerAttribute(*prompt_, "place", 0)));
  } else {
    add(QObject::tr("samples: "), kept > 0 ? QString::number(kept) : text("samples"));
  }
  add(QObject::tr("seed "), text("seed"));
  return parts.join(QStringLiteral(", "));
}

void FilePictures::Write(Plot& plot, const QString& stem, const RecordSides& drawn,
                         const QString& interval) {
  QStringList caption = {RunCaption()};
  if (plot.HasErrorBars()) {
    caption << (interval.isEmpty() ? QObject::tr("bars: 95 % CI")
                                   : QObject::tr("bars: 95 % CI, ") + interval);
  }
  const int64_t samples = drawn.a ? IntegerAttribute(*drawn.a, "samples", 0) : 0;
  if (samples > 0 && !caption.front().contains(QObject::tr("samples: ")))
    caption << QObject::tr("samples: %1").arg(samples);
  for (const Record* record : {drawn.a, drawn.b}) {
    const QString setting = record ? SettingText(record) : QString();
    if (!setting.isEmpty()) {
      caption << QStringLiteral("%1: %2").arg(
          record == drawn.a ? QObject::tr("A") : QObject::tr("B"), setting);
    }
  }
  plot.SetCaption(caption.join(QStringLiteral("; ")));
  QString picture = QStringLiteral("midscope export %1 --format %2 --out pictures")
                        .arg(request_.file, request_.formats.value(0));
  for (const QString& file : request_.reference) picture += QStringLiteral(" --reference ") + file;
  QStringList heads;
  for (const HeadId& head : request_.heads) heads << HeadText(head);
  if (!heads.isEmpty()) picture += QStringLiteral(" --head ") + heads.join(QLatin1Char(','));
  QStringList comments;
  if (!provenance_.command.empty())
    comments << QObject::tr("run: %1").arg(QString::fromStdString(provenance_.command));
  comments << QObject::tr("picture: %1").arg(picture);
  written_ += WritePlotFiles(plot, request_.folder, stem, request_.formats, kTwoColumns, comments);
}

}  // namespace midscope
