// SPDX-License-Identifier: MIT
#include "probes/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/random.h"

namespace midscope {
namespace {

// Streams of random numbers, distinct from those of tasks.
constexpr uint64_t kBootstrapStream = 0xb007;
constexpr uint64_t kPermutationStream = 0x9e7;

// Sums of the same numbers in another order differ in their last bits; these count as equal.
double AtLeast(double observed) { return std::abs(observed) * (1 - 1e-12) - 1e-300; }

double Share(int64_t as_far, int64_t drawn) {
  return static_cast<double>(as_far + 1) / static_cast<double>(drawn + 1);
}

// Random signs, from 64 random bits at a time.
class Signs {
 public:
  explicit Signs(SplitMix64& random) : random_(random) {}
  bool Next() {
    if (left_ == 0) {
      bits_ = random_.Next();
      left_ = 64;
    }
    const bool sign = (bits_ & 1) != 0;
    bits_ >>= 1;
    --left_;
    return sign;
  }

 private:
  SplitMix64& random_;
  uint64_t bits_ = 0;
  int left_ = 0;
};

double SumOfSquares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

double Quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

bool HasNan(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

double StandardDeviation(std::span<const double> values) {
  if (values.size() < 2) return kUndefined;
  const double mean = Mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::vector<double> ColumnMeans(std::span<const double> rows, size_t columns) {
  std::vector<double> means(columns);
  const size_t count = rows.size() / columns;
  for (size_t row = 0; row < count; ++row) {
    for (size_t column = 0; column < columns; ++column)
      means[column] += rows[row * columns + column];
  }
  for (double& mean : means) mean /= static_cast<double>(count);
  return means;
}

double Mean(std::span<const double> values) {
  if (values.empty()) return kUndefined;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Interval BootstrapRowsInterval(std::span<const double> rows, size_t columns, uint64_t seed,
                               const ColumnStatistic& statistic, int resamples) {
  const size_t count = columns == 0 ? 0 : rows.size() / columns;
  if (count < 2 || resamples < 2 || HasNan(rows)) return {kUndefined, kUndefined};
  SplitMix64 random(seed, kBootstrapStream);
  std::vector<double> drawn(static_cast<size_t>(resamples));
  std::vector<double> means(columns);
  for (double& value : drawn) {
    std::fill(means.begin(), means.end(), 0);
    for (size_t i = 0; i < count; ++i) {
      const size_t row = random.Below(count);
      for (size_t column = 0; column < columns; ++column) {
        means[column] += rows[row * columns + column];
      }
    }
    for (double& mean : means) mean /= static_cast<double>(count);
    value = statistic(means);
  }
  std::sort(drawn.begin(), drawn.end());
  return {Quantile(drawn, 0.025), Quantile(drawn, 0.975)};
}

double SignFlipPValue(std::span<const double> differences, uint64_t seed, int permutations) {
  if (differences.empty() || HasNan(differences)) return kUndefined;
  const size_t count = differences.size();
  double observed = 0;
  for (const double difference : differences) observed += difference;
  const double bound = AtLeast(observed);
  int64_t as_far = 0;
  constexpr size_t kMostExact = 30;
  if (count <= kMostExact && (int64_t{1} << count) <= permutations) {
    const uint64_t all = uint64_t{1} << count;
    for (uint64_t signs = 0; signs < all; ++signs) {
      double sum = 0;
      for (size_t i = 0; i < count; ++i) {
        sum += (signs >> i & 1) != 0 ? -differences[i] : differences[i];
      }
      as_far += std::abs(sum) >= bound ? 1 : 0;
    }
    return static_cast<double>(as_far) / static_cast<double>(all);
  }
  SplitMix64 random(seed, kPermutationStream);
  Signs signs(random);
  for (int i = 0; i < permutations; ++i) {
    double sum = 0;
    for (const double difference : differences) sum += signs.Next() ? -difference : difference;
    as_far += std::abs(sum) >= bound ? 1 : 0;
  }
  return Share(as_far, permutations);
}

double SmallestSignFlipP(int64_t differences) {
  return differences < 1
             ? kUndefined
             : std::ldexp(1.0, static_cast<int>(1 - std::min<int64_t>(differences, 1000)));
}

namespace {

double Gap(std::span<const double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low;
}

// Permutes the cells of every row, each of `width` values.
void PermuteCells(std::vector<double>& rows, size_t cells, size_t width, SplitMix64& random) {
  const size_t stride = cells * width;
  for (size_t begin = 0; begin < rows.size(); begin += stride) {
    for (size_t left = cells; left > 1; --left) {
      const size_t other = random.Below(left);
      if (other == left - 1) continue;
      const auto at = [&](size_t cell) {
        return rows.begin() + static_cast<std::ptrdiff_t>(begin + cell * width);
      };
      std::swap_ranges(at(left - 1), at(left), at(other));
    }
  }
}

// `numbers` computes one number per cell from the rows.
ColumnEffect Permute(std::vector<double> rows, size_t cells, size_t width, uint64_t seed,
                     int permutations,
                     const std::function<std::vector<double>(std::span<const double>)>& numbers) {
  const double bound = AtLeast(SumOfSquares(numbers(rows)));
  SplitMix64 random(seed, kPermutationStream);
  int64_t as_far = 0;
  double gaps = 0;
  for (int i = 0; i < permutations; ++i) {
    PermuteCells(rows, cells, width, random);
    const std::vector<double> drawn = numbers(rows);
    as_far += SumOfSquares(drawn) >= bound ? 1 : 0;
    gaps += Gap(drawn);
  }
  return {Share(as_far, permutations), gaps / permutations};
}

}  // namespace

ColumnEffect TestColumnEffect(std::span<const double> rows, size_t columns, uint64_t seed,
                              int permutations) {
  if (columns < 2 || rows.empty() || HasNan(rows)) return {kUndefined, kUndefined};
  // Centred by row, which permutations within a row do not change: avoids cancellation of small
  // differences between large values.
  std::vector<double> centred(rows.begin(), rows.end());
  for (size_t begin = 0; begin < centred.size(); begin += columns) {
    const double mean = Mean(std::span(centred).subspan(begin, columns));
    for (size_t column = 0; column < columns; ++column) centred[begin + column] -= mean;
  }
  return Permute(std::move(centred), columns, 1, seed, permutations,
                 [&](std::span<const double> values) { return ColumnMeans(values, columns); });
}

ColumnEffect TestCellEffect(std::span<const double> rows, size_t cells, size_t width, uint64_t seed,
                            const ColumnStatistic& statistic, int permutations) {
  if (cells < 2 || width < 1 || rows.empty() || HasNan(rows)) return {kUndefined, kUndefined};
  return Permute(std::vector<double>(rows.begin(), rows.end()), cells, width, seed, permutations,
                 [&](std::span<const double> values) {
                   const std::vector<double> means = ColumnMeans(values, cells * width);
                   std::vector<double> numbers(cells);
                   for (size_t cell = 0; cell < cells; ++cell) {
                     numbers[cell] = statistic(std::span(means).subspan(cell * width, width));
                   }
                   const double mean = Mean(numbers);
                   for (double& number : numbers) number -= mean;
                   return numbers;
                 });
}

double SwapPValue(std::span<const double> rows, std::span<const double> others, size_t columns,
                  uint64_t seed, const ColumnStatistic& statistic, int permutations) {
  if (columns == 0 || rows.empty() || HasNan(rows) || HasNan(others)) return kUndefined;
  const auto difference = [&](std::span<const double> a, std::span<const double> b) {
    return statistic(ColumnMeans(a, columns)) - statistic(ColumnMeans(b, columns));
  };
  std::vector<double> one(rows.begin(), rows.end());
  std::vector<double> two(others.begin(), others.end());
  const double bound = AtLeast(difference(one, two));
  SplitMix64 random(seed, kPermutationStream);
  Signs signs(random);
  int64_t as_far = 0;
  for (int i = 0; i < permutations; ++i) {
    for (size_t begin = 0; begin < one.size(); begin += columns) {
      if (!signs.Next()) continue;
      std::swap_ranges(one.begin() + static_cast<std::ptrdiff_t>(begin),
                       one.begin() + static_cast<std::ptrdiff_t>(begin + columns),
                       two.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    as_far += std::abs(difference(one, two)) >= bound ? 1 : 0;
  }
  return Share(as_far, permutations);
}

std::vector<double> HolmAdjusted(std::span<const double> p_values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p_values.size(); ++i) {
    if (!std::isnan(p_values[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size(), kUndefined);
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p_values[order[rank]] * static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(scaled, 1.0));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

namespace {

// Quantiles 0.975 and 0.8 of the normal distribution.
constexpr double kPowerFactor = 1.959963984540054 + 0.8416212335729143;

}  // namespace

int64_t SamplesForDifference(double standard_deviation, double difference) {
  const double root = kPowerFactor * standard_deviation / std::abs(difference);
  if (!std::isfinite(root) || root > 1e9) return -1;
  return std::max<int64_t>(2, static_cast<int64_t>(std::ceil(root * root)));
}

double DetectableDifference(double standard_deviation, int64_t samples) {
  return samples < 1 ? kUndefined
                     : kPowerFactor * standard_deviation / std::sqrt(static_cast<double>(samples));
}

}  // namespace midscope
