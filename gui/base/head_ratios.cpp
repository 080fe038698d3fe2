// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/head_ratios.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/base/text.h"
#include "core/intervention/head_ratio_file.h"
#include "gui/base/write_whole_file.h"

namespace midscope {
namespace {

// The range of Ms-PoE, for layers whose ratios are all equal.
constexpr double kLeastOfRamp = 1.2;
constexpr double kMostOfRamp = 1.8;

double Rounded(double ratio) {
  return std::clamp(std::round(ratio * 1000) / 1000, kSmallestRatio, kLargestRatio);
}

std::vector<double> Ramp(size_t heads) {
  std::vector<double> ramp;
  for (size_t i = 0; i < heads; ++i) {
    const double share = heads > 1 ? static_cast<double>(i) / static_cast<double>(heads - 1) : 0;
    ramp.push_back(Rounded(kLeastOfRamp + (kMostOfRamp - kLeastOfRamp) * share));
  }
  return ramp;
}

// Returns nullptr if the table does not contain the head.
double* RatioOf(HeadRatioTable& table, HeadId head) {
  const int64_t at = head.layer * table.heads + head.head;
  const bool there = head.layer >= 0 && head.head >= 0 && head.head < table.heads &&
                     at < static_cast<int64_t>(table.ratios.size());
  return there ? &table.ratios[static_cast<size_t>(at)] : nullptr;
}

size_t LayersOf(const HeadRatioTable& table) {
  return table.heads > 0 ? table.ratios.size() / static_cast<size_t>(table.heads) : 0;
}

// The heads of a layer, as indices into the table, sorted by `less`.
template <typename Less>
std::vector<size_t> Ordered(const HeadRatioTable& table, size_t layer, Less less) {
  std::vector<size_t> order(static_cast<size_t>(table.heads));
  std::iota(order.begin(), order.end(), layer * order.size());
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

}  // namespace

HeadRatioTable EqualRatios(int64_t layers, int64_t heads, double ratio) {
  HeadRatioTable table;
  table.heads = heads;
  table.ratios.assign(static_cast<size_t>(layers * heads), ratio);
  return table;
}

HeadRatioTable ScaledRatios(HeadRatioTable table, const std::vector<HeadId>& heads, double change) {
  for (const HeadId& head : heads) {
    if (double* ratio = RatioOf(table, head)) *ratio = Rounded(*ratio * std::exp(change));
  }
  table.shuffle.reset();
  return table;
}

HeadRatioTable WithRatios(HeadRatioTable table, const std::vector<HeadId>& heads, double ratio) {
  for (const HeadId& head : heads) {
    if (double* own = RatioOf(table, head)) *own = Rounded(ratio);
  }
  table.shuffle.reset();
  return table;
}

HeadRatioTable RatiosByScore(HeadRatioTable table, const HeadTable& scores) {
  const bool any_missing = std::any_of(scores.values.begin(), scores.values.end(),
                                       [](double score) { return std::isnan(score); });
  if (scores.heads != table.heads || scores.values.size() != table.ratios.size() || any_missing)
    return table;
  const auto heads = static_cast<size_t>(table.heads);
  for (size_t layer = 0; layer < LayersOf(table); ++layer) {
    const auto first = table.ratios.begin() + static_cast<std::ptrdiff_t>(layer * heads);
    std::vector<double> ratios(first, first + table.heads);
    std::sort(ratios.begin(), ratios.end());
    if (ratios.front() == ratios.back()) ratios = Ramp(heads);
    const std::vector<size_t> order = Ordered(table, layer, [&scores](size_t a, size_t b) {
      return scores.values[a] > scores.values[b];
    });
    for (size_t i = 0; i < heads; ++i) table.ratios[order[i]] = ratios[i];
  }
  table.shuffle.reset();
  return table;
}

HeadRatioTable ReversedRatios(HeadRatioTable table) {
  const std::vector<double> before = table.ratios;
  for (size_t layer = 0; layer < LayersOf(table); ++layer) {
    const std::vector<size_t> order =
        Ordered(table, layer, [&before](size_t a, size_t b) { return before[a] < before[b]; });
    for (size_t i = 0; i < order.size(); ++i)
      table.ratios[order[i]] = before[order[order.size() - 1 - i]];
  }
  table.shuffle.reset();
  return table;
}

HeadRatioTable GroupedRatios(HeadRatioTable table, int64_t heads_per_key_value_head) {
  const auto group = static_cast<size_t>(std::max<int64_t>(heads_per_key_value_head, 1));
  for (size_t first = 0; first + group <= table.ratios.size(); first += group) {
    const auto begin = table.ratios.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(group);
    const double mean = std::accumulate(begin, end, 0.0) / static_cast<double>(group);
    std::fill(begin, end, Rounded(mean));
  }
  table.shuffle.reset();
  return table;
}

std::string RatioJson(const HeadRatioTable& table) {
  std::string text = "[";
  const auto heads = static_cast<size_t>(table.heads);
  for (size_t i = 0; i < table.ratios.size(); ++i) {
    if (i % heads == 0) text += i > 0 ? "],\n [" : "[";
    if (i % heads != 0) text += ", ";
    text += NumberText(table.ratios[i]);
  }
  return text + (table.ratios.empty() ? "]\n" : "]]\n");
}

QString RatioFolder() {
  return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
         QStringLiteral("/ratios");
}

bool IsEditedMsPoe(const std::string& file) {
  return QFileInfo(QString::fromStdString(file)).fileName().startsWith(QLatin1String(kEditedMsPoe));
}

HeadRatioTable InFolder(HeadRatioTable table, const QString& folder, bool write) {
  const QString stem = QLatin1String(IsEditedMsPoe(table.file) ? kEditedMsPoe : "ratios-");
  const QString path = QDir(folder).filePath(
      QStringLiteral("%1%2.json").arg(stem, QString::fromStdString(RatioDigest(table))));
  if (write && !QFile::exists(path)) {
    QDir().mkpath(folder);
    WriteWholeFile("ratios", path, RatioJson(table));
  }
  table.file = path.toStdString();
  return table;
}

}  // namespace midscope
