// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/rank_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/check.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {
namespace {

void CheckSizes(std::span<const double> a, std::span<const double> b) {
  MIDSCOPE_CHECK_EQ(a.size(), b.size());
}

int Sign(double difference) { return difference > 0 ? 1 : difference < 0 ? -1 : 0; }

double Pearson(std::span<const double> a, std::span<const double> b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double together = 0;
  double spread_a = 0;
  double spread_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    together += (a[i] - mean_a) * (b[i] - mean_b);
    spread_a += (a[i] - mean_a) * (a[i] - mean_a);
    spread_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return spread_a > 0 && spread_b > 0 ? together / std::sqrt(spread_a * spread_b) : kUndefined;
}

}  // namespace

std::vector<double> AverageRanks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return values[i] < values[j]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + 1 + end) / 2;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = shared;
    first = end;
  }
  return ranks;
}

double SpearmanCorrelation(std::span<const double> a, std::span<const double> b) {
  CheckSizes(a, b);
  const auto missing = [](double value) { return std::isnan(value); };
  if (std::any_of(a.begin(), a.end(), missing) || std::any_of(b.begin(), b.end(), missing)) {
    return kUndefined;
  }
  return a.size() < 2 ? kUndefined : Pearson(AverageRanks(a), AverageRanks(b));
}

double KendallTau(std::span<const double> a, std::span<const double> b) {
  CheckSizes(a, b);
  int64_t agreement = 0;  // number of pairs in the same order minus pairs in the opposite order
  int64_t untied_a = 0;
  int64_t untied_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = i + 1; j < a.size(); ++j) {
      const int in_a = Sign(a[j] - a[i]);
      const int in_b = Sign(b[j] - b[i]);
      agreement += int64_t{in_a} * in_b;
      untied_a += in_a != 0 ? 1 : 0;
      untied_b += in_b != 0 ? 1 : 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return kUndefined;
  return static_cast<double>(agreement) /
         std::sqrt(static_cast<double>(untied_a) * static_cast<double>(untied_b));
}

std::vector<int64_t> StableRanks(std::span<const int64_t> counts) {
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return counts[i] > counts[j]; });
  std::vector<int64_t> ranks(counts.size());
  for (size_t place = 0; place < order.size(); ++place) {
    ranks[order[place]] = static_cast<int64_t>(place);
  }
  return ranks;
}

double MeanOfNumbers(std::span<const double> values) {
  double sum = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kUndefined;
}

}  // namespace midscope
