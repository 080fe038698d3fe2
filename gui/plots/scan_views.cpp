// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/scan_views.h"

#include <QCoreApplication>
#include <cmath>

#include "gui/base/record_access.h"

namespace midscope {
namespace {

QString Translated(const char* text) {
  return QCoreApplication::translate("midscope::ScanView", text);
}

std::vector<int64_t> Indices(const ScanView& view, HeadId head) {
  if (view.place < 0) return {head.layer, head.head};
  return {head.layer, head.head, view.place};
}

}  // namespace

std::vector<ScanView> ScanViews(const Record* scan) {
  std::vector<ScanView> views;
  if (!scan) return views;
  if (HasArray(*scan, "mean_effect", {"layer", "head"}))
    views.push_back({Translated("mean over places"), "mean_effect"});
  if (HasArray(*scan, "middle_effect", {"layer", "head"}))
    views.push_back({Translated("middle against first and last"), "middle_effect"});
  if (!HasArray(*scan, "effect", {"layer", "head", "place"})) return views;
  const QStringList places = AxisLabels(*scan, "place");
  for (int64_t place = 0; place < places.size(); ++place)
    views.push_back({Translated("place %1").arg(places[place]), "effect", place});
  return views;
}

double ScanEffectOf(const Record& scan, const ScanView& view, HeadId head) {
  return ValueAt(scan, view.array, Indices(view, head));
}

QString ScanEffectText(const Record& scan, const ScanView& view, HeadId head) {
  const auto value = [&](const char* suffix) {
    return ValueAt(scan, view.array + suffix, Indices(view, head));
  };
  QString text = Translated("effect %1 nats").arg(value(""), 0, 'g', 4);
  if (!std::isnan(value("_low")) && !std::isnan(value("_high"))) {
    text +=
        QStringLiteral(" [%1, %2]").arg(value("_low"), 0, 'g', 4).arg(value("_high"), 0, 'g', 4);
  }
  if (!std::isnan(value("_p")))
    text += Translated("\np %1, of all heads together").arg(value("_p"), 0, 'g', 3);
  return text;
}

}  // namespace midscope
