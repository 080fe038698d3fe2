// SPDX-License-Identifier: MIT
// Contract: FillRotary equals cos and sin of the double-precision angle within float32 rounding, at
// any position, and a row of a table does not depend on where the table begins; Rotate turns each
// pair by its angle, copies the remaining elements, may work in place, and changes nothing else.
#include "kernels/rotary.h"

#include <cmath>

#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/every_target.h"

namespace midscope::kernels {
namespace {

// Half a float32 step of a number up to 1, plus the recurrence's 1e-14.
constexpr double kTableTolerance = 6.1e-8;

TEST(Rotary, TablesAreExactAtAnyPosition) {
  const std::vector<double> frequencies = {1.0, 0.31622776601683794, 0.01, 1e-5, 0.0};
  for (const int64_t first : {0, 1, 63, 64, 1000, 262080, 16777216}) {
    for (const double ratio : {1.0, 1.2, 1.8, 4.0}) {
      const int64_t rows = 70;
      std::vector<float> cosines(static_cast<size_t>(rows) * frequencies.size());
      std::vector<float> sines(cosines.size());
      FillRotary(frequencies, ratio, first, rows, 1.0, cosines.data(), sines.data());
      for (int64_t row = 0; row < rows; ++row) {
        for (size_t pair = 0; pair < frequencies.size(); ++pair) {
          const double angle = static_cast<double>(first + row) / ratio * frequencies[pair];
          const size_t at = static_cast<size_t>(row) * frequencies.size() + pair;
          // An angle of 1.7e7 already has an error of 4e-9 in double.
          ASSERT_NEAR(cosines[at], std::cos(angle), kTableTolerance) << first + row << " " << pair;
          ASSERT_NEAR(sines[at], std::sin(angle), kTableTolerance) << first + row << " " << pair;
        }
      }
    }
  }
}

TEST(Rotary, ARowDoesNotDependOnTheTablesBegin) {
  const std::vector<double> frequencies = {1.0, 0.123, 0.0007};
  constexpr size_t kPairs = 3;
  std::vector<float> whole_cos(300 * kPairs), whole_sin(300 * kPairs);
  std::vector<float> part_cos(100 * kPairs), part_sin(100 * kPairs);
  FillRotary(frequencies, 1.3, 0, 300, 1.0, whole_cos.data(), whole_sin.data());
  FillRotary(frequencies, 1.3, 177, 100, 1.0, part_cos.data(), part_sin.data());
  for (size_t i = 0; i < part_cos.size(); ++i) {
    EXPECT_EQ(part_cos[i], whole_cos[177 * kPairs + i]);
    EXPECT_EQ(part_sin[i], whole_sin[177 * kPairs + i]);
  }
}

TEST(Rotary, MagnitudeScalesBoth) {
  const std::vector<double> frequencies = {0.5};
  float cos = 0, sin = 0;
  FillRotary(frequencies, 1.0, 3, 1, 2.0, &cos, &sin);
  EXPECT_NEAR(cos, 2 * std::cos(1.5), 1e-6);
  EXPECT_NEAR(sin, 2 * std::sin(1.5), 1e-6);
}

struct RotateCase {
  int64_t head_dim;
  int64_t pairs;
};

void CheckTurnsPairsAndPassesTheRest() {
  for (const RotateCase c :
       {RotateCase{64, 32}, {36, 18}, {80, 10}, {33, 16}, {6, 1}, {128, 64}, {16, 0}}) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      const int64_t rows = 3, heads = 2, first = 5;
      AttentionCase inputs({.query_rows = rows + first,
                            .heads = heads,
                            .key_value_heads = 1,
                            .head_dim = c.head_dim,
                            .pairs = c.pairs,
                            .dtype = dtype});
      const RotaryView table = inputs.q_tables[0];
      Guarded out(rows * heads * c.head_dim, Dtype::kFloat32);
      const ConstHeads x = inputs.Part(0, 0);
      Rotate(x, rows, heads, c.head_dim, table, first, inputs.Out(out, Dtype::kFloat32));
      EXPECT_TRUE(out.Intact());
      for (int64_t i = 0; i < rows * heads * c.head_dim; ++i) {
        const int64_t row = i / (heads * c.head_dim), head = i / c.head_dim % heads,
                      e = i % c.head_dim;
        const auto at = [&](int64_t element) {
          return static_cast<double>(
              inputs.fused.At(row * inputs.width + head * c.head_dim + element));
        };
        double want = at(e);
        if (e < 2 * c.pairs) {
          const int64_t pair = e % c.pairs;
          const double cos = table.cos[(first + row) * c.pairs + pair];
          const double sin = table.sin[(first + row) * c.pairs + pair];
          want = e < c.pairs ? at(e) * cos - at(e + c.pairs) * sin : at(e) * cos + at(pair) * sin;
        }
        ASSERT_NEAR(out.At(i), want, 1e-6) << "dim " << c.head_dim << " element " << e;
      }
    }
  }
}

TEST(Rotary, TurnsPairsAndPassesTheRest) { OnEveryTarget(CheckTurnsPairsAndPassesTheRest); }

TEST(Rotary, WorksInPlace) {
  AttentionCase inputs({.query_rows = 20,
                        .heads = 3,
                        .key_value_heads = 1,
                        .head_dim = 64,
                        .dtype = Dtype::kBFloat16});
  Guarded out(20 * inputs.width, Dtype::kBFloat16);
  Rotate(inputs.Part(0, 0), 20, 5, 64, inputs.q_tables[0], 0,
         {out.data(), Dtype::kBFloat16, inputs.width, 64});
  Rotate(inputs.Part(0, 0), 20, 5, 64, inputs.q_tables[0], 0,
         {inputs.fused.data(), Dtype::kBFloat16, inputs.width, 64});
  EXPECT_TRUE(inputs.fused == out);
}

}  // namespace
}  // namespace midscope::kernels
