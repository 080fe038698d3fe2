// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/scan_views.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"

namespace midscope {
namespace {

constexpr char kPlace[] = "place";

QString Translated(const char* text) {
  return QCoreApplication::translate("midscope::ScanView", text);
}

// Whether the view is a share recovered by patches, not an effect in nats.
bool IsShare(const ScanView& view) { return view.array.find("share") != std::string::npos; }

// The axes of the scanned items: all except the place.
std::vector<std::string> ItemAxes(const Record& scan) {
  std::vector<std::string> axes;
  for (const Axis& axis : scan.axes) {
    if (axis.name != kPlace) axes.push_back(axis.name);
  }
  return axes;
}

std::vector<int64_t> Indices(const ScanView& view, std::vector<int64_t> at) {
  if (view.place >= 0) at.push_back(view.place);
  return at;
}

// The indices of every item; the last axis varies fastest.
std::vector<std::vector<int64_t>> ItemIndices(const Record& scan) {
  std::vector<std::vector<int64_t>> all = {{}};
  for (const std::string& axis : ItemAxes(scan)) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& before : all) {
      for (int64_t i = 0; i < AxisSize(scan, axis); ++i) {
        longer.push_back(before);
        longer.back().push_back(i);
      }
    }
    all = std::move(longer);
  }
  return all;
}

// "L3", "H2" and "G1" contain no space; items of other axes begin with the name of the axis.
QString PartName(const std::string& axis, const QString& label) {
  if (axis == "layer") return QLatin1Char('L') + label;
  if (axis == "head") return QLatin1Char('H') + label;
  if (axis == "group") return QLatin1Char('G') + label;
  if (axis == "span") return label;
  return QString::fromStdString(axis).replace(QLatin1Char('_'), QLatin1Char(' ')) +
         QLatin1Char(' ') + label;
}

}  // namespace

std::vector<ScanView> ScanViews(const Record* scan) {
  std::vector<ScanView> views;
  if (!scan) return views;
  const std::vector<std::string> axes = ItemAxes(*scan);
  std::vector<std::string> with_place = axes;
  with_place.emplace_back(kPlace);
  const QStringList places = AxisLabels(*scan, kPlace);
  const auto add_whole = [&](const char* array, const char* name) {
    if (HasArray(*scan, array, axes)) views.push_back({Translated(name), array});
  };
  const auto add_places = [&](const char* array, const char* name) {
    if (!HasArray(*scan, array, with_place)) return;
    for (int64_t place = 0; place < places.size(); ++place)
      views.push_back({Translated(name).arg(places[place]), array, place});
  };
  add_whole("mean_share", "share of the effect restored (mean over places)");
  add_places("share", "share of the effect restored, place %1");
  add_whole("mean_effect", "mean over places");
  add_whole("middle_effect", "middle against first and last");
  add_places("effect", "place %1");
  return views;
}

bool IsHeadScan(const Record* scan) {
  return scan && ItemAxes(*scan) == std::vector<std::string>{"layer", "head"};
}

double ScanEffectOf(const Record& scan, const ScanView& view, HeadId head) {
  return ValueAt(scan, view.array, Indices(view, {head.layer, head.head}));
}

QString ScanEffectText(const Record& scan, const ScanView& view, HeadId head) {
  const auto value = [&](const char* suffix) {
    return ValueAt(scan, view.array + suffix, Indices(view, {head.layer, head.head}));
  };
  QString text =
      Translated(IsShare(view) ? "share %1" : "effect %1 nats").arg(value(""), 0, 'g', 4);
  if (!std::isnan(value("_low")) && !std::isnan(value("_high"))) {
    text +=
        QStringLiteral(" [%1, %2]").arg(value("_low"), 0, 'g', 4).arg(value("_high"), 0, 'g', 4);
  }
  if (!std::isnan(value("_p")))
    text += Translated("\np %1, of all heads together").arg(value("_p"), 0, 'g', 3);
  return text;
}

QVector<BarPlot::Bar> LargestItems(const Record& scan, const ScanView& view, qsizetype most) {
  QVector<BarPlot::Bar> bars;
  for (const std::vector<int64_t>& at : ItemIndices(scan)) {
    const double value = ValueAt(scan, view.array, Indices(view, at));
    if (!std::isnan(value)) bars.append({ScanItemName(scan, at), value});
  }
  std::stable_sort(bars.begin(), bars.end(), [](const BarPlot::Bar& a, const BarPlot::Bar& b) {
    return std::abs(a.value) > std::abs(b.value);
  });
  return bars.first(std::min(bars.size(), most));
}

QString ScanItemName(const Record& scan, const std::vector<int64_t>& at) {
  const std::vector<std::string> axes = ItemAxes(scan);
  QString name;
  for (size_t i = 0; i < std::min(axes.size(), at.size()); ++i) {
    if (axes[i] == "span" && i > 0) name += QLatin1Char(' ');
    name += PartName(axes[i], AxisLabels(scan, axes[i]).value(static_cast<qsizetype>(at[i])));
  }
  return name;
}

Record GridOfView(const Record& scan, const ScanView& view) {
  Record grid;
  grid.name = scan.name;
  for (const Axis& axis : scan.axes) {
    if (axis.name != kPlace) grid.axes.push_back(axis);
  }
  std::vector<double> values;
  for (const std::vector<int64_t>& at : ItemIndices(scan))
    values.push_back(ValueAt(scan, view.array, Indices(view, at)));
  grid.arrays = {{ScanValueName(view).toStdString(), ItemAxes(scan), std::move(values), "", ""}};
  return grid;
}

QString ScanValueName(const ScanView& view) {
  return IsShare(view) ? Translated("share of the effect restored") : Translated("effect (nats)");
}

QString ScanValueNote(const ScanView& view) {
  return IsShare(view)
             ? Translated("1: the outcome of the source is restored in full; 0: not at all")
             : Translated("above 0: the change makes the answer less likely");
}

QString ScanTitle(const Record& scan, const ScanView& view) {
  QString term = TextAttribute(scan, "with");
  static const QRegularExpression placeholder(QStringLiteral("\\{(\\w+)\\}"));
  term.replace(placeholder, Translated("each \\1"));
  const QString base = TextAttribute(scan, "base");
  if (!base.isEmpty()) term = Translated("%1 on top of %2").arg(term, base);
  return Translated("%1 — %2").arg(term, view.name);
}

}  // namespace midscope
