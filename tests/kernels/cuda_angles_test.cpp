// SPDX-License-Identifier: MIT
// The kernel that computes rotary tables on a GPU, run on the CPU block by block
// (launch_on_host.h).
//
// Contract: numbers equal those of kernels/rotary.h or are adjacent float32 values (a difference of
// at most 6.0e-8 below 1, 1.2e-7 below 2), for positions up to 10 million, integer or not, also
// negative, with any ratio, group and offset; only the tables are written.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rotary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/rotary.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda {
namespace {

// float32 steps below 1 and below 2.
constexpr double kSteps[] = {6.0e-8, 1.2e-7};

std::vector<double> Frequencies(int64_t pairs) {
  std::vector<double> frequencies;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    frequencies.push_back(
        std::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(pairs)));
  }
  return frequencies;
}

struct Case {
  int64_t pairs = 64;
  double ratio = 1;
  double magnitude = 1;
  int64_t group = 1;
  int64_t offset = 0;
  std::vector<double> ids = {};  // empty: 0, 1, 2, ...
  int64_t rows = 70;
};

double PositionOf(const Case& c, int64_t row) {
  const double id = c.ids.empty() ? static_cast<double>(row) : c.ids[static_cast<size_t>(row)];
  return (c.group == 1 ? id : std::floor(id / static_cast<double>(c.group))) +
         static_cast<double>(c.offset);
}

void Check(const Case& c) {
  const std::vector<double> frequencies = Frequencies(c.pairs);
  const int64_t count = c.rows * c.pairs;
  std::vector<double> positions;
  for (int64_t row = 0; row < c.rows; ++row) positions.push_back(PositionOf(c, row));
  Guarded cos(count, Dtype::kFloat32), sin = cos;
  std::vector<float> want_cos(static_cast<size_t>(count)), want_sin = want_cos;
  if (c.ids.empty() && c.group == 1) {
    FillRotary(frequencies, c.ratio, c.offset, c.rows, c.magnitude, want_cos.data(),
               want_sin.data());
  } else {
    FillRotaryAt(frequencies, c.ratio, positions, c.magnitude, want_cos.data(), want_sin.data());
  }
  const AnglesArguments arguments{frequencies.data(),
                                  c.ids.empty() ? nullptr : c.ids.data(),
                                  c.group,
                                  c.offset,
                                  c.ratio,
                                  c.magnitude,
                                  c.rows,
                                  c.pairs,
                                  static_cast<float*>(cos.data()),
                                  static_cast<float*>(sin.data())};
  FormAngles(arguments);
  const double step = kSteps[c.magnitude > 1 ? 1 : 0];
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_NEAR(cos.At(i), want_cos[at], step) << positions[at / frequencies.size()];
    ASSERT_NEAR(sin.At(i), want_sin[at], step) << positions[at / frequencies.size()];
  }
  EXPECT_TRUE(cos.Intact() && sin.Intact());
}

TEST(CudaAngles, AreThoseOfTheCpu) {
  for (const int64_t pairs : {1, 8, 20, 64, 257}) {
    for (const double ratio : {1.0, 1.2345, 0.25}) {
      Check({.pairs = pairs, .ratio = ratio});
      Check({.pairs = pairs, .ratio = ratio, .magnitude = 1.27, .offset = 10000000});
      Check({.pairs = pairs, .ratio = ratio, .group = 3, .offset = 262143});
    }
  }
  Check({.rows = 3000});
}

TEST(CudaAngles, OfIdsAreThoseOfTheCpu) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(-1000, 200000);
  std::vector<double> ids(70);
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = i % 3 == 0 ? std::floor(any(random)) : any(random);
  Check({.ratio = 1.7, .ids = ids});
  Check({.ratio = 1.7, .group = 5, .offset = -3, .ids = ids});
}

// Tests the ends of quarter turns, and the angles at which cosine and sine are exchanged.
TEST(CudaAngles, EveryPartOfATurnIsExact) {
  for (int i = -4000; i <= 4000; ++i) {
    const double angle = i * 3.14159265358979323846 / 4 + 1e-9 * (i % 5);
    const CosSin got = CosSinOf(angle);
    ASSERT_NEAR(got.cos, std::cos(angle), 2e-15) << angle;
    ASSERT_NEAR(got.sin, std::sin(angle), 2e-15) << angle;
  }
}

}  // namespace
}  // namespace midscope::kernels::cuda
