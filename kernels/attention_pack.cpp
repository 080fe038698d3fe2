// SPDX-License-Identifier: MIT
#include "kernels/attention_pack.h"

#include <algorithm>
#include <cstring>

#include "kernels/attention_engine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_pack.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// One row of x as Out, rotated, with zeros up to `padded` elements.
template <class Out>
void ReadRow(const PackSource& source, int64_t row, const float* cos, const float* sin,
             int64_t pairs, float factor, int64_t padded, Out* out) {
  const int64_t at = row * source.x.row_stride + source.head * source.x.head_stride;
  if (source.x.dtype == Dtype::kFloat32) {
    RotateRow(static_cast<const float*>(source.x.data) + at, source.head_dim, cos, sin, pairs,
              factor, out);
  } else {
    RotateRow(static_cast<const BFloat16*>(source.x.data) + at, source.head_dim, cos, sin, pairs,
              factor, out);
  }
  std::fill(out + source.head_dim, out + padded, Out{});
}

// from [width][steps] into to [steps][width], 32-bit items.
template <int64_t kWidth>
HWY_INLINE void TransposeItems(const uint32_t* HWY_RESTRICT from, int64_t steps, int64_t width,
                               uint32_t* HWY_RESTRICT to) {
  for (int64_t row = 0; row < width; row += kWidth) {
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t r = 0; r < kWidth; ++r) {
        to[step * width + row + r] = from[(row + r) * steps + step];
      }
    }
  }
}

template <class Item>
void PackRowsAs(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
                int64_t first_position, float factor, int64_t width, float* work, void* out) {
  const int64_t steps = PackedSteps(source.head_dim, source.pack);
  const int64_t padded = steps * source.pack;
  auto* items = reinterpret_cast<Item*>(work);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = (first_position + r) * table.pairs;
    ReadRow(source, first_row + r, table.cos ? table.cos + at : nullptr,
            table.cos ? table.sin + at : nullptr, table.pairs, factor, padded, items + r * padded);
  }
  std::fill(items + rows * padded, items + width * padded, Item{});
  TransposeItems<4>(reinterpret_cast<const uint32_t*>(work), steps, width,
                    static_cast<uint32_t*>(out));
}

void PackRowsAny(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
                 int64_t first_position, float factor, int64_t width, float* work, void* out) {
  if (source.pack == 1) {
    PackRowsAs<float>(source, first_row, rows, table, first_position, factor, width, work, out);
  } else {
    PackRowsAs<BFloat16>(source, first_row, rows, table, first_position, factor, width, work, out);
  }
}

void PackFloatValues(const PackSource& source, int64_t first_row, int64_t rows, int64_t tiles,
                     float* work, float* out) {
  for (int64_t key = 0; key < kKeyBlock; ++key) {
    if (key < rows) {
      ReadRow(source, first_row + key, nullptr, nullptr, 0, 1.0f, tiles * kTile, work);
    } else if (key == rows) {
      std::fill(work, work + tiles * kTile, 0.0f);
    }
    for (int64_t tile = 0; tile < tiles; ++tile) {
      std::memcpy(out + (tile * kKeyBlock + key) * kTile, work + tile * kTile,
                  kTile * sizeof(float));
    }
  }
}

void PackBFloat16Values(const PackSource& source, int64_t first_row, int64_t rows, int64_t tiles,
                        float* work, uint32_t* out) {
  constexpr int64_t kPairs = kKeyBlock / 2;
  const int64_t padded = tiles * kTile;
  auto* even = reinterpret_cast<BFloat16*>(work);
  auto* odd = even + padded;
  for (int64_t pair = 0; pair < kPairs; ++pair) {
    for (int64_t side = 0; side < 2; ++side) {
      const int64_t key = 2 * pair + side;
      BFloat16* to = side == 0 ? even : odd;
      if (key < rows) {
        ReadRow(source, first_row + key, nullptr, nullptr, 0, 1.0f, padded, to);
      } else {
        std::fill(to, to + padded, BFloat16{});
      }
    }
    for (int64_t tile = 0; tile < tiles; ++tile) {
      uint32_t* HWY_RESTRICT to = out + (tile * kPairs + pair) * kTile;
      const BFloat16* HWY_RESTRICT low = even + tile * kTile;
      const BFloat16* HWY_RESTRICT high = odd + tile * kTile;
      for (int64_t t = 0; t < kTile; ++t) {
        to[t] = low[t].bits | static_cast<uint32_t>(high[t].bits) << 16;
      }
    }
  }
}

void PackValuesAny(const PackSource& source, int64_t first_row, int64_t rows, float* work,
                   void* out) {
  const int64_t tiles = (source.head_dim + kTile - 1) / kTile;
  if (source.pack == 1) {
    PackFloatValues(source, first_row, rows, tiles, work, static_cast<float*>(out));
  } else {
    PackBFloat16Values(source, first_row, rows, tiles, work, static_cast<uint32_t*>(out));
  }
}

template <class Out>
void UnpackRowsAs(const float* from, int64_t width, int64_t rows, int64_t head_dim,
                  const Heads& out, int64_t first_row, int64_t head, float* work) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < head_dim; ++i) work[i] = from[i * width + row];
    Out* to =
        static_cast<Out*>(out.data) + (first_row + row) * out.row_stride + head * out.head_stride;
    ForEachVector(head_dim, [&](auto d, int64_t i)
                                HWY_ATTR { StoreFloats(d, hn::LoadU(d, work + i), to + i); });
  }
}

void UnpackRowsAny(const float* from, int64_t width, int64_t rows, int64_t head_dim,
                   const Heads& out, int64_t first_row, int64_t head, float* work) {
  if (out.dtype == Dtype::kFloat32) {
    UnpackRowsAs<float>(from, width, rows, head_dim, out, first_row, head, work);
  } else {
    UnpackRowsAs<BFloat16>(from, width, rows, head_dim, out, first_row, head, work);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(PackRowsAny);
HWY_EXPORT(PackValuesAny);
HWY_EXPORT(UnpackRowsAny);

void PackRows(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
              int64_t first_position, float factor, int64_t width, float* work, void* out) {
  HWY_DYNAMIC_DISPATCH(PackRowsAny)
  (source, first_row, rows, table, first_position, factor, width, work, out);
}

void PackValues(const PackSource& source, int64_t first_row, int64_t rows, float* work, void* out) {
  HWY_DYNAMIC_DISPATCH(PackValuesAny)(source, first_row, rows, work, out);
}

void UnpackRows(const float* from, int64_t width, int64_t rows, int64_t head_dim, const Heads& out,
                int64_t first_row, int64_t head, float* work) {
  HWY_DYNAMIC_DISPATCH(UnpackRowsAny)
  (from, width, rows, head_dim, out, first_row, head, work);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
