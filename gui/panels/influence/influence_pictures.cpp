// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/influence/influence_pictures.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "probes/client/result_files.h"
#include "probes/measure/influence/influence_names.h"

namespace midscope {
namespace {

// The lines of a plot: arrays [line, along] of one record, `value` and, if it has them, its bounds.
class Lines {
 public:
  Lines(const std::string& value, const std::string& unit, Axis along) {
    record_.name = kInfluenceByPlaceRecord;
    record_.axes = {{"run", 0, "", {}, {}}, std::move(along)};
    for (const char* end : {"", "_low", "_high"})
      record_.arrays.push_back({value + end, {"run", record_.axes[1].name}, {}, unit, ""});
    for (Array& array : record_.arrays) array.data = std::vector<double>();
  }
  // The values and, if the array has bounds, the ends of their intervals.
  void Add(const QString& name, const QVector<QVector<double>>& arrays) {
    ++record_.axes[0].size;
    record_.axes[0].labels.push_back(name.toStdString());
    for (qsizetype i = 0; i < arrays.size(); ++i) {
      auto& all = std::get<std::vector<double>>(record_.arrays[static_cast<size_t>(i)].data);
      all.insert(all.end(), arrays[i].begin(), arrays[i].end());
    }
  }
  void Show(const QString& title, int theory, LinesPlot& plot) {
    record_.arrays.front().description = title.toStdString();
    std::erase_if(record_.arrays, [](const Array& array) { return ElementCount(array.data) == 0; });
    const bool any = record_.axes[0].size > 0;
    plot.Show(any ? &record_ : nullptr, {.array = any ? record_.arrays.front().name : std::string(),
                                         .logarithmic = true,
                                         .dashed = theory});
  }

