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
  const HeadTable a = ArrayTable(score.a, kPositionAwarenessScore);
  const HeadTable b = ArrayTable(score.b, kPositionAwarenessScore);
  const QString scale = QObject::tr("score (share of keys)");
  const struct {
    const char* stem;
    bool wanted;
    HeadTable table;
    RecordSides drawn;
  } maps[] = {{"head_map", score.a != nullptr, a, {score.a, nullptr}},
              {"head_map_b", score.b != nullptr, b, {nullptr, score.b}},
              {"head_map_difference", score.a && score.b, Difference(a, b), score}};
  for (const auto& map : maps) {
    if (!map.wanted) continue;
    const bool difference = map.drawn.a && map.drawn.b;
    HeadMapPlot plot;
    plot.Show({map.table, QObject::tr("score"),
               difference ? QObject::tr("score B − A (share of keys)") : scale, difference});
    plot.SelectHead(pictures.head());
    plot.SetTitle(pictures.Titled(plot.title(), map.drawn.b ? map.drawn.b : map.drawn.a,
                                  difference ? map.drawn.a : nullptr));
    pictures.Write(plot, QString::fromLatin1(map.stem), map.drawn);
  }
}

}  // namespace midscope
