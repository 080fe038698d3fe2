// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/map_pictures.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/base/spans.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/panels_plot.h"

namespace midscope {
namespace {

using Names = std::vector<std::string>;
using MapPanel = PanelsPlot::Panel;
constexpr const char* kMeanGoldAttention = "mean_gold_attention";
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// An array over these axes, with or without a leading `sample` axis: if a batch is large, its
// reader returns one sample.
class SampleArray {
 public:
  SampleArray(const std::vector<Record>& records, const std::string& array, Names axes)
      : array_(array) {
    Names with_samples = {"sample"};
    with_samples.insert(with_samples.end(), axes.begin(), axes.end());
    for (const Record& record : records) {
      const bool over_samples = HasArray(record, array, with_samples);
      if (!over_samples && !HasArray(record, array, axes)) continue;
      if (AxisSize(record, axes.front()) == 0) continue;
      record_ = &record;
      samples_ = over_samples ? AxisSize(record, "sample") : 0;
      return;
    }
  }
  const Record* record() const { return record_; }  // null: the file lacks the array
  // The mean over samples, ignoring missing values.
  double Mean(const std::vector<int64_t>& at) const {
    if (samples_ == 0) return ValueAt(*record_, array_, at);
    double sum = 0;
    int64_t count = 0;
    for (int64_t sample = 0; sample < samples_; ++sample) {
      const double value = ValueAt(*record_, array_, AtSample(sample, at));
      if (!std::isfinite(value)) continue;
      sum += value;
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : kMissing;
  }
  int64_t samples() const { return std::max<int64_t>(samples_, 1); }
  // The row of the last axis, for one sample.
  QVector<double> Row(int64_t sample, const std::vector<int64_t>& at) const {
    return LastAxisRow(*record_, array_, samples_ > 0 ? AtSample(sample, at) : at);
  }
  QVector<double> FirstRow(const std::vector<int64_t>& at) const { return Row(0, at); }
  double At(int64_t sample, const std::vector<int64_t>& at) const {
    return ValueAt(*record_, array_, samples_ > 0 ? AtSample(sample, at) : at);
  }
  double First(const std::vector<int64_t>& at) const { return At(0, at); }

 private:
  static std::vector<int64_t> AtSample(int64_t sample, const std::vector<int64_t>& at) {
    std::vector<int64_t> all = {sample};
    all.insert(all.end(), at.begin(), at.end());
    return all;
  }

  std::string array_;
  const Record* record_ = nullptr;
  int64_t samples_ = 0;
};

QVector<QVector<double>> Map(int64_t rows, int64_t columns,
                             const std::function<double(int64_t, int64_t)>& value) {
  QVector<QVector<double>> map;
  for (int64_t row = 0; row < rows; ++row) {
    map.append(QVector<double>());
    for (int64_t column = 0; column < columns; ++column) map.last().append(value(row, column));
  }
  return map;
}

void WriteMaps(FilePictures& pictures, const QString& title, const QString& stem,
               const std::vector<MapPanel>& panels, const PanelsPlot::Axes& axes) {
  PanelsPlot plot;
  plot.ShowMaps(panels, axes);
  plot.SetTitle(title);
  pictures.Write(plot, stem);
}

// Draws Fig. 10: maps per layer.
void DrawPiecesByLayer(FilePictures& pictures) {
  const SampleArray sums(pictures.records(), "piece_attention_sum", {"place", "layer", "piece"});
  if (!sums.record()) return;
  const Record& record = *sums.record();
  const QStringList layers = AxisLabels(record, "layer");
  std::vector<MapPanel> panels;
  for (int64_t layer = 0; layer < AxisSize(record, "layer"); ++layer) {
    panels.push_back({QObject::tr("layer %1").arg(layers.value(layer)),
                      Map(AxisSize(record, "place"), AxisSize(record, "piece"),
                          [&](int64_t place, int64_t piece) {
                            return sums.Mean({place, layer, piece});
                          }),
                      {0, 0}});
  }
  WriteMaps(
      pictures,
      QObject::tr("Attention of the last token on each piece, by gold place; mean over heads"),
      QStringLiteral("pieces_by_layer"), panels,
      {QObject::tr("piece"), QObject::tr("gold place"), QObject::tr("attention"),
       AxisLabels(record, "piece"), AxisLabels(record, "place")});
}

// Draws Fig. 11: maps per head of one layer.
void DrawPiecesByHead(FilePictures& pictures) {
  const SampleArray by_head(pictures.records(), "piece_attention_by_head",
                            {"place", "layer", "head", "piece"});
  if (!by_head.record()) return;
  const Record& record = *by_head.record();
  const QVector<double> layers = AxisValues(record, "layer");
  for (int64_t layer = 0; layer < layers.size(); ++layer) {
    const auto number = static_cast<int64_t>(layers[layer]);
    const std::vector<HeadId>& heads = pictures.request().heads;
    const bool chosen =
        std::ranges::any_of(heads, [number](const HeadId& head) { return head.layer == number; });
    if (!heads.empty() && !chosen) continue;
    std::vector<MapPanel> panels;
    for (int64_t head = 0; head < AxisSize(record, "head"); ++head) {
      panels.push_back({QObject::tr("head %1").arg(head),
                        Map(AxisSize(record, "place"), AxisSize(record, "piece"),
                            [&](int64_t place, int64_t piece) {
                              return by_head.Mean({place, layer, head, piece});
                            }),
                        {0, 0}});
    }
    WriteMaps(pictures,
              QObject::tr("Layer %1: attention of the last token on each piece, by gold place")
                  .arg(number),
              QStringLiteral("pieces_by_head_L%1").arg(number), panels,
              {QObject::tr("piece"), QObject::tr("gold place"), QObject::tr("attention"),
               AxisLabels(record, "piece"), AxisLabels(record, "place")});
  }
}

// Draws a map of layer by place of the attention on the gold piece.
void DrawGoldByLayer(FilePictures& pictures) {
  const SampleArray sums(pictures.records(), "piece_attention_sum", {"place", "layer", "piece"});
  const SampleArray gold(pictures.records(), "gold_piece", {"place"});
  if (!sums.record() || !gold.record()) return;
  const Record& record = *sums.record();
  // The gold is the same piece in all samples with one place.
  const auto piece_of = [&](int64_t place) {
    return AxisIndexOf(record, "piece", gold.First({place}));
  };
  const int64_t layers = AxisSize(record, "layer");
  MapPanel panel{QString(),
                 Map(layers, AxisSize(record, "place"),
                     [&](int64_t layer, int64_t place) {
                       const int64_t piece = piece_of(place);
                       return piece < 0 ? kMissing : sums.Mean({place, layer, piece});
                     }),
                 {0, 0}};
  WriteMaps(pictures, QObject::tr("Attention of the last token on the gold piece; mean over heads"),
            QStringLiteral("gold_by_layer"), {std::move(panel)},
            {QObject::tr("gold place"), QObject::tr("layer"), QObject::tr("attention"),
             AxisLabels(record, "place"), AxisLabels(record, "layer")});
}

// Draws maps of layer by head, one per place, from means over samples, such as the record
// gold_following.
void DrawHeadsByPlace(FilePictures& pictures) {
  for (const Record& record : pictures.records()) {
    for (const Array& array : record.arrays) {
      if (!HasArray(record, array.name, {"place", "layer", "head"})) continue;
      const QStringList places = AxisLabels(record, "place");
      std::vector<MapPanel> panels;
      for (int64_t place = 0; place < AxisSize(record, "place"); ++place) {
        panels.push_back({QObject::tr("place %1").arg(places.value(place)),
                          Map(AxisSize(record, "layer"), AxisSize(record, "head"),
                              [&](int64_t layer, int64_t head) {
                                return ValueAt(record, array.name, {place, layer, head});
                              }),
                          {0, 0}});
      }
      if (panels.empty()) continue;
      const QString name = QString::fromStdString(array.name);
      WriteMaps(pictures, QObject::tr("%1 of each head, by gold place").arg(name),
                QString::fromStdString(record.name) + QLatin1Char('_') + name +
                    QStringLiteral("_by_place"),
                panels,
                {QObject::tr("head"), QObject::tr("layer"), name, AxisLabels(record, "head"),
                 AxisLabels(record, "layer")});
    }
  }
}

// Draws maps of place by length (or another parameter), one per curve.
void DrawCurvesByPlace(FilePictures& pictures) {
  const Record* record = FindRecord(pictures.records(), kOutcomeCurves);
  if (!record) return;
  const QStringList curves = AxisLabels(*record, "curve");
  for (const Array& array : record->arrays) {
    if (array.axes.size() != 3 || array.axes[0] != "curve" || array.axes[2] != "place") continue;
    const std::string& parameter = array.axes[1];
    std::vector<MapPanel> panels;
    for (int64_t curve = 0; curve < AxisSize(*record, "curve"); ++curve) {
      panels.push_back({curves.value(curve),
                        Map(AxisSize(*record, "place"), AxisSize(*record, parameter),
                            [&](int64_t place, int64_t at) {
                              return ValueAt(*record, array.name, {curve, at, place});
                            }),
                        {0, 0}});
    }
    const QString name = QString::fromStdString(array.name);
    const QString over = TextAttribute(*record, "parameter");
    WriteMaps(pictures, QObject::tr("%1 by gold place and %2").arg(name, over),
              QStringLiteral("curves_%1_by_place").arg(name), panels,
              {over, QObject::tr("gold place"), name, AxisLabels(*record, parameter),
               AxisLabels(*record, "place"), array.unit.empty()});
  }
}

// Draws Fig. 1c of the channel paper: attention on the gold over its place, one line per length (or
// value of another parameter); one picture per curve.
void DrawGoldCurves(FilePictures& pictures) {
  const Record* curves = FindRecord(pictures.records(), kOutcomeCurves);
  const Array* array = curves ? curves->FindArray("gold_attention") : nullptr;
  if (!array || array->axes.size() != 3) return;
  const QString parameter = QString::fromStdString(array->axes[1]);
  const QStringList names = AxisLabels(*curves, "curve");
  Record lines;
  Axis values = {array->axes[1], AxisSize(*curves, array->axes[1]), "", {}, {}};
  for (const QString& value : AxisLabels(*curves, array->axes[1]))
    values.labels.push_back((parameter + QLatin1Char(' ') + value).toStdString());
  Axis places = *curves->FindAxis("place");
  const bool as_share = QString::fromStdString(places.labels.front()).endsWith(QLatin1Char('%'));
  for (const std::string& label : places.labels)
    places.values.push_back(
        QString::fromStdString(label).section(QLatin1Char(' '), 0, 0).toDouble());
  places.name = "gold place";
  places.unit = as_share ? "%" : "rank";
  lines.axes = {values, places};
  for (qsizetype curve = 0; curve < names.size(); ++curve) {
    std::vector<double> rows;
    for (int64_t at = 0; at < values.size; ++at) {
      for (const double value : LastAxisRow(*curves, array->name, {curve, at}))
        rows.push_back(value);
    }
    lines.arrays = {{array->name, {values.name, places.name}, rows, array->unit, ""}};
    LinesPlot plot;
    plot.Show(&lines, {.array = array->name});
    plot.SetTitle(QObject::tr("Attention of the last token on the gold, by its place — %1")
                      .arg(names[curve]));
    const QString stem = QStringLiteral("curves_gold_attention_lines");
    pictures.Write(plot, names.size() == 1 ? stem : stem + QStringLiteral("_%1").arg(curve + 1));
  }
}

// The tokens of the gold passage at a place.
TokenSpan GoldAt(const FilePictures& pictures, int64_t place, int64_t sample = 0) {
  const SampleArray begin(pictures.all_records(), "gold_token_begin", {"place"});
  const SampleArray end(pictures.all_records(), "gold_token_end", {"place"});
  if (begin.record() && end.record()) {
    // -1 if the gold passage was cut off completely.
    const auto token = [&](const SampleArray& array) {
      const double at = array.At(sample, {place});
      return at > 0 ? static_cast<int64_t>(at) : 0;
    };
    return {"gold", token(begin), token(end)};
  }
  const SampleArray first(pictures.all_records(), "span_token_begin", {"place", "span"});
  const SampleArray last(pictures.all_records(), "span_token_end", {"place", "span"});
  if (!first.record() || !last.record()) return {};
  const int64_t spans = AxisSize(*first.record(), "span");
  const QStringList names = Texts(*first.record(), kSpanName);
  const int64_t cell = sample * AxisSize(*first.record(), "place") + place;
  for (int64_t span = 0; span < spans; ++span) {
    if (names.value(cell * spans + span) != QLatin1String("gold")) continue;
    return {"gold", static_cast<int64_t>(first.At(sample, {place, span})),
            static_cast<int64_t>(last.At(sample, {place, span}))};
  }
  return {};
}

// The attention of each head on the tokens of a sample and place, as the mean over both. Samples
// without tokens are left out.
HeadTable MeanOn(const SampleArray& rows,
                 const std::function<TokenSpan(int64_t place, int64_t sample)>& tokens) {
  const Record& record = *rows.record();
  HeadTable table{{}, AxisSize(record, "layer"), AxisSize(record, "head")};
  table.values.assign(static_cast<size_t>(table.layers * table.heads), 0);
  int64_t cells = 0;
  for (int64_t sample = 0; sample < rows.samples(); ++sample) {
    for (int64_t place = 0; place < AxisSize(record, "place"); ++place) {
      const TokenSpan span = tokens(place, sample);
      if (span.empty()) continue;
      ++cells;
      for (size_t i = 0; i < table.values.size(); ++i) {
        const auto head = static_cast<int64_t>(i);
        const QVector<double> row =
            rows.Row(sample, {place, head / table.heads, head % table.heads});
        table.values[i] += SumOver(std::span(row), span);
      }
    }
  }
  if (cells == 0) return {};
  for (double& value : table.values) value /= static_cast<double>(cells);
  return table;
}

// The attention of each head on the gold, as the mean over samples and places, which the file may
// state; empty if the file has no gold.
HeadTable OnGold(const FilePictures& pictures, const SampleArray& rows) {
  const Record* means = pictures.FindInFile(kMeanGoldAttention, {"place", "layer", "head"}).a;
  if (means) return ArrayTable(means, kMeanGoldAttention);
  return MeanOn(rows,
                [&](int64_t place, int64_t sample) { return GoldAt(pictures, place, sample); });
}

// The head with the most attention on the gold; without gold, that with the least attention on the
// first tokens.
HeadChoice ChosenByPlace(const HeadTable& on_gold, const SampleArray& rows) {
  if (std::ranges::any_of(on_gold.values, [](double value) { return value > 0; }))
    return ChooseHead(on_gold, QObject::tr("most attention on the gold"));
  const auto first = [](int64_t /*place*/, int64_t /*sample*/) {
    return TokenSpan{"", 0, kSinkTokens};
  };
  return ChooseHead(MeanOn(rows, first),
                    QObject::tr("least attention on the first %1 tokens").arg(kSinkTokens), true);
}

// Draws the map of heads by attention on the gold, unless means by place are drawn.
void DrawOnGold(FilePictures& pictures, const HeadTable& on_gold, const SampleArray& rows,
                HeadId head) {
  const std::vector<std::string> axes = {"place", "layer", "head"};
  if (on_gold.values.empty() || pictures.Find(kMeanGoldAttention, axes).a) return;
  const bool is_mean = rows.samples() > 1 || pictures.FindInFile(kMeanGoldAttention, axes).a;
  const QStringList places = AxisLabels(*rows.record(), "place");
  HeadMapPlot plot;
  plot.Show({on_gold, QObject::tr("attention on the gold"),
             QObject::tr("attention on the gold (share)")});
  plot.SelectHead(head);
  plot.SetTitle(QObject::tr("Attention of the last query on the gold: %1, %2")
                    .arg(is_mean ? QObject::tr("mean over samples") : QObject::tr("first sample"),
                         places.size() == 1 ? QObject::tr("gold at place %1").arg(places.front())
                                            : QObject::tr("mean over places")));
  pictures.Write(plot, QStringLiteral("attention_on_gold"));
}

// Draws Fig. 4 and 6 of Ms-PoE: a row of panels per head, one panel per place. Keys that the
// position-awareness score counts are ringed.
void DrawRowsByPlace(FilePictures& pictures) {
  const std::vector<std::string> axes = {"place", "layer", "head", "key"};
  const SampleArray rows(pictures.records(), kLastQueryAttention, axes);
  if (!rows.record()) return;
  const SampleArray counted(pictures.all_records(), kCountedKeys, axes);
  const Record& record = *rows.record();
  const HeadTable on_gold = OnGold(pictures, rows);
  const HeadChoice choice = ChosenByPlace(on_gold, rows);
  const std::vector<HeadId> heads = pictures.HeadsIn(record, choice);
  DrawOnGold(pictures, on_gold, rows, heads.front());
  const QStringList places = AxisLabels(record, "place");
  const bool one_head = heads.size() == 1;
  std::vector<MapPanel> panels;
  for (const HeadId& head : heads) {
    for (int64_t place = 0; place < AxisSize(record, "place"); ++place) {
      const QString at = QObject::tr("gold at place %1").arg(places.value(place));
      const std::vector<int64_t> row = {place, head.layer, head.head};
      const TokenSpan gold = GoldAt(pictures, place);
      panels.push_back({one_head ? at : HeadText(head) + QStringLiteral(", ") + at,
                        {rows.FirstRow(row)},
                        {static_cast<int>(gold.begin), static_cast<int>(gold.end)},
                        counted.record() ? counted.FirstRow(row) : QVector<double>()});
    }
  }
  PanelsPlot::Axes shown = {
      QObject::tr("key (token)"), QObject::tr("attention"), QObject::tr("attention"), {}, {}};
  if (!one_head) shown.panels_in_row = static_cast<int>(AxisSize(record, "place"));
  PanelsPlot plot;
  plot.ShowLines(panels, shown);
  QStringList names;
  for (const HeadId& head : heads) names << pictures.HeadTitle(head, choice);
  plot.SetTitle(
      QObject::tr("%1: attention of the last token, gold shaded%2; first sample")
          .arg(names.join(QStringLiteral(", ")),
               counted.record() ? QObject::tr(", keys that the score counts ringed") : QString()));
  pictures.Write(plot, one_head
                           ? QStringLiteral("attention_%1_by_place").arg(HeadText(heads.front()))
                           : QStringLiteral("attention_heads_by_place"));
}

}  // namespace

void RenderMaps(FilePictures& pictures) {
  DrawPiecesByLayer(pictures);
  DrawPiecesByHead(pictures);
  DrawGoldByLayer(pictures);
  DrawHeadsByPlace(pictures);
  DrawCurvesByPlace(pictures);
  DrawGoldCurves(pictures);
  DrawRowsByPlace(pictures);
}

}  // namespace midscope
