// SPDX-License-Identifier: MIT
// Uses vdpbf16ps (AVX-512 BF16), which Highway 1.0 lacks, in functions that set their instruction
// set by an attribute, as attention_engine_bf16.cpp does.
#include "kernels/quantised/quantised_product.h"

#include <algorithm>
#include <cstring>

#include "kernels/check.h"
#include "kernels/instruction_set.h"
#include "kernels/scratch.h"

#if defined(__x86_64__) && defined(__GNUC__)
// Suppresses a wrong warning of GCC 12: its own intrinsics use undefined operands on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#define MIDSCOPE_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")))
#define MIDSCOPE_BF16_INLINE MIDSCOPE_BF16 __attribute__((always_inline)) inline

namespace midscope::kernels {
namespace {

constexpr int64_t kTile = 8;     // outputs: 8 x 3 sums, 3 vectors of x and 1 weight fill the 32
constexpr int64_t kVectors = 3;  // registers
constexpr int64_t kLanes = 16;
constexpr int64_t kPanel = kVectors * kLanes;  // rows of x
constexpr int64_t kGroup = 64;                 // number of outputs that are dequantised together
// The number of outputs per thread is a multiple of kGrain, so that threads get equal work even for
// narrow matrices.
constexpr int64_t kGrain = 16;
// Number of inputs that are dequantised at a time: whole blocks of any type. Their weights for a
// group of outputs fit the L2 cache together with a panel of x of this length.
constexpr int64_t kChunk = 2048;
constexpr int64_t kChunkSteps = kChunk / 2;  // a step is a pair of inputs
// Row stride of dequantised weights, in pairs. Not a multiple of the page size, which would map all
// rows of a tile to the same few cache lines.
constexpr int64_t kWeightStride = kChunkSteps + 16;
constexpr int64_t kPairGrain = 1 << 16;

struct PanelTag {};
struct GroupTag {};

struct Work {
  const BlockMatrix& weight;
  BlockFormat format;
  const uint32_t* panels;  // [panel][step][kPanel] pairs of x; zeros beyond its rows and inputs
  int64_t steps;
  int64_t rows;
  BFloat16* y;
  int64_t y_stride;

  int64_t panel_count() const { return (rows + kPanel - 1) / kPanel; }
};

// Packs rows of x into a panel [step][kPanel] of pairs of inputs.
void PackPanel(const BFloat16* x, int64_t rows, int64_t inputs, uint32_t* panel) {
  constexpr int64_t kBlock = 16;  // in pairs: a cache line of each row
  const int64_t steps = (inputs + 1) / 2;
  for (int64_t first = 0; first < steps; first += kBlock) {
    const int64_t last = std::min(first + kBlock, steps);
    for (int64_t row = 0; row < kPanel; ++row) {
      uint32_t pairs[kBlock] = {};
      if (row < rows) {
        const int64_t count = std::min(2 * last, inputs) - 2 * first;
        std::memcpy(pairs, x + row * inputs + 2 * first,
                    static_cast<size_t>(count) * sizeof(BFloat16));
      }
      for (int64_t step = first; step < last; ++step) {
        panel[step * kPanel + row] = pairs[step - first];
      }
    }
  }
}

// Computes sums [kTile][kPanel] += (or, with kFirst, =) tile [kTile][kWeightStride] x panel
// [steps][kPanel].
template <int64_t kUsed, bool kFirst>
MIDSCOPE_BF16_INLINE void MultiplyTile(const uint32_t* tile, const uint32_t* panel, int64_t steps,
                                       float* sums) {
  __m512 v[kTile][kUsed];
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t i = 0; i < kUsed; ++i) {
      v[t][i] = kFirst ? _mm512_setzero_ps() : _mm512_load_ps(sums + t * kPanel + i * kLanes);
    }
  }
  for (int64_t step = 0; step < steps; ++step) {
    __m512bh x[kUsed];
#pragma GCC unroll 3
    for (int64_t i = 0; i < kUsed; ++i) {
      x[i] = (__m512bh)_mm512_load_si512(panel + step * kPanel + i * kLanes);
    }
#pragma GCC unroll 8
    for (int64_t t = 0; t < kTile; ++t) {
      const auto weight =
          (__m512bh)_mm512_set1_epi32(static_cast<int>(tile[t * kWeightStride + step]));
#pragma GCC unroll 3
      for (int64_t i = 0; i < kUsed; ++i) v[t][i] = _mm512_dpbf16_ps(v[t][i], x[i], weight);
    }
  }
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t i = 0; i < kUsed; ++i) {
      _mm512_store_ps(sums + t * kPanel + i * kLanes, v[t][i]);
    }
  }
}

