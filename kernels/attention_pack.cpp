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
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Prefetch distance in rows. The stride between rows of one head is a row of all heads, too large
// for the CPU's own prefetching.
constexpr int64_t kRowsAhead = 8;

template <bool kForWriting>
HWY_INLINE void FetchRow(const void* data, Dtype dtype, int64_t at, int64_t head_dim) {
  constexpr int64_t kCacheLine = 64;
  const auto* bytes = static_cast<const char*>(data) + at * SizeOf(dtype);
  for (int64_t i = 0; i < head_dim * SizeOf(dtype); i += kCacheLine)
    __builtin_prefetch(bytes + i, kForWriting ? 1 : 0);
}

HWY_INLINE int64_t PlaceOfRow(const PackSource& source, int64_t row) {
  return row * source.x.row_stride + source.head * source.x.head_stride;
}

// Reads one row of a head, rotates it and writes it as type Out, with zeros up to `padded`
// elements.
template <class Out>
HWY_INLINE void ReadRow(const PackSource& source, int64_t row, const float* cos, const float* sin,
                        int64_t pairs, float factor, int64_t padded, Out* out) {
  const int64_t at = PlaceOfRow(source, row);
  if (source.x.dtype == Dtype::kFloat32) {
    RotateRow(static_cast<const float*>(source.x.data) + at, source.head_dim, cos, sin, pairs,
              factor, out);
  } else {
    RotateRow(static_cast<const BFloat16*>(source.x.data) + at, source.head_dim, cos, sin, pairs,
              factor, out);
  }
  if (!source.weight.empty()) {
    const float* weight = source.weight.data();
    ForEachVector(source.head_dim, [&](auto d, int64_t i) HWY_ATTR {
      StoreFloats(d, hn::Mul(LoadFloats(d, out + i), hn::LoadU(d, weight + i)), out + i);
    });
  }
  std::fill(out + source.head_dim, out + padded, Out{});
}

template <class Item>
void PackRowsAs(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
                int64_t first_position, float factor, int64_t width, float* work, void* out) {
  const int64_t steps = PackedSteps(source.head_dim, source.pack);
  const int64_t padded = steps * source.pack;
  auto* items = reinterpret_cast<Item*>(work);
  const auto fetch = [&](int64_t r) {
    const int64_t at = PlaceOfRow(source, first_row + std::min(r, rows - 1));
    FetchRow<false>(source.x.data, source.x.dtype, at, source.head_dim);
  };
  for (int64_t r = 0; r < kRowsAhead; ++r) fetch(r);
  for (int64_t r = 0; r < rows; ++r) {
    fetch(r + kRowsAhead);
    const int64_t at = (first_position + r) * table.pairs;
    ReadRow(source, first_row + r, table.cos ? table.cos + at : nullptr,
            table.cos ? table.sin + at : nullptr, table.pairs, factor, padded, items + r * padded);
  }
  std::fill(items + rows * padded, items + width * padded, Item{});
  TransposeItems(reinterpret_cast<const uint32_t*>(work), steps, steps, width,
                 static_cast<uint32_t*>(out), width);
}

void PackRowsAny(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
                 int64_t first_position, float factor, int64_t width, float* work, void* out) {
  if (source.pack == 1) {
    PackRowsAs<float>(source, first_row, rows, table, first_position, factor, width, work, out);
  } else {
    PackRowsAs<BFloat16>(source, first_row, rows, table, first_position, factor, width, work, out);
  }
}

// Rounds a number of keys up to whole tiles, in which engines read keys.
constexpr int64_t WholeTiles(int64_t keys) { return (keys + kTile - 1) / kTile * kTile; }

