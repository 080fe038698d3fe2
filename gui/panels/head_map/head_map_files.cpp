// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/head_map/head_map_files.h"

#include <QObject>
#include <utility>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"

namespace midscope {

HeadMap ScanMap(const Record& scan, const ScanView& view) {
  HeadMap map;
  map.table.layers = AxisSize(scan, "layer");
  map.table.heads = AxisSize(scan, "head");
  for (int64_t layer = 0; layer < map.table.layers; ++layer) {
    for (int64_t head = 0; head < map.table.heads; ++head) {
      map.table.values.push_back(ScanEffectOf(scan, view, {layer, head}));
    }
  }
  map.value_name = map.scale = ScanValueName(view);
  map.diverging = true;
  map.own_text = true;
  map.note = [scan, view](HeadId head) { return ScanEffectText(scan, view, head); };
  return map;
}

namespace {

// Draws a map of A and of B, and their difference, as far as the file has them.
void WriteMaps(FilePictures& pictures, const QString& stem, const QString& title,
               const QString& name, const QString& unit, const RecordSides& sides,
               const HeadTable& a, const HeadTable& b) {
  const struct {
    const char* suffix;
    bool wanted;
    HeadTable table;
    RecordSides drawn;
  } maps[] = {{"", sides.a != nullptr, a, {sides.a, nullptr}},
              {"_b", sides.b != nullptr, b, {nullptr, sides.b}},
              {"_difference", sides.a && sides.b, Difference(a, b), sides}};
  for (const auto& map : maps) {
    if (!map.wanted) continue;
    const bool difference = map.drawn.a && map.drawn.b;
    HeadMapPlot plot;
    const QString scale = difference ? QObject::tr("%1 B − A (%2)") : QObject::tr("%1 (%2)");
    plot.Show({map.table, name, scale.arg(name, unit), difference});
    plot.SelectHead(pictures.head());
    plot.SetTitle(pictures.Titled(title, map.drawn.b ? map.drawn.b : map.drawn.a,
                                  difference ? map.drawn.a : nullptr));
    pictures.Write(plot, stem + QString::fromLatin1(map.suffix), map.drawn);
  }
}

}  // namespace

void RenderHeadMaps(FilePictures& pictures) {
  const Record* scan = pictures.Find("mean_effect", {"layer", "head"}).a;
  for (const ScanView& view : ScanViews(scan)) {
    HeadMapPlot plot;
    plot.Show(ScanMap(*scan, view));
    plot.SetTitle(ScanTitle(*scan, view));
    plot.SelectHead(pictures.head());
    const QString place = view.place < 0 ? QString() : QStringLiteral("_%1").arg(view.place + 1);
    pictures.Write(plot, QStringLiteral("scan_") + QString::fromStdString(view.array) + place,
                   {scan, nullptr});
  }
  const RecordSides score = pictures.Find(kPositionAwarenessScore, {"layer", "head"});
  WriteMaps(pictures, QStringLiteral("head_map"), HeadMapPlot().title(), QObject::tr("score"),
            QObject::tr("share of keys"), score, ArrayTable(score.a, kPositionAwarenessScore),
            ArrayTable(score.b, kPositionAwarenessScore));
  const RecordSides attention = pictures.Find(kLastQueryAttention, {"layer", "head", "key"});
  const TokenSpan gold = pictures.gold();
  if (gold.empty()) return;
  const auto on_gold = [&gold](const Record* record) {
    return QuantityTable(*FindAttentionQuantity("gold"), record, {gold, {}});
  };
  WriteMaps(pictures, QStringLiteral("attention_on_gold"),
            QObject::tr("Attention of the last query on the gold"),
            QObject::tr("attention on the gold"), QObject::tr("share"), attention,
            on_gold(attention.a), on_gold(attention.b));
}

}  // namespace midscope
