// SPDX-License-Identifier: MIT
#include "kernels/rotary.h"

#include <cmath>

#include "kernels/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotary.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

template <class In, class Out>
void RotateAll(const ConstHeads& x, int64_t rows, int64_t heads, int64_t head_dim,
               const RotaryView& table, int64_t first, const Heads& out) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* cos = table.cos ? table.cos + (first + row) * table.pairs : nullptr;
    const float* sin = table.cos ? table.sin + (first + row) * table.pairs : nullptr;
    for (int64_t head = 0; head < heads; ++head) {
      const In* from = static_cast<const In*>(x.data) + row * x.row_stride + head * x.head_stride;
      Out* to = static_cast<Out*>(out.data) + row * out.row_stride + head * out.head_stride;
      RotateRow(from, head_dim, cos, sin, table.pairs, 1.0f, to);
    }
  }
}

void RotateAnyType(const ConstHeads& x, int64_t rows, int64_t heads, int64_t head_dim,
                   const RotaryView& table, int64_t first, const Heads& out) {
  const bool wide_in = x.dtype == Dtype::kFloat32;
  const bool wide_out = out.dtype == Dtype::kFloat32;
  if (wide_in && wide_out) RotateAll<float, float>(x, rows, heads, head_dim, table, first, out);
  if (wide_in && !wide_out) RotateAll<float, BFloat16>(x, rows, heads, head_dim, table, first, out);
  if (!wide_in && wide_out) RotateAll<BFloat16, float>(x, rows, heads, head_dim, table, first, out);
  if (!wide_in && !wide_out) {
    RotateAll<BFloat16, BFloat16>(x, rows, heads, head_dim, table, first, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(RotateAnyType);

namespace {
// Number of rows between rows whose cos and sin are computed from the angle; in between, each row
// is the previous one rotated by one step. In double, the error is below 1e-14, and this is ten
// times faster than cos and sin of every angle.
constexpr int64_t kAnchorRows = 64;
}  // namespace

void FillRotary(std::span<const double> inverse_frequency, double ratio, int64_t first,
                int64_t rows, double magnitude, float* cos, float* sin) {
  MIDSCOPE_KERNEL_CHECK_GT(ratio, 0.0);
  MIDSCOPE_KERNEL_CHECK_GE(first, 0);
  const auto pairs = static_cast<int64_t>(inverse_frequency.size());
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const double frequency = inverse_frequency[static_cast<size_t>(pair)];
    const double step_angle = frequency / ratio;
    const double step_cos = std::cos(step_angle);
    const double step_sin = std::sin(step_angle);
    double turn_cos = 0;
    double turn_sin = 0;
    // Begins at a multiple of kAnchorRows, so that no row depends on the table's first row.
    for (int64_t row = first / kAnchorRows * kAnchorRows; row < first + rows; ++row) {
      if (row % kAnchorRows == 0) {
        const double angle = static_cast<double>(row) / ratio * frequency;
        turn_cos = std::cos(angle);
        turn_sin = std::sin(angle);
      } else {
        const double next = turn_cos * step_cos - turn_sin * step_sin;
        turn_sin = turn_sin * step_cos + turn_cos * step_sin;
        turn_cos = next;
      }
      if (row < first) continue;
      const int64_t at = (row - first) * pairs + pair;
      cos[at] = static_cast<float>(turn_cos * magnitude);
      sin[at] = static_cast<float>(turn_sin * magnitude);
    }
  }
}

void FillRotaryAt(std::span<const double> inverse_frequency, double ratio,
                  std::span<const double> positions, double magnitude, float* cos, float* sin) {
  MIDSCOPE_KERNEL_CHECK_GT(ratio, 0.0);
  size_t at = 0;
  for (const double position : positions) {
    for (const double frequency : inverse_frequency) {
      const double angle = position / ratio * frequency;
      cos[at] = static_cast<float>(std::cos(angle) * magnitude);
      sin[at] = static_cast<float>(std::sin(angle) * magnitude);
      ++at;
    }
  }
}

void Rotate(const ConstHeads& x, int64_t rows, int64_t heads, int64_t head_dim,
            const RotaryView& table, int64_t first, const Heads& out) {
  MIDSCOPE_KERNEL_CHECK_LE(2 * table.pairs, head_dim);
  MIDSCOPE_KERNEL_CHECK_GE(first, 0);
  HWY_DYNAMIC_DISPATCH(RotateAnyType)(x, rows, heads, head_dim, table, first, out);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
