// SPDX-License-Identifier: MIT
#include "probes/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/random.h"

namespace midscope {
namespace {

// Stream of the bootstrap: other than those that draw tasks.
constexpr uint64_t kBootstrapStream = 0xb007;

double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double Mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Interval BootstrapMeanInterval(std::span<const double> values, uint64_t seed, int resamples) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const bool missing =
      std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  if (values.size() < 2 || resamples < 2 || missing) return {kNone, kNone};
  SplitMix64 random(seed, kBootstrapStream);
  std::vector<double> means(static_cast<size_t>(resamples));
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[random.Below(values.size())];
    mean = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  return {Quantile(means, 0.025), Quantile(means, 0.975)};
}

}  // namespace midscope
