// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/joint_test.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"

namespace midscope {
namespace {

// Seed of the random signs, different from the streams of statistics.cpp.
constexpr uint64_t kJointStream = 0x30147;

// Computes |t| of columns from the sums of their signed values; signs do not change the sums of
// squares.
class StudentsT {
 public:
  // `rows` [sample, column]
  StudentsT(std::span<const double> rows, size_t samples, size_t columns)
      : samples_(static_cast<double>(samples)), squares_(columns) {
    for (size_t i = 0; i < rows.size(); ++i) squares_[i % columns] += rows[i] * rows[i];
  }
  double operator()(size_t column, double sum) const {
    if (sum == 0) return 0;
    const double rest = std::max(squares_[column] - sum * sum / samples_, 0.0);
    return std::abs(sum) / std::sqrt(rest * samples_ / (samples_ - 1));
  }
  // Returns the lower bound from which a value counts as equal to t, because sums in another order
  // differ in the last bits.
  static double AtLeast(double t) { return t * (1 - 1e-9); }

 private:
  double samples_;
  std::vector<double> squares_;  // [column]
};

double LargestT(const StudentsT& t, std::span<const double> sums) {
  double largest = 0;
  for (size_t column = 0; column < sums.size(); ++column)
    largest = std::max(largest, t(column, sums[column]));
  return largest;
}

}  // namespace

std::vector<double> JointPValues(std::span<const double> differences, size_t columns, uint64_t seed,
                                 int permutations, const JobContext& context) {
  if (columns == 0) return {};
  const size_t samples = differences.size() / columns;
  if (samples < 2 || HasNan(differences)) return std::vector<double>(columns, kUndefined);
  const StudentsT t(differences, samples, columns);
  std::vector<double> sums(columns);
  for (size_t i = 0; i < differences.size(); ++i) sums[i % columns] += differences[i];
  std::vector<double> observed(columns);
  for (size_t column = 0; column < columns; ++column) observed[column] = t(column, sums[column]);

  SplitMix64 random(seed, kJointStream);
  std::vector<double> largest(static_cast<size_t>(permutations));
  for (double& one : largest) {
    context.ThrowIfCancelled();
    std::fill(sums.begin(), sums.end(), 0);
    uint64_t bits = 0;
    for (size_t sample = 0; sample < samples; ++sample, bits >>= 1) {
      if (sample % 64 == 0) bits = random.Next();
      const double sign = (bits & 1) != 0 ? 1 : -1;
      const double* row = differences.data() + sample * columns;
      for (size_t column = 0; column < columns; ++column) sums[column] += sign * row[column];
    }
    one = LargestT(t, sums);
  }
  std::sort(largest.begin(), largest.end());
  std::vector<double> p(columns);
  for (size_t column = 0; column < columns; ++column) {
    const auto reached = largest.end() - std::lower_bound(largest.begin(), largest.end(),
                                                          StudentsT::AtLeast(observed[column]));
    p[column] = static_cast<double>(reached + 1) / static_cast<double>(permutations + 1);
  }
  return p;
}

}  // namespace midscope
