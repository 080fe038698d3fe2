// SPDX-License-Identifier: MIT
// The body of the CUDA kernel that normalises heads, run on the CPU block by block, compared with
// the definition in float64.
//
// Contract: results are within float32 rounding (1e-5 of values of about 1), or one rounding to
// bfloat16 or float16; the bits do not depend on the order of threads between two barriers, also in
// place; only the heads are written, and nothing else is read.
#include <gtest/gtest.h>

#include "kernels/cuda/head_norms.h"
#include "kernels/cuda/launch.h"

#include <cmath>
#include <functional>
#include <limits>

#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda {
namespace {

constexpr float kNormEpsilon = 1e-5f;
constexpr float kUnread = std::numeric_limits<float>::quiet_NaN();

// Half a step of an 8-bit and of an 11-bit mantissa, relative to the number.
template <class T>
constexpr double kNormRounding = std::is_same_v<T, float>      ? 0
                                 : std::is_same_v<T, BFloat16> ? 1.0 / 256
                                                               : 1.0 / 2048;

struct NormCase {
  int64_t rows;
  int64_t heads;
  int64_t head_dim;
  bool centred = false;
  bool own_weights = false;  // separate weights per head; false: the same for all

  int64_t width() const { return heads * head_dim; }
  // Strides of x and of out.
  int64_t x_stride() const { return width() + 16; }
  int64_t out_stride() const { return width() + 8; }
};

std::string Describe(const NormCase& c) {
  return std::to_string(c.rows) + " rows, " + std::to_string(c.heads) + " heads of " +
         std::to_string(c.head_dim) + (c.centred ? ", centred" : "") +
         (c.own_weights ? ", own weights" : "");
}

// Rows of x; the padding between them is NaN.
Guarded RowsOf(const NormCase& c, Dtype dtype) {
  Guarded x = Random(c.rows * c.x_stride(), dtype, 1);
  for (int64_t i = 0; i < c.rows * c.x_stride(); ++i)
    x.Set(i, i % c.x_stride() < c.width() ? x.At(i) + 0.5f : kUnread);
  return x;
}

// [rows * width]
std::vector<double> Expected(const NormCase& c, const Guarded& x, const Guarded& weight) {
  std::vector<double> expected;
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t head = 0; head < c.heads; ++head) {
      const int64_t first = row * c.x_stride() + head * c.head_dim;
      const auto n = static_cast<double>(c.head_dim);
      double mean = 0;
      for (int64_t i = 0; c.centred && i < c.head_dim; ++i) mean += double{x.At(first + i)} / n;
      double squares = 0;
      for (int64_t i = 0; i < c.head_dim; ++i) squares += std::pow(x.At(first + i) - mean, 2);
      const double scale = 1 / std::sqrt(squares / n + kNormEpsilon);
      const int64_t of_head = c.own_weights ? head * c.head_dim : 0;
      for (int64_t i = 0; i < c.head_dim; ++i)
        expected.push_back((x.At(first + i) - mean) * scale * double{weight.At(of_head + i)});
    }
  }
  return expected;
}

template <class T>
void RunBlocks(const HeadNormArguments<T>& a, bool backwards,
               const std::function<void()>& earlier = {}) {
  test::InOrder(
      backwards, [&] { NormaliseHeads(a); }, earlier);
}

// Expects the heads in out [rows, stride] to be as computed, and the padding to equal `before`.
template <class T>
void CheckOut(const NormCase& c, const Guarded& out, const Guarded& before, int64_t stride,
              const std::vector<double>& expected) {
  double largest = 0;
  for (int64_t i = 0; i < c.rows * stride; ++i) {
    if (i % stride >= c.width()) {
      const bool kept = out.At(i) == before.At(i) || (std::isnan(out.At(i)) && before.At(i) != 0);
      ASSERT_TRUE(kept) << Describe(c) << ": wrote beside a row";
      continue;
    }
    const double value = expected[static_cast<size_t>(i / stride * c.width() + i % stride)];
    const double size = std::max(1.0, std::abs(value));
    largest = std::max(largest, std::abs(out.At(i) - value) / size);
    ASSERT_FALSE(std::isnan(out.At(i))) << Describe(c);
  }
  EXPECT_LE(largest, 1e-5 + kNormRounding<T>) << Describe(c);
  EXPECT_TRUE(out.Intact()) << Describe(c);
}

