// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/statistics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/random.h"

namespace midscope {
namespace {

// Seeds of random number streams, different from those of tasks.
constexpr uint64_t kBootstrapStream = 0xb007;
constexpr uint64_t kPermutationStream = 0x9e7;

// Returns the lower bound from which a value counts as equal to `observed`, because sums in another
// order differ in the last bits.
double AtLeast(double observed) { return std::abs(observed) * (1 - 1e-12) - 1e-300; }

double Share(int64_t as_far, int64_t drawn) {
  return static_cast<double>(as_far + 1) / static_cast<double>(drawn + 1);
}

// Random signs, one bit each, for many consecutive draws, generated 64 bits at a time.
class Signs {
 public:
  explicit Signs(uint64_t seed) : random_(seed, kPermutationStream) {}
  // Returns the 64 signs from number `first` on.
  uint64_t At(uint64_t first) const {
    const uint64_t shift = first % 64;
    const uint64_t low = random_.At(first / 64) >> shift;
    return shift == 0 ? low : low | random_.At(first / 64 + 1) << (64 - shift);
  }

 private:
  SplitMix64 random_;
};
constexpr size_t kSignsAtOnce = 64;

// Returns -value if `negative` is 1, else value, without a branch, which would be unpredictable.
double Flipped(double value, uint64_t negative) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ negative << 63);
}

double SumOfSquares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

// Calls `compute` with the number of columns, as a compile-time constant up to kKnownColumns (3 to
// 5 places are the common numbers): sums of a known number of columns stay in registers.
constexpr size_t kKnownColumns = 6;
template <typename Compute, size_t kColumns = 1>
void WithColumns(size_t columns, const Compute& compute) {
  if constexpr (kColumns > kKnownColumns) {
    compute(columns);
  } else if (columns == kColumns) {
    compute(std::integral_constant<size_t, kColumns>());
  } else {
    WithColumns<Compute, kColumns + 1>(columns, compute);
  }
}