 private:
  Record record_;
};

// The name of a run: its model, with the setting if that is not `none`.
QString RunName(const Record& run) {
  const QString setting = TextAttribute(run, "intervention");
  QString name = TextAttribute(run, kInfluenceModel);
  if (!setting.isEmpty() && setting != QLatin1String("none"))
    name += QStringLiteral(", ") + setting;
  return name;
}

QString GradientText(const std::string& gradient) {
  return gradient == kOutputGradient ? QObject::tr("output's gradient")
                                     : QObject::tr("answer's gradient");
}

// The places of all runs, ascending.
std::vector<double> PlacesOf(const std::vector<Record>& runs) {
  std::set<double> places;
  for (const Record& run : runs) {
    for (const double place : AxisValues(run, "place")) places.insert(place);
  }
  return {places.begin(), places.end()};
}

// The values at the embeddings of an array [place, layer], NaN at places that the run lacks.
QVector<double> AtPlaces(const Record& run, const std::string& array,
                         const std::vector<double>& places) {
  QVector<double> values;
  for (const double place : places)
    values << ValueAt(run, array, {AxisIndexOf(run, "place", place), 0});
  return values;
}

// Returns labels such as "28: ' Paris'" for the tokens of the prompt; empty without a prompt.
std::vector<std::string> NumberedTokens(const Record* prompt) {
  std::vector<std::string> labels;
  if (!prompt) return labels;
  const QStringList texts = Texts(*prompt, "token_text");
  for (qsizetype i = 0; i < texts.size(); ++i)
    labels.push_back(QStringLiteral("%1: %2").arg(i).arg(ShownToken(texts[i])).toStdString());
  return labels;
}

}  // namespace

Record ReadInfluence(const ResultFiles& files, const QString& path) {
  const RunFile read = files.Read(path.toStdString());
  if (const Record* record = FindRecord(read.records, kInfluenceByPlaceRecord)) {
    Record lines = *record;
    std::erase_if(lines.arrays, [](const Array& array) {
      return std::find(array.axes.begin(), array.axes.end(), "head") != array.axes.end();
    });
    return lines;
  }
  throw Failure("'" + path.toStdString() + "'", "it has no gradients of midscope influence",
                "Give a file of midscope influence --out");
}

void ShowAlongPrompt(const std::vector<Record>& runs, const std::string& gradient,
                     LinesPlot& plot) {
  const std::string array = gradient + "_by_share";
  std::vector<const Record*> shown;
  for (const Record& run : runs) {
    if (HasArray(run, array, {"share"})) shown.push_back(&run);
  }
  Axis along = shown.empty() ? Axis() : *shown.front()->FindAxis("share");
  along.name = "position in the prompt";
  Lines lines("norm / mean", "", along);
  int theory = 0;
  for (const Record* run : shown) lines.Add(RunName(*run), {LastAxisRow(*run, array, {})});
  for (const Record* run : shown) {
    if (gradient != kOutputGradient || !HasArray(*run, kClosedFormByShare, {"share"})) continue;
    const double alpha = NumberAttribute(*run, kClosedFormAlpha, std::nan(""));
    lines.Add(QObject::tr("closed form, α %1").arg(alpha, 0, 'f', 2),
              {LastAxisRow(*run, kClosedFormByShare, {})});
    ++theory;
  }
  lines.Show(
      QObject::tr("Norm of the %1 by the embeddings, along the prompt").arg(GradientText(gradient)),
      theory, plot);
}

void ShowGold(const std::vector<Record>& runs, const std::string& gradient, bool relative,
              LinesPlot& plot) {
  const std::string array = gradient + (relative ? "_gold_ratio" : "_gold");
  const std::vector<double> places = PlacesOf(runs);
  Axis along{"gold place", static_cast<int64_t>(places.size()), "", {}, places};
  Lines lines(relative ? "norm on the gold / on distractors" : "norm on the gold",
              relative || gradient == kOutputGradient ? "" : "nats", along);
  for (const Record& run : runs) {
    if (places.size() < 2 || !HasArray(run, array, {"place", "layer"})) continue;
    QVector<QVector<double>> values;
    for (const char* end : {"", "_low", "_high"}) values.append(AtPlaces(run, array + end, places));
    if (std::any_of(values[0].begin(), values[0].end(),
                    [](double value) { return std::isfinite(value); }))
      lines.Add(RunName(run), values);
  }
  lines.Show(QObject::tr("Norm of the %1 by the embeddings of the gold, by its place")
                 .arg(GradientText(gradient)),
             0, plot);
}

Record FirstPrompt(const Record& influence) {
  const std::vector<std::string> chosen = {"sample", "place"};
  Record first = influence;
  for (const std::string& axis : chosen) {
    if (!first.FindAxis(axis)) continue;
    first = AtIndex(first, axis, 0);
    first.attributes[axis] = static_cast<int64_t>(AxisValues(first, axis).value(0));
    std::erase_if(first.axes, [&](const Axis& each) { return each.name == axis; });
    for (Array& array : first.arrays) std::erase(array.axes, axis);
  }
  return first;
}

void ShowLayers(const Record* influence, const std::string& gradient, const Record* prompt,
                RecordPlot& plot) {
  if (!influence || !HasArray(*influence, gradient, {"layer", "token"}))
    return plot.Show(nullptr, "", {}, RecordForm::kLogarithmicMap);
  Record shown = *influence;
  const std::vector<std::string> tokens = NumberedTokens(prompt);
  for (Axis& axis : shown.axes) {
    if (axis.name == "token" && std::ssize(tokens) == axis.size) axis.labels = tokens;
  }
  plot.Show(&shown, gradient, {}, RecordForm::kLogarithmicMap);
  plot.NumberAlong();
  QString title = QObject::tr("Norm of the %1 by layer and token").arg(GradientText(gradient));
  if (const int64_t place = IntegerAttribute(shown, "place", 0); place > 0) {
    title +=
        QObject::tr(", sample %1, place %2").arg(IntegerAttribute(shown, "sample", 0)).arg(place);
  }
  plot.SetTitle(title);
}

void RenderInfluence(FilePictures& pictures) {
  std::vector<Record> runs;
  for (const Record& record : pictures.records()) {
    if (record.name == kInfluenceByPlaceRecord) runs.push_back(record);
  }
  if (runs.empty()) return;
  const Record* influence = FindRecord(pictures.records(), kInfluenceRecord);
  const Record by_token = influence ? FirstPrompt(*influence) : Record();
  for (const std::string gradient : kInfluenceKinds) {
    const QString stem = QString::fromStdString(gradient);
    LinesPlot along;
    ShowAlongPrompt(runs, gradient, along);
    if (along.lines() > 0) pictures.Write(along, stem + QStringLiteral("_along_prompt"));
    for (const bool relative : {false, true}) {
      LinesPlot gold;
      ShowGold(runs, gradient, relative, gold);
      if (gold.lines() == 0) continue;
      pictures.Write(gold,
                     stem + (relative ? QStringLiteral("_gold_ratio_by_place")
                                      : QStringLiteral("_gold_by_place")),
                     {}, QObject::tr("Student's t"));
    }
    RecordPlot map;
    ShowLayers(&by_token, gradient, pictures.prompt(), map);
    if (map.lines() > 0) pictures.Write(map, stem + QStringLiteral("_by_layer_and_token"));
  }
}

}  // namespace midscope