template <class T>
void Check(const NormCase& c) {
  const Guarded x = RowsOf(c, kDtypeOf<T>);
  Guarded weight = Random(c.own_weights ? c.width() : c.head_dim, Dtype::kFloat32, 2);
  const std::vector<double> expected = Expected(c, x, weight);
  const Guarded before = Random(c.rows * c.out_stride(), kDtypeOf<T>, 3);
  std::vector<Guarded> results;
  for (const bool backwards : {false, true}) {
    Guarded from = x;
    Guarded out = before;
    HeadNormArguments<T> a;
    a.x = Data<T>(from);
    a.weight = Data<float>(weight);
    a.out = Data<T>(out);
    a.x_stride = c.x_stride();
    a.out_stride = c.out_stride();
    a.rows = c.rows;
    a.heads = c.heads;
    a.head_dim = static_cast<int>(c.head_dim);
    a.weight_stride = c.own_weights ? c.head_dim : 0;
    a.epsilon = kNormEpsilon;
    a.centred = c.centred;
    RunBlocks(a, backwards, TakenAway(from));  // earlier work writes x
    CheckOut<T>(c, out, before, c.out_stride(), expected);
    EXPECT_TRUE(from == x) << Describe(c) << ": wrote x";
    results.push_back(out);

    a.out = Data<T>(from);
    a.out_stride = c.x_stride();
    RunBlocks(a, backwards);
    CheckOut<T>(c, from, x, c.x_stride(), expected);
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t i = 0; i < c.width(); ++i) {
        ASSERT_EQ(from.At(row * c.x_stride() + i), out.At(row * c.out_stride() + i))
            << Describe(c) << ": other bits in place";
      }
    }
  }
  EXPECT_TRUE(results[0] == results[1]) << Describe(c) << ": depends on the order of threads";
}

template <class T>
void CheckCases() {
  for (const int64_t rows : {1, 5}) {
    for (const bool centred : {false, true}) {
      for (const bool own_weights : {false, true}) {
        for (const int64_t heads : {1, 3, 32}) {
          for (const int64_t head_dim : {8, 64, 80, 128, 256})
            Check<T>({rows, heads, head_dim, centred, own_weights});
        }
        // A warp has space for up to 512; from 4096 on, some threads of a block process the
        // remainder.
        for (const int64_t head_dim : {512, 520, 4104}) {
          Check<T>({rows, 3, head_dim, centred, own_weights});
        }
        for (const int64_t head_dim : {5120, 8192})
          Check<T>({rows, 1, head_dim, centred, own_weights});
      }
    }
  }
}

TEST(CudaHeadNorms, AreTheirDefinitionInFloat32) { CheckCases<float>(); }
TEST(CudaHeadNorms, AreTheirDefinitionInBFloat16) { CheckCases<BFloat16>(); }
TEST(CudaHeadNorms, AreTheirDefinitionInFloat16) { CheckCases<Float16>(); }

// The mean of a head is far larger than its deviation, so differences must be squared, not values.
TEST(CudaHeadNorms, LayerNormsOfAlmostEqualValuesAreExact) {
  for (const int64_t head_dim : {64, 5120}) {
    const NormCase c{2, 1, head_dim, true};
    Guarded x = RowsOf(c, Dtype::kFloat32);
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t i = 0; i < c.width(); ++i)
        x.Set(row * c.x_stride() + i, 100 + 0.25f * static_cast<float>(i % 4));
    }
    Guarded weight = Random(head_dim, Dtype::kFloat32, 2);
    const Guarded before = x;
    HeadNormArguments<float> a;
    a.x = a.out = Data<float>(x);
    a.weight = Data<float>(weight);
    a.x_stride = a.out_stride = c.x_stride();
    a.rows = c.rows;
    a.heads = 1;
    a.head_dim = static_cast<int>(head_dim);
    a.epsilon = kNormEpsilon;
    a.centred = true;
    const std::vector<double> expected = Expected(c, before, weight);
    RunBlocks(a, false);
    CheckOut<float>(c, x, before, c.x_stride(), expected);
  }
}

}  // namespace
}  // namespace midscope::kernels::cuda