void PackFloatValues(const PackSource& source, int64_t first_row, int64_t rows, int64_t tiles,
                     float* work, float* out) {
  for (int64_t key = 0; key < WholeTiles(rows); ++key) {
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
  for (int64_t pair = 0; pair < WholeTiles(rows) / 2; ++pair) {
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

void PackKeyRows(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
                 int64_t first_position, void* out) {
  const int64_t padded = PackedSteps(source.head_dim, 2) * 2;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = (first_position + r) * table.pairs;
    ReadRow(source, first_row + r, table.cos ? table.cos + at : nullptr,
            table.cos ? table.sin + at : nullptr, table.pairs, 1.0f, padded,
            static_cast<BFloat16*>(out) + r * padded);
  }
}

void PackValueElements(const PackSource& source, int64_t first_row, int64_t rows, float* work,
                       void* out) {
  constexpr int64_t kPairs = kKeyBlock / 2;
  const int64_t dim = source.head_dim;
  auto* pairs = reinterpret_cast<uint32_t*>(work);  // [pair of keys][dim]
  auto* HWY_RESTRICT even = reinterpret_cast<BFloat16*>(pairs + kPairs * dim);
  auto* HWY_RESTRICT odd = even + dim;
  for (int64_t pair = 0; pair < kPairs; ++pair) {
    for (int64_t side = 0; side < 2; ++side) {
      BFloat16* to = side == 0 ? even : odd;
      if (2 * pair + side < rows) {
        ReadRow(source, first_row + 2 * pair + side, nullptr, nullptr, 0, 1.0f, dim, to);
      } else {
        std::fill(to, to + dim, BFloat16{});
      }
    }
    for (int64_t i = 0; i < dim; ++i)
      pairs[pair * dim + i] = even[i].bits | static_cast<uint32_t>(odd[i].bits) << 16;
  }
  TransposeItems(pairs, dim, dim, kPairs, static_cast<uint32_t*>(out), kPairs);
}

// Transposes kSquare columns, from column `first` on, of from [head_dim][width] into to
// [kSquare][head_dim].
HWY_INLINE void TransposeColumns(const float* HWY_RESTRICT from, int64_t width, int64_t head_dim,
                                 int64_t first, float* HWY_RESTRICT to) {
  const hn::FixedTag<float, kSquare> d;
  int64_t i = 0;
  for (; i + kSquare <= head_dim; i += kSquare) {
    hn::Vec<decltype(d)> square[kSquare];
#pragma GCC unroll 4
    for (int64_t r = 0; r < kSquare; ++r) square[r] = hn::LoadU(d, from + (i + r) * width + first);
    TransposeSquare(square);
#pragma GCC unroll 4
    for (int64_t r = 0; r < kSquare; ++r) hn::StoreU(square[r], d, to + r * head_dim + i);
  }
  for (; i < head_dim; ++i) {
    for (int64_t r = 0; r < kSquare; ++r) to[r * head_dim + i] = from[i * width + first + r];
  }
}

template <class Out>
void UnpackRowsAs(const float* from, int64_t width, int64_t rows, int64_t head_dim,
                  const Heads& out, int64_t first_row, int64_t head, float* work) {
  const auto place = [&](int64_t row) {
    return (first_row + row) * out.row_stride + head * out.head_stride;
  };
  for (int64_t row = 0; row < rows; ++row)
    FetchRow<true>(out.data, out.dtype, place(row), head_dim);
  for (int64_t begin = 0; begin < rows; begin += kUnpackedRows) {
    const int64_t end = std::min(begin + kUnpackedRows, rows);
    for (int64_t row = begin; row < end; row += kSquare)
      TransposeColumns(from, width, head_dim, row, work + (row - begin) * head_dim);
    for (int64_t row = begin; row < end; ++row) {
      const float* values = work + (row - begin) * head_dim;
      Out* to = static_cast<Out*>(out.data) + place(row);
      ForEachVector(head_dim, [&](auto d, int64_t i)
                                  HWY_ATTR { StoreFloats(d, hn::LoadU(d, values + i), to + i); });
    }
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
HWY_EXPORT(PackKeyRows);
HWY_EXPORT(PackValueElements);
HWY_EXPORT(UnpackRowsAny);

void PackRows(const PackSource& source, int64_t first_row, int64_t rows, const RotaryView& table,
              int64_t first_position, float factor, int64_t width, float* work, void* out) {
  HWY_DYNAMIC_DISPATCH(PackRowsAny)
  (source, first_row, rows, table, first_position, factor, width, work, out);
}

void PackValues(const PackSource& source, int64_t first_row, int64_t rows, float* work, void* out) {
  HWY_DYNAMIC_DISPATCH(PackValuesAny)(source, first_row, rows, work, out);
}

void PackKeysByRows(const PackSource& source, int64_t first_row, int64_t rows,
                    const RotaryView& table, int64_t first_position, void* out) {
  HWY_DYNAMIC_DISPATCH(PackKeyRows)(source, first_row, rows, table, first_position, out);
}

int64_t ValueWork(int64_t head_dim) { return (kKeyBlock / 2 + 1) * head_dim; }

void PackValuesByElements(const PackSource& source, int64_t first_row, int64_t rows, float* work,
                          void* out) {
  HWY_DYNAMIC_DISPATCH(PackValueElements)(source, first_row, rows, work, out);
}

void UnpackRows(const float* from, int64_t width, int64_t rows, int64_t head_dim, const Heads& out,
                int64_t first_row, int64_t head, float* work) {
  HWY_DYNAMIC_DISPATCH(UnpackRowsAny)
  (from, width, rows, head_dim, out, first_row, head, work);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