std::vector<double> Zeros(size_t columns) { return std::vector<double>(columns); }
template <size_t kColumns>
std::array<double, kColumns> Zeros(std::integral_constant<size_t, kColumns> /*columns*/) {
  return {};
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
  const SplitMix64::Bound any_row(count);
  WithColumns(columns, [&](auto known_columns) {
    for (double& value : drawn) {
      auto sums = Zeros(known_columns);
      for (size_t i = 0; i < count; ++i) {
        const double* row = rows.data() + any_row.Draw(random) * known_columns;
        for (size_t column = 0; column < known_columns; ++column) sums[column] += row[column];
      }
      for (size_t column = 0; column < known_columns; ++column)
        means[column] = sums[column] / static_cast<double>(count);
      value = statistic(means);
    }
  });
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
  const Signs signs(seed);
  // Number of parallel sums, because a single sum would wait for each of its additions.
  constexpr int kSums = 4;
  for (int first = 0; first < permutations; first += kSums) {
    std::array<double, kSums> sums{};
    for (size_t begin = 0; begin < count; begin += kSignsAtOnce) {
      std::array<uint64_t, kSums> negative;
      for (int i = 0; i < kSums; ++i)
        negative[i] = signs.At(static_cast<uint64_t>(first + i) * count + begin);
      const size_t end = std::min(count, begin + kSignsAtOnce);
      for (size_t row = begin; row < end; ++row) {
        for (int i = 0; i < kSums; ++i) {
          sums[i] += Flipped(differences[row], negative[i] & 1);
          negative[i] >>= 1;
        }
      }
    }
    for (int i = 0; i < std::min(kSums, permutations - first); ++i)
      as_far += std::abs(sums[i]) >= bound ? 1 : 0;
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

// Swaps bytes `one` and `other` of `bytes`, counted from the lowest.
uint64_t SwappedBytes(uint64_t bytes, uint64_t one, uint64_t other) {
  const uint64_t difference = (bytes >> 8 * one ^ bytes >> 8 * other) & 0xff;
  return bytes ^ (difference << 8 * one | difference << 8 * other);
}

// Permutes the values of each row and adds them to `sums`. The order of a row is drawn in a
// register, because values that are swapped in memory wait for each other.
template <size_t kColumns>
void PermuteRows(std::span<double> rows, SplitMix64& random, std::array<double, kColumns>& sums) {
  for (double* row = rows.data(); row < rows.data() + rows.size(); row += kColumns) {
    uint64_t order = 0x0706050403020100;
    [&]<size_t... kDone>(std::index_sequence<kDone...>) {
      ((order = SwappedBytes(order, kColumns - 1 - kDone, random.Below<kColumns - kDone>())), ...);
    }
    (std::make_index_sequence<kColumns - 1>());
    std::array<double, kColumns> drawn;
    for (size_t i = 0; i < kColumns; ++i) drawn[i] = row[order >> 8 * i & 7];
    for (size_t i = 0; i < kColumns; ++i) sums[i] += row[i] = drawn[i];
  }
}

// Permutes the cells, of `width` values each, within every row.
class CellPermuter {
 public:
  CellPermuter(size_t cells, size_t width, uint64_t seed)
      : cells_(cells), width_(width), random_(seed, kPermutationStream) {
    for (size_t left = 0; left <= cells; ++left) bounds_.emplace_back(std::max<size_t>(left, 1));
  }

  // Permutes the cells of every row; returns the means of the columns.
  std::vector<double> Permute(std::vector<double>& rows) {
    std::vector<double> means(cells_ * width_);
    if (width_ == 1 && cells_ <= kKnownColumns) {
      WithColumns(cells_, [&](auto columns) {
        auto sums = Zeros(columns);
        if constexpr (!std::is_same_v<decltype(columns), size_t>) PermuteRows(rows, random_, sums);
        std::copy(sums.begin(), sums.end(), means.begin());
      });
    } else {
      for (double* row = rows.data(); row < rows.data() + rows.size(); row += means.size()) {
        for (size_t left = cells_; left > 1; --left) {
          double* last = row + (left - 1) * width_;
          std::swap_ranges(last, last + width_, row + bounds_[left].Draw(random_) * width_);
        }
        for (size_t column = 0; column < means.size(); ++column) means[column] += row[column];
      }
    }
    const size_t count = rows.size() / means.size();
    for (double& mean : means) mean /= static_cast<double>(count);
    return means;
  }

 private:
  size_t cells_;
  size_t width_;
  SplitMix64 random_;
  std::vector<SplitMix64::Bound> bounds_;  // random bounds by number of remaining cells
};

// Runs the permutations. `numbers` computes one number per cell from the columns' means.
ColumnEffect Permute(std::vector<double> rows, size_t cells, size_t width, uint64_t seed,
                     int permutations,
                     const std::function<std::vector<double>(std::vector<double>)>& numbers) {
  const double bound = AtLeast(SumOfSquares(numbers(ColumnMeans(rows, cells * width))));
  CellPermuter permuter(cells, width, seed);
  int64_t as_far = 0;
  double gaps = 0;
  for (int i = 0; i < permutations; ++i) {
    const std::vector<double> drawn = numbers(permuter.Permute(rows));
    as_far += SumOfSquares(drawn) >= bound ? 1 : 0;
    gaps += Gap(drawn);
  }
  return {Share(as_far, permutations), gaps / permutations};
}

}  // namespace

ColumnEffect TestColumnEffect(std::span<const double> rows, size_t columns, uint64_t seed,
                              int permutations) {
  if (columns < 2 || rows.empty() || HasNan(rows)) return {kUndefined, kUndefined};
  // Rows are centred, which does not affect permutations within a row, to avoid cancellation
  // between large values.
  std::vector<double> centred(rows.begin(), rows.end());
  for (size_t begin = 0; begin < centred.size(); begin += columns) {
    const double mean = Mean(std::span(centred).subspan(begin, columns));
    for (size_t column = 0; column < columns; ++column) centred[begin + column] -= mean;
  }
  return Permute(std::move(centred), columns, 1, seed, permutations,
                 [](std::vector<double> means) { return means; });
}

ColumnEffect TestCellEffect(std::span<const double> rows, size_t cells, size_t width, uint64_t seed,
                            const ColumnStatistic& statistic, int permutations) {
  if (cells < 2 || width < 1 || rows.empty() || HasNan(rows)) return {kUndefined, kUndefined};
  return Permute(std::vector<double>(rows.begin(), rows.end()), cells, width, seed, permutations,
                 [&](const std::vector<double>& means) {
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
  const size_t count = rows.size() / columns;
  std::vector<double> pairs(2 * rows.size());  // [row, one of two, column]
  for (size_t row = 0; row < count; ++row) {
    double* pair = pairs.data() + 2 * row * columns;
    std::copy_n(rows.data() + row * columns, columns, pair);
    std::copy_n(others.data() + row * columns, columns, pair + columns);
  }
  // [row / 64]: one bit per row, 1 if it is swapped. Each draw changes the bits of the previous
  // one.
  std::vector<uint64_t> swapped((count + kSignsAtOnce - 1) / kSignsAtOnce);
  std::vector<double> one(columns);
  std::vector<double> two(columns);
  const auto drawn = [&] {
    WithColumns(columns, [&](auto known_columns) {
      auto sums = Zeros(known_columns);
      auto other_sums = Zeros(known_columns);
      for (size_t row = 0; row < count; ++row) {
        const uint64_t is_swapped = swapped[row / kSignsAtOnce] >> row % kSignsAtOnce & 1;
        const double* a = pairs.data() + (2 * row + is_swapped) * known_columns;
        const double* b = pairs.data() + (2 * row + 1 - is_swapped) * known_columns;
        for (size_t column = 0; column < known_columns; ++column) {
          sums[column] += a[column];
          other_sums[column] += b[column];
        }
      }
      for (size_t column = 0; column < known_columns; ++column) {
        one[column] = sums[column] / static_cast<double>(count);
        two[column] = other_sums[column] / static_cast<double>(count);
      }
    });
    return statistic(one) - statistic(two);
  };
  const double bound = AtLeast(drawn());
  const Signs signs(seed);
  int64_t as_far = 0;
  for (int i = 0; i < permutations; ++i) {
    for (size_t block = 0; block < swapped.size(); ++block)
      swapped[block] ^= signs.At(static_cast<uint64_t>(i) * count + block * kSignsAtOnce);
    as_far += std::abs(drawn()) >= bound ? 1 : 0;
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
