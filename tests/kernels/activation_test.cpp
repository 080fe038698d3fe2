// SPDX-License-Identifier: MIT
// Contract: each activation equals its formula in double within 1e-6 times max(1, |x|, |value|), or
// one rounding to bfloat16; large arguments of either sign neither overflow nor leave a residue;
// any width is accepted; gated and plain forms agree; results are equal to the last bit for any
// number of threads.
#include "kernels/normalise.h"
#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

constexpr ActivationKind kKinds[] = {ActivationKind::kSilu, ActivationKind::kGelu,
                                     ActivationKind::kGeluTanh, ActivationKind::kRelu,
                                     ActivationKind::kSquaredRelu};
constexpr Dtype kDtypes[] = {Dtype::kFloat32, Dtype::kBFloat16};

double Activation(ActivationKind kind, double x) {
  switch (kind) {
    case ActivationKind::kSilu:
      return x / (1 + std::exp(-x));
    case ActivationKind::kGelu:
      return x * std::erfc(-x / std::sqrt(2.0)) / 2;
    case ActivationKind::kGeluTanh:
      return x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
    case ActivationKind::kRelu:
      return x > 0 ? x : 0;
    case ActivationKind::kSquaredRelu:
      return x > 0 ? x * x : 0;
  }
  return 0;
}

double Tolerance(Dtype dtype, double x, double value) {
  const double exact = 1e-6 * std::max({1.0, std::abs(x), std::abs(value)});
  return dtype == Dtype::kFloat32 ? exact : exact + std::abs(value) * 0x1.01p-8;
}

// -12 to 12 in small steps, and arguments that may overflow.
std::vector<float> Arguments() {
  std::vector<float> all = {0.0f,     -0.0f, 1e-30f, -1e-30f, 88.0f,  -88.0f, 1000.0f,
                            -1000.0f, 1e13f, -1e13f, 3e38f,   -3e38f, 1e-3f,  -1e-3f};
  for (int i = -12000; i <= 12000; ++i) all.push_back(static_cast<float>(i) * 1e-3f);
  return all;
}

void CheckEqualsItsFormula() {
  const std::vector<float> arguments = Arguments();
  const auto count = static_cast<int64_t>(arguments.size());
  for (const ActivationKind kind : kKinds) {
    for (const Dtype dtype : kDtypes) {
      Guarded x(count, dtype), out(count, dtype);
      for (int64_t i = 0; i < count; ++i) x.Set(i, arguments[static_cast<size_t>(i)]);
      Activate(kind, x.data(), count, dtype, out.data(), ThreadExecutor(2));
      for (int64_t i = 0; i < count; ++i) {
        const double want = Activation(kind, x.At(i));
        if (want > std::numeric_limits<float>::max()) {
          EXPECT_EQ(out.At(i), std::numeric_limits<double>::infinity());
          continue;
        }
        ASSERT_NEAR(out.At(i), want, Tolerance(dtype, x.At(i), want))
            << "kind " << static_cast<int>(kind) << " of " << x.At(i);
      }
      EXPECT_TRUE(out.Intact());
      Activate(kind, x.data(), count, dtype, x.data(), SerialExecutor());
      EXPECT_TRUE(x == out) << "in place";
    }
  }
}

TEST(Activate, EqualsItsFormula) { OnEveryTarget(CheckEqualsItsFormula); }

void CheckIsActivationTimesUp() {
  constexpr int64_t kRows = 5;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, 4.0f);
  for (const int64_t width : {1, 3, 15, 16, 17, 31, 33, 64, 65, 576, 5000}) {
    for (const Dtype dtype : kDtypes) {
      Guarded gate_up(kRows * 2 * width, dtype);
      for (int64_t i = 0; i < kRows * 2 * width; ++i) gate_up.Set(i, normal(random));
      gate_up.Set(0, -1000.0f);
      gate_up.Set(2 * width, 1000.0f);
      gate_up.Set(4 * width, 0.0f);
      for (const ActivationKind kind : kKinds) {
        Guarded out(kRows * width, dtype), serial(kRows * width, dtype);
        GatedActivation(kind, gate_up.data(), kRows, width, dtype, out.data(), ThreadExecutor(3));
        GatedActivation(kind, gate_up.data(), kRows, width, dtype, serial.data(), SerialExecutor());
        for (int64_t i = 0; i < kRows * width; ++i) {
          const int64_t at = i / width * 2 * width + i % width;
          const double gate = gate_up.At(at), up = gate_up.At(at + width);
          const double want = Activation(kind, gate) * up;
          ASSERT_NEAR(out.At(i), want, Tolerance(dtype, gate * std::max(1.0, std::abs(up)), want))
              << "kind " << static_cast<int>(kind) << " width " << width << " at " << i;
        }
        EXPECT_TRUE(out.Intact());
        EXPECT_TRUE(out == serial);
      }
    }
  }
}

TEST(GatedActivation, IsActivationTimesUp) { OnEveryTarget(CheckIsActivationTimesUp); }

}  // namespace
}  // namespace midscope::kernels