template <bool kFirst>
MIDSCOPE_BF16 void MultiplyPanel(int64_t vectors, const uint32_t* tile, const uint32_t* panel,
                                 int64_t steps, float* sums) {
  if (vectors == 3) return MultiplyTile<3, kFirst>(tile, panel, steps, sums);
  if (vectors == 2) return MultiplyTile<2, kFirst>(tile, panel, steps, sums);
  MultiplyTile<1, kFirst>(tile, panel, steps, sums);
}

// Writes sums [kTile][kPanel] of 8 outputs and 16 rows to y; only the first `rows` and `outputs`
// exist.
MIDSCOPE_BF16 void StoreSums(const float* sums, int64_t rows, int64_t outputs, BFloat16* y,
                             int64_t y_stride) {
  __m256i a[kTile];
  __m256i b[kTile];
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
    a[t] = (__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(sums + t * kPanel));
  }
#pragma GCC unroll 4
  for (int64_t t = 0; t < 4; ++t) {
    b[2 * t] = _mm256_unpacklo_epi16(a[2 * t], a[2 * t + 1]);
    b[2 * t + 1] = _mm256_unpackhi_epi16(a[2 * t], a[2 * t + 1]);
  }
#pragma GCC unroll 2
  for (int64_t t = 0; t < 2; ++t) {
    a[4 * t] = _mm256_unpacklo_epi32(b[4 * t], b[4 * t + 2]);
    a[4 * t + 1] = _mm256_unpackhi_epi32(b[4 * t], b[4 * t + 2]);
    a[4 * t + 2] = _mm256_unpacklo_epi32(b[4 * t + 1], b[4 * t + 3]);
    a[4 * t + 3] = _mm256_unpackhi_epi32(b[4 * t + 1], b[4 * t + 3]);
  }
  alignas(64) BFloat16 out[kLanes][kTile];
#pragma GCC unroll 4
  for (int64_t t = 0; t < 4; ++t) {
    const __m256i even = _mm256_unpacklo_epi64(a[t], a[t + 4]);
    const __m256i odd = _mm256_unpackhi_epi64(a[t], a[t + 4]);
    _mm_store_si128(reinterpret_cast<__m128i*>(out[2 * t]), _mm256_castsi256_si128(even));
    _mm_store_si128(reinterpret_cast<__m128i*>(out[2 * t + 1]), _mm256_castsi256_si128(odd));
    _mm_store_si128(reinterpret_cast<__m128i*>(out[2 * t + 8]), _mm256_extracti128_si256(even, 1));
    _mm_store_si128(reinterpret_cast<__m128i*>(out[2 * t + 9]), _mm256_extracti128_si256(odd, 1));
  }
  for (int64_t row = 0; row < rows; ++row) {
    std::memcpy(y + row * y_stride, out[row], static_cast<size_t>(outputs) * sizeof(BFloat16));
  }
}

// Dequantises inputs first .. first + count - 1 of `outputs` outputs from `output` on, padded with
// zeros to whole tiles and pairs.
void FillGroup(const Work& work, int64_t output, int64_t outputs, int64_t first, int64_t count,
               uint32_t* weights) {
  for (int64_t o = 0; o < (outputs + kTile - 1) / kTile * kTile; ++o) {
    auto* to = reinterpret_cast<BFloat16*>(weights + o * kWeightStride);
    int64_t filled = 0;
    if (o < outputs) {
      const std::byte* row = work.weight.Row(output + o);
      DequantiseToBFloat16(work.format.type, row + first / work.format.elements * work.format.bytes,
                           count, to);
      filled = count;
    }
    std::fill(to + filled, to + (count + 1) / 2 * 2, BFloat16{});
  }
}

