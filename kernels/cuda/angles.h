// SPDX-License-Identifier: MIT
// Computes tables of rotary embedding on a GPU, like FillRotary and FillRotaryAt of
// kernels/rotary.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// cos and sin [rows, pairs] of (floor(id / group) + offset) / ratio * inverse_frequency[pair], both
// times `magnitude`: equal to the CPU's numbers or adjacent float32 numbers, for angles up to 1e8.
// Angles, their cosines and sines are computed in double. With a group of 1, ids are not rounded.
struct AnglesArguments {
  const double* inverse_frequency = nullptr;  // [pairs]
  const double* ids = nullptr;                // [rows], or null: 0, 1, 2, ...
  int64_t group = 1;
  int64_t offset = 0;
  double ratio = 1;
  double magnitude = 1;
  int64_t rows = 0;
  int64_t pairs = 0;
  float* cos = nullptr;
  float* sin = nullptr;
};

struct CosSin {
  double cos;
  double sin;
};

// Returns cosine and sine of an angle up to 1e8, within 1e-15 plus the error of the angle. The
// nearest multiple of a quarter turn is subtracted in two parts; the first omitted term of the
// remainder's power series is below 1e-17. CUDA's own functions need an array in memory for larger
// angles.
MIDSCOPE_CUDA_BODY CosSin CosSinOf(double angle) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kQuarterTurn = 1.57079632679489655800;
  constexpr double kQuarterTurnRest = 6.12323399573676603587e-17;
  const double turns = rint(angle * kTwoOverPi);
  const double x = fma(turns, -kQuarterTurnRest, fma(turns, -kQuarterTurn, angle));
  const double square = x * x;
  // Horner's method from the innermost term: 1 - x^2 / (k (k - 1)) times the following terms.
  double cos = 1;
  double sin = 1;
  MIDSCOPE_CUDA_UNROLL for (int k = 16; k > 0; k -= 2) {
    cos = fma(cos * square, -1.0 / static_cast<double>(k * (k - 1)), 1.0);
    sin = fma(sin * square, -1.0 / static_cast<double>(k * (k + 1)), 1.0);
  }
  sin *= x;
  switch (static_cast<int64_t>(turns) & 3) {
    case 0:
      return {cos, sin};
    case 1:
      return {-sin, cos};
    case 2:
      return {-cos, -sin};
    default:
      return {sin, -cos};
  }
}

inline Grid AnglesGrid(const AnglesArguments& a) {
  const int threads = ThreadsFor(a.pairs, kRowThreads);
  return {a.rows, threads == 0 ? 0 : (a.pairs + threads - 1) / threads, 1, threads, 0};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void AnglesBlock(Machine& machine, const AnglesArguments& a) {
  const BlockIndex block = machine.block();
  machine.Each([&](int thread) {
    const int64_t pair = block.y * machine.threads() + thread;
    if (pair >= a.pairs) return;
    const double id = a.ids ? a.ids[block.x] : static_cast<double>(block.x);
    const double whole = a.group == 1 ? id : floor(id / static_cast<double>(a.group));
    const double position = whole + static_cast<double>(a.offset);
    const CosSin turn = CosSinOf(position / a.ratio * a.inverse_frequency[pair]);
    const int64_t at = block.x * a.pairs + pair;
    a.cos[at] = static_cast<float>(turn.cos * a.magnitude);
    a.sin[at] = static_cast<float>(turn.sin * a.magnitude);
  });
}

}  // namespace midscope::kernels::cuda
