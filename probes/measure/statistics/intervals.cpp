// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/intervals.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace midscope {
namespace {

constexpr double kNormalQuantile = 1.959963984540054;
constexpr int kHalvings = 60;

// Returns P(|T| <= t) for Student's t as a function of theta = atan(t / sqrt(degrees)), by the
// finite series for integer degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double StudentMass(double theta, int64_t degrees) {
  const double cos2 = std::cos(theta) * std::cos(theta);
  const bool odd = degrees % 2 != 0;
  double term = odd ? std::cos(theta) : 1.0;
  double sum = degrees == 1 ? 0.0 : term;
  for (int64_t k = odd ? 3 : 2; k + 2 <= degrees; k += 2) {
    term *= cos2 * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double sine = std::sin(theta);
  return odd ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

// Returns the argument in [low, high] at which the increasing `function` reaches `level`.
double WhereRising(double low, double high, double level,
                   const std::function<double(double)>& function) {
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (function(middle) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval WilsonInterval(double share, double samples, double quantile) {
  const double z2 = quantile * quantile;
  const double centre = (share + z2 / (2 * samples)) / (1 + z2 / samples);
  const double half = quantile / (1 + z2 / samples) *
                      std::sqrt(share * (1 - share) / samples + z2 / (4 * samples * samples));
  // Avoids rounding errors at shares of 0 and 1, where a bound is exactly 0 or 1.
  return {share <= 0 ? 0 : std::max(0.0, centre - half),
          share >= 1 ? 1 : std::min(1.0, centre + half)};
}

// Returns Tango's statistic for the hypothesis that the difference is `delta`; it decreases with
// delta.
double TangoScore(double gained, double lost, double samples, double delta) {
  // Maximum likelihood estimate of the probability of `lost` under the hypothesis: the larger root
  // of 2 n q^2 + b q + c = 0.
  const double b = -gained - lost + (2 * samples - gained + lost) * delta;
  const double c = -lost * delta * (1 - delta);
  const double root = std::sqrt(std::max(0.0, b * b - 8 * samples * c));
  const double q = (root - b) / (4 * samples);
  const double variance = samples * (2 * q + delta * (1 - delta));
  const double distance = gained - lost - samples * delta;
  if (variance <= 0) return distance == 0 ? 0 : std::copysign(HUGE_VAL, distance);
  return distance / std::sqrt(variance);
}

Interval TangoInterval(double gained, double lost, double samples, double quantile) {
  const double observed = (gained - lost) / samples;
  const auto fallen = [&](double delta) { return -TangoScore(gained, lost, samples, delta); };
  return {observed <= -1 ? -1 : WhereRising(-1, observed, -quantile, fallen),
          observed >= 1 ? 1 : WhereRising(observed, 1, quantile, fallen)};
}

// The effective number of samples: the number of independent samples that give the same variance of
// the mean over cells, and the quantile to use with it.
struct Effective {
  double samples = 0;
  double quantile = kNormalQuantile;
};

// `cell_variance`: variance of one cell about the overall mean.
Effective EffectiveSamples(std::span<const double> rows, size_t columns, double cell_variance) {
  const size_t count = rows.size() / columns;
  const auto least = static_cast<double>(count);
  if (columns == 1 || cell_variance <= 0) return {least, kNormalQuantile};
  std::vector<double> means(count);
  for (size_t row = 0; row < count; ++row) means[row] = Mean(rows.subspan(row * columns, columns));
  const double deviation = StandardDeviation(means);
  const double spread = deviation * deviation / least;
  const double most = static_cast<double>(rows.size());
  const double samples = spread > 0 ? std::clamp(cell_variance / spread, least, most) : most;
  return {samples, StudentQuantile(static_cast<int64_t>(count) - 1)};
}

}  // namespace

double StudentQuantile(int64_t degrees_of_freedom) {
  if (degrees_of_freedom < 1) return HUGE_VAL;
  // Above this number of degrees of freedom, the series is long, and the first terms of the
  // expansion in 1 / degrees (Abramowitz and Stegun, 26.7.5) are accurate to 1e-12.
  constexpr int64_t kSeries = 2000;
  if (degrees_of_freedom > kSeries) {
    const double z = kNormalQuantile;
    const auto n = static_cast<double>(degrees_of_freedom);
    const double z3 = z * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * n * n);
  }
  const double theta = WhereRising(0, std::numbers::pi / 2, 0.95, [&](double angle) {
    return StudentMass(angle, degrees_of_freedom);
  });
  return std::tan(theta) * std::sqrt(static_cast<double>(degrees_of_freedom));
}

Interval MeanInterval(std::span<const double> values) {
  if (values.size() < 2 || HasNan(values)) return {kUndefined, kUndefined};
  const double mean = Mean(values);
  const double half = StudentQuantile(static_cast<int64_t>(values.size()) - 1) *
                      StandardDeviation(values) / std::sqrt(static_cast<double>(values.size()));
  return {mean - half, mean + half};
}

Interval ShareInterval(double share, double samples) {
  if (!(samples > 0) || std::isnan(share)) return {kUndefined, kUndefined};
  return WilsonInterval(share, samples, kNormalQuantile);
}

Interval RowShareInterval(std::span<const double> rows, size_t columns) {
  if (columns == 0 || rows.size() / columns < 2 || HasNan(rows)) return {kUndefined, kUndefined};
  const double share = Mean(rows);
  const Effective effective = EffectiveSamples(rows, columns, share * (1 - share));
  return WilsonInterval(share, effective.samples, effective.quantile);
}

Interval IndependentDifferenceInterval(double a, Interval of_a, double b, Interval of_b) {
  return {a - b - std::hypot(a - of_a.low, of_b.high - b),
          a - b + std::hypot(of_a.high - a, b - of_b.low)};
}

Interval PairedShareInterval(double gained, double lost, double samples) {
  if (!(samples > 0) || std::isnan(gained) || std::isnan(lost)) return {kUndefined, kUndefined};
  return TangoInterval(gained, lost, samples, kNormalQuantile);
}

Interval PairedRowShareInterval(std::span<const double> differences, size_t columns) {
  if (columns == 0 || differences.size() / columns < 2 || HasNan(differences)) {
    return {kUndefined, kUndefined};
  }
  const auto cells = static_cast<double>(differences.size());
  const auto gained = static_cast<double>(std::count(differences.begin(), differences.end(), 1.0));
  const auto lost = static_cast<double>(std::count(differences.begin(), differences.end(), -1.0));
  const double mean = (gained - lost) / cells;
  const double variance = (gained + lost) / cells - mean * mean;
  const Effective effective = EffectiveSamples(differences, columns, variance);
  const double scale = effective.samples / cells;
  return TangoInterval(gained * scale, lost * scale, effective.samples, effective.quantile);
}

}  // namespace midscope
