// SPDX-License-Identifier: GPL-3.0-or-later
// HeadMapPanel: contents of the maps of A, B and their difference.
#include <QComboBox>
#include <QLabel>
#include <QObject>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/record_names.h"
#include "gui/base/head_quantities.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/head_map/head_list.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/head_map/ratio_painter.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/scan_views.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/selection.h"
#include "probes/sweep/scan_effects.h"

namespace midscope {

namespace {

constexpr char kDifferenceSuffix[] = " B - A";

QString Capitalised(const QString& text) { return text.left(1).toUpper() + text.mid(1); }

QString WithUnit(const QString& name, const QString& unit) {
  return unit.isEmpty() ? name : QStringLiteral("%1 (%2)").arg(name, unit);
}

// A colour range around 1, wide enough for the published ratios.
QCPRange RatioRange(const HeadTable& a, const HeadTable& b) {
  constexpr double kUsual = 0.8;
  double extent = kUsual;
  if (const auto range = HeadMapPlot::RangeOf({&a, &b}, true, 1))
    extent = std::max(extent, range->upper - 1);
  return {std::max(0.0, 1 - extent), 1 + extent};
}

// Makes a map of the scan's effects. `view`: one of ScanViews(&scan).
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

}  // namespace

void HeadMapPanel::Draw() {
  const Entry& shown = entry();
  quantity_->setToolTip(shown.help);
  for (HeadMapPlot* plot : {plot_, plot_b_, plot_difference_}) {
    const bool of_b = plot == plot_b_ || (plot == plot_ && drawn_mode() == Compare::kB);
    const auto& model = session()->model(of_b ? Side::kB : Side::kA);
    // Heads of mixers share no keys.
    const bool groups = model && !shown.record.starts_with(kEffectiveAttention);
    plot->SetHeadsPerKeyValueHead(groups ? model->config.heads_per_key_value_head() : 1);
  }
  if (shown.scan) {
    DrawScan(shown);
  } else {
    DrawTables(shown);
  }
}

void HeadMapPanel::DrawScan(const Entry& entry) {
  const Record* scan = session()->record(Side::kA, kScanRecord);
  if (!scan) return;
  ShowBeside(false);
  RefreshPainting(Compare::kDifference);
  HeadMap map = ScanMap(*scan, *entry.scan);
  UseColours(entry, false, map);
  if (!list_->isHidden()) list_->heads()->Show(map.table, {}, map.table);
  plot_->Show(map);
  plot_->SetTitle(ScanTitle(*scan, *entry.scan));
  plot_->SetOlderNote(QString());
  plot_->SetCaption(CaptionWith(*session(), {}));
  note_->setText(ScanValueNote(*entry.scan));
}

const Record* HeadMapPanel::RecordOf(Side side, const Entry& entry) const {
  return entry.attention ? session()->attention(side) : session()->record(side, entry.record);
}

QString HeadMapPanel::WhyNoDifference() const {
  QString why = WhyNotComparable(*session(), Compared::kHeads);
  const Record* a = RecordOf(Side::kA, entry());
  const Record* b = RecordOf(Side::kB, entry());
  if (!why.isEmpty() || !a || !b) return why;
  return WhyHeadsDiffer(AxisSize(*a, "layer"), AxisSize(*a, "head"), AxisSize(*b, "layer"),
                        AxisSize(*b, "head"));
}

HeadTable HeadMapPanel::TableOf(Side side, const Entry& entry) const {
  const Record* record = RecordOf(side, entry);
  if (entry.id == kRatioId) {
    // Ratios that the setting defines are known before the run and during painting.
    if (const auto stated = painter_->Stated(side)) {
      const auto layers = static_cast<int64_t>(stated->ratios.size()) / stated->heads;
      return {stated->ratios, layers, stated->heads};
    }
  }
  if (!entry.attention) {
    const Record* prompt = session()->prompt();
    const int64_t place = prompt ? IntegerAttribute(*prompt, "place", 0) : 0;
    HeadTable table =
        ArrayTable(record, entry.array, entry.at_place ? std::optional(place) : std::nullopt);
    const Record* attention = session()->attention(side);
    if (entry.id == kScoreId) ClearWithoutAttention(attention, table);
    // An array of mixers' heads ends with the last layer that has a mixer.
    if (attention && table.heads > 0) {
      table.layers = std::max(table.layers, AxisSize(*attention, "layer"));
      table.values.resize(static_cast<size_t>(table.layers * table.heads),
                          std::numeric_limits<double>::quiet_NaN());
    }
    return table;
  }
  MarkedTokens tokens;
  if (const Record* prompt = session()->prompt(side)) tokens.gold = GoldTokens(*prompt);
  tokens.range = TokensFor(*session(), Side::kA, selection()->range(), side);
  return QuantityTable(*entry.attention, record, tokens);
}

HeadMap HeadMapPanel::MapOf(const Entry& entry, const HeadTable& a, const HeadTable& b,
                            Compare drawn) const {
  HeadMap map;
  const bool score = entry.id == kScoreId;
  map.value_name = score ? tr("score") : entry.name;
  map.scale = WithUnit(map.value_name, entry.unit);
  if (drawn == Compare::kDifference) {
    map.value_name = tr("%1 B − A:").arg(map.value_name);
    map.scale = WithUnit(tr("%1 B − A").arg(score ? tr("score") : entry.name), entry.unit);
    map.diverging = true;
    map.table = Difference(a, b);
  } else {
    map.table = drawn == Compare::kB ? b : a;
    const auto& values = map.table.values;
    map.diverging = std::any_of(values.begin(), values.end(), [](double v) { return v < 0; });
    if (entry.id == kRatioId) {
      map.diverging = true;
      map.centre = 1;
      // The colour range is fixed while a ratio is being painted.
      map.range = RatioRange(a, b);
    }
  }
  const Record* ratio =
      session()->record(drawn == Compare::kA ? Side::kA : Side::kB, kPositionRatio);
  const bool both = !a.values.empty() && a.layers == b.layers && a.heads == b.heads;
  Entry of_width = entry;
  of_width.array += kHalfWidthSuffix;
  HeadTable width_a;
  HeadTable width_b;
  if (entry.at_place) {
    width_a = TableOf(Side::kA, of_width);
    if (session()->differs()) width_b = TableOf(Side::kB, of_width);
  }
  map.note = [a, b, both, score, width_a, width_b, ratio = ratio ? *ratio : Record{}](HeadId head) {
    QString text;
    const auto at = static_cast<size_t>(head.layer * a.heads + head.head);
    if (both && at < a.values.size() && at < b.values.size()) {
      text += tr("\nA %1, B %2, B − A %3")
                  .arg(a.values[at], 0, 'g', 4)
                  .arg(b.values[at], 0, 'g', 4)
                  .arg(b.values[at] - a.values[at], 0, 'g', 4);
    }
    QStringList widths;
    if (at < width_a.values.size() && !std::isnan(width_a.values[at]))
      widths += tr("A ± %1").arg(width_a.values[at], 0, 'g', 2);
    if (at < width_b.values.size() && !std::isnan(width_b.values[at]))
      widths += tr("B ± %1").arg(width_b.values[at], 0, 'g', 2);
    if (!widths.isEmpty())
      text += tr("\n95 % interval over samples: %1").arg(widths.join(QStringLiteral(", ")));
    const double of_head = ValueAt(ratio, kPositionRatio, {head.layer, head.head});
    if (score && !std::isnan(of_head)) text += tr("\nposition ratio %1").arg(of_head, 0, 'g', 4);
    return text;
  };
  return map;
}

void HeadMapPanel::SetColours(std::optional<std::pair<double, double>> range, bool difference) {
  const std::string id = entry().id + (difference ? kDifferenceSuffix : "");
  if (range) {
    colours_[id] = *range;
  } else {
    colours_.erase(id);
  }
  Draw();
}

void HeadMapPanel::UseColours(const Entry& entry, bool difference, HeadMap& map) const {
  const auto chosen = colours_.find(entry.id + (difference ? kDifferenceSuffix : ""));
  if (chosen != colours_.end()) map.range = QCPRange(chosen->second.first, chosen->second.second);
}

void HeadMapPanel::DrawTables(const Entry& entry) {
  const Compare drawn = drawn_mode();
  const HeadTable a = TableOf(Side::kA, entry);
  const HeadTable b = session()->differs() ? TableOf(Side::kB, entry) : HeadTable();
  const auto name_of = [this, &entry](Side side) {
    const bool stated = entry.id == kRatioId && painter_->Stated(side);
    return NameOf(*session(), side, stated ? nullptr : RecordOf(side, entry));
  };
  const RecordName name_a = name_of(Side::kA);
  const RecordName name_b = name_of(Side::kB);
  const bool split = drawn == Compare::kSplit;
  ShowBeside(split);
  RefreshPainting(drawn);
  HeadMap first = MapOf(entry, a, b, split ? Compare::kA : drawn);
  if (split) {
    HeadMap second = MapOf(entry, a, b, Compare::kB);
    HeadMap difference = MapOf(entry, a, b, Compare::kDifference);
    const bool diverging = first.diverging || second.diverging;
    first.diverging = second.diverging = diverging;
    if (!first.range) first.range = second.range = HeadMapPlot::RangeOf({&a, &b}, diverging);
    UseColours(entry, false, second);
    UseColours(entry, true, difference);
    DrawMap(plot_b_, entry, std::move(second), name_b);
    DrawMap(plot_difference_, entry, std::move(difference), NameOfDifference(name_a, name_b));
  }
  const RecordName name = drawn == Compare::kB            ? name_b
                          : drawn == Compare::kDifference ? NameOfDifference(name_a, name_b)
                                                          : name_a;
  const bool comparable = !session()->differs() || WhyNoDifference().isEmpty();
  const bool only_b = !comparable && drawn == Compare::kB;
  if (!list_->isHidden())
    list_->heads()->Show(only_b ? HeadTable() : a, comparable || only_b ? b : HeadTable(),
                         first.table);
  UseColours(entry, drawn == Compare::kDifference, first);
  DrawMap(plot_, entry, std::move(first), name);
  RefreshNote(entry, drawn);
}

void HeadMapPanel::DrawMap(HeadMapPlot* plot, const Entry& entry, HeadMap map,
                           const RecordName& name) {
  const bool any = map.table.layers > 0;
  const QString quantity = Capitalised(entry.name);
  plot->SetReason(!session()->shows_file() ? QString()
                  : entry.id == kScoreId   ? tr("The file has no position-awareness scores")
                                           : tr("The file does not have it"));
  plot->Show(std::move(map));
  // The control beside the title names the quantity, so a narrow title may end before it.
  plot->SetTitle(any ? QStringLiteral("%1 — %2").arg(name.text, quantity) : quantity);
  plot->SetOlderNote(any && name.older ? name.text : QString());
  plot->SetCaption(CaptionWith(*session(), {name}));
}

// Pictures of a file: the scan, the position-awareness scores and the attention on the gold.

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

void HeadMapPanel::Render(FilePictures& pictures) {
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