// Computes all rows of y for `group` (at most kGroup) outputs from `output` on.
void MultiplyGroup(const Work& work, int64_t output, int64_t group, uint32_t* weights,
                   float* sums) {
  const int64_t tiles = (group + kTile - 1) / kTile;
  const int64_t panels = work.panel_count();
  for (int64_t first = 0; first < work.weight.columns; first += kChunk) {
    const int64_t count = std::min(kChunk, work.weight.columns - first);
    FillGroup(work, output, group, first, count, weights);
    for (int64_t p = 0; p < panels; ++p) {
      const uint32_t* panel = work.panels + (p * work.steps + first / 2) * kPanel;
      const int64_t vectors = std::min(kVectors, (work.rows - p * kPanel + kLanes - 1) / kLanes);
      for (int64_t t = 0; t < tiles; ++t) {
        float* at = sums + (p * (kGroup / kTile) + t) * kTile * kPanel;
        const uint32_t* tile = weights + t * kTile * kWeightStride;
        if (first == 0) {
          MultiplyPanel<true>(vectors, tile, panel, (count + 1) / 2, at);
        } else {
          MultiplyPanel<false>(vectors, tile, panel, (count + 1) / 2, at);
        }
      }
    }
  }
  for (int64_t p = 0; p < panels; ++p) {
    for (int64_t t = 0; t < tiles; ++t) {
      const float* at = sums + (p * (kGroup / kTile) + t) * kTile * kPanel;
      const int64_t outputs = std::min(kTile, group - t * kTile);
      for (int64_t row = p * kPanel; row < std::min((p + 1) * kPanel, work.rows); row += kLanes) {
        StoreSums(at + row - p * kPanel, std::min(kLanes, work.rows - row), outputs,
                  work.y + row * work.y_stride + output + t * kTile, work.y_stride);
      }
    }
  }
}

}  // namespace

bool HasQuantisedProduct() {
  static const bool present = HasBFloat16Products() && !HasMatrixTiles();
  return present;
}

bool QuantisedProduct(const BlockMatrix& weight, const BFloat16* x, int64_t rows, BFloat16* y,
                      int64_t y_stride, const Executor& executor, CancelFlag cancel) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(weight.type));
  MIDSCOPE_KERNEL_CHECK(format.has_value());
  if (!format || rows <= 0) return true;
  MIDSCOPE_KERNEL_CHECK_EQ(weight.columns % format->elements, 0);
  MIDSCOPE_KERNEL_CHECK_GE(y_stride, weight.rows);
  const int64_t steps = (weight.columns + 1) / 2;
  Work work{weight, *format, nullptr, steps, rows, y, y_stride};
  const int64_t panels = work.panel_count();
  BorrowedScratch<PanelTag> packed;
  auto* panel = packed.Get<uint32_t>(panels * steps * kPanel);
  work.panels = panel;
  const int64_t panel_grain = std::max<int64_t>(1, kPairGrain / (steps * kPanel));
  executor.For(panels, panel_grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      PackPanel(x + p * kPanel * weight.columns, std::min(kPanel, rows - p * kPanel),
                weight.columns, panel + p * steps * kPanel);
    }
  });
  const int64_t multiply_adds = rows * weight.rows * weight.columns;
  ForProduct(executor, multiply_adds, weight.rows, kGrain, [&](int64_t begin, int64_t end) {
    BorrowedScratch<GroupTag> scratch;
    auto* weights = scratch.Get<uint32_t>(kGroup * kWeightStride + panels * kGroup * kPanel);
    auto* sums = reinterpret_cast<float*>(weights + kGroup * kWeightStride);
    for (int64_t output = begin; output < end && !Cancelled(cancel); output += kGroup) {
      MultiplyGroup(work, output, std::min(kGroup, end - output), weights, sums);
    }
  });
  return !Cancelled(cancel);
}

}  // namespace midscope::kernels

#else

namespace midscope::kernels {
bool HasQuantisedProduct() { return false; }
bool QuantisedProduct(const BlockMatrix& /*weight*/, const BFloat16* /*x*/, int64_t /*rows*/,
                      BFloat16* /*y*/, int64_t /*y_stride*/, const Executor& /*executor*/,
                      CancelFlag /*cancel*/) {
  return false;
}
}  // namespace midscope::kernels

#endif
