// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/file_pictures.h"

#include <QObject>

#include "core/base/record_lookup.h"
#include "core/base/record_names.h"
#include "gui/base/head_choice.h"
#include "gui/base/record_access.h"
#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"
#include "gui/session/record_name.h"

namespace midscope {
namespace {

constexpr QSize kPictureSize(760, 460);

HeadId LargestScore(const Record& score) {
  HeadId best;
  const auto value = [&score](HeadId head) {
    return ValueAt(score, kPositionAwarenessScore, {head.layer, head.head});
  };
  for (int64_t layer = 0; layer < AxisSize(score, "layer"); ++layer) {
    for (int64_t head = 0; head < AxisSize(score, "head"); ++head) {
      if (value({layer, head}) > value(best)) best = {layer, head};
    }
  }
  return best;
}

}  // namespace

FilePictures::FilePictures(const RenderRequest& request, const RunFile& file)
    : request_(request),
      records_(file.records),
      provenance_(file.provenance),
      prompt_(FindRecord(records_, kPromptRecord)) {}

RecordSides FilePictures::Find(const std::string& array,
                               const std::vector<std::string>& axes) const {
  RecordSides sides;
  for (const Record& record : records_) {
    if (!HasArray(record, array, axes)) continue;
    const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
    const Record*& slot = is_b ? sides.b : sides.a;
    if (!slot) slot = &record;
  }
  return sides;
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

HeadId FilePictures::head() const {
  if (request_.head) return *request_.head;
  const RecordSides attention = Find(kLastQueryAttention, {"layer", "head", "key"});
  const TokenSpan gold = prompt_ ? GoldTokens(*prompt_) : TokenSpan{};
  if (attention.a && !gold.empty()) return MostAttentionOn(*attention.a, gold);
  const RecordSides score = Find(kPositionAwarenessScore, {"layer", "head"});
  return score.a ? LargestScore(*score.a) : HeadId{};
}

void FilePictures::Write(Plot& plot, const QString& stem, const RecordSides& drawn) {
  QStringList caption = {PromptRequestCaption(provenance_, prompt_)};
  for (const Record* record : {drawn.a, drawn.b}) {
    const QString setting = record ? SettingText(record) : QString();
    if (!setting.isEmpty()) {
      caption << QStringLiteral("%1: %2").arg(
          record == drawn.a ? QObject::tr("A") : QObject::tr("B"), setting);
    }
  }
  plot.SetCaption(caption.join(QStringLiteral("; ")));
  plot.UsePalette(LightPalette());
  written_ += WritePlotFiles(plot, request_.folder, stem, request_.formats, kPictureSize);
}

}  // namespace midscope
