// SPDX-License-Identifier: MIT
// Contract: GatedDeltaRule equals its formula in double precision within 1e-5 of the largest
// number; a row's numbers, and the state after it, do not depend on the division into calls or
// threads; each value head reads its own key head, in both orders. The values of rows times
// DeltaRuleWeights sum to the output of the last row, within 1e-4.
#include "kernels/delta_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

using Floats = std::vector<float>;

struct DeltaCase {
  DeltaShape shape;
  int64_t rows;
  Floats q, k, v, decay, rate;

  DeltaCase(const DeltaShape& of, int64_t count, bool rates = true) : shape(of), rows(count) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> share(0.05f, 0.99f);
    const auto fill = [&](Floats& values, int64_t size, auto& numbers) {
      values.resize(static_cast<size_t>(size));
      std::generate(values.begin(), values.end(), [&] { return numbers(random); });
    };
    fill(q, rows * shape.key_heads * shape.key_dim, normal);
    fill(k, rows * shape.key_heads * shape.key_dim, normal);
    // The rule is stable for keys of length 1.
    for (float& value : k) value /= std::sqrt(static_cast<float>(shape.key_dim));
    fill(v, rows * shape.value_heads * shape.value_dim, normal);
    fill(decay, rows * shape.value_heads, share);
    if (rates) fill(rate, rows * shape.value_heads, share);
  }

  int64_t StateSize() const { return shape.value_heads * shape.key_dim * shape.value_dim; }

  // Runs rows [first, last) on the state.
  void Run(int64_t first, int64_t last, Floats& state, Floats& out,
           const Executor& executor = SerialExecutor()) const {
    const int64_t key = first * shape.key_heads * shape.key_dim;
    const int64_t value = first * shape.value_heads * shape.value_dim;
    const int64_t number = first * shape.value_heads;
    GatedDeltaRule(shape, q.data() + key, k.data() + key, v.data() + value, decay.data() + number,
                   rate.empty() ? nullptr : rate.data() + number, last - first, state.data(),
                   out.data() + value, executor, nullptr);
  }

  // The formula, in double precision.
  std::vector<double> Expected() const {
    std::vector<double> out(v.size());
    for (int64_t head = 0; head < shape.value_heads; ++head) {
      const int64_t key_head =
          shape.tiled ? head % shape.key_heads : head / (shape.value_heads / shape.key_heads);
      std::vector<double> state(static_cast<size_t>(shape.key_dim * shape.value_dim));
      for (int64_t row = 0; row < rows; ++row) {
        const float* keys =
            &k[static_cast<size_t>((row * shape.key_heads + key_head) * shape.key_dim)];
        const float* queries =
            &q[static_cast<size_t>((row * shape.key_heads + key_head) * shape.key_dim)];
        const auto number = static_cast<size_t>(row * shape.value_heads + head);
        for (double& value : state) value *= static_cast<double>(decay[number]);
        for (int64_t j = 0; j < shape.value_dim; ++j) {
          const size_t at = number * static_cast<size_t>(shape.value_dim) + static_cast<size_t>(j);
          const auto cell = [&](int64_t i) -> double& {
            return state[static_cast<size_t>(i * shape.value_dim + j)];
          };
          double recalled = 0;
          for (int64_t i = 0; i < shape.key_dim; ++i) recalled += keys[i] * cell(i);
          const double change = rate.empty() ? v[at] : rate[number] * (v[at] - recalled);
          for (int64_t i = 0; i < shape.key_dim; ++i) {
            cell(i) += keys[i] * change;
            out[at] += queries[i] * cell(i);
          }
        }
      }
    }
    return out;
  }
};

void ExpectFormula(const DeltaCase& one) {
  Floats state(static_cast<size_t>(one.StateSize()));
  Floats out(one.v.size(), NAN);
  one.Run(0, one.rows, state, out);
  const std::vector<double> expected = one.Expected();
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-5 * largest) << i;
}

TEST(DeltaRule, IsItsFormula) {
  OnEveryTarget([] {
    DeltaShape shape{.key_heads = 2, .value_heads = 6, .key_dim = 7, .value_dim = 19};
    ExpectFormula({shape, 23});
    shape.tiled = true;
    ExpectFormula({shape, 23});
    ExpectFormula({{.key_heads = 3, .value_heads = 3, .key_dim = 32, .value_dim = 16}, 9});
    ExpectFormula({{.key_heads = 1, .value_heads = 1, .key_dim = 1, .value_dim = 1}, 5});
    shape.tiled = false;
    ExpectFormula({shape, 23, /*rates=*/false});
  });
}

void ExpectWeightsOf(const DeltaCase& one) {
  const std::vector<double> expected = one.Expected();
  const DeltaShape& shape = one.shape;
  const int64_t width = shape.value_heads * shape.value_dim;
  for (const int64_t rows : {int64_t{1}, one.rows}) {
    Floats weights(static_cast<size_t>(shape.value_heads * rows), NAN);
    DeltaRuleWeights(shape, one.q.data() + (rows - 1) * shape.key_heads * shape.key_dim,
                     one.k.data(), one.decay.data(), one.rate.empty() ? nullptr : one.rate.data(),
                     rows, weights.data(), ThreadExecutor(3), nullptr);
    for (int64_t column = 0; column < width; ++column) {
      const int64_t head = column / shape.value_dim;
      double sum = 0;
      for (int64_t row = 0; row < rows; ++row) {
        sum += static_cast<double>(weights[static_cast<size_t>(head * rows + row)]) *
               one.v[static_cast<size_t>(row * width + column)];
      }
      ASSERT_NEAR(sum, expected[static_cast<size_t>((rows - 1) * width + column)], 1e-4)
          << rows << " " << column;
    }
  }
}

TEST(DeltaRule, WeightsOfValuesSumToTheOutput) {
  OnEveryTarget([] {
    ExpectWeightsOf({{2, 6, 21, 19, false}, 33});
    ExpectWeightsOf({{2, 6, 21, 19, true}, 33});
    ExpectWeightsOf({{2, 6, 21, 19, false}, 33, /*rates=*/false});
  });
}

TEST(DeltaRule, DoesNotDependOnCallsOrThreads) {
  const DeltaCase one({.key_heads = 2, .value_heads = 4, .key_dim = 12, .value_dim = 21}, 40);
  Floats state(static_cast<size_t>(one.StateSize()));
  Floats whole(one.v.size());
  one.Run(0, one.rows, state, whole);
  Floats other_state(state.size());
  Floats parts(whole.size());
  const ThreadExecutor threads(3);
  one.Run(0, 1, other_state, parts);
  one.Run(1, 17, other_state, parts, threads);
  one.Run(17, one.rows, other_state, parts, threads);
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(other_state, state);
}

}  // namespace
}  // namespace midscope::kernels
