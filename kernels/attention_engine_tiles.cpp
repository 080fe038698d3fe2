// SPDX-License-Identifier: MIT
// The attention engine for bfloat16 on AMX: both products on matrix tiles of 16 x 16 sums, the
// softmax between them on vectors. Uses inline assembly, because compilers' intrinsics for tiles do
// not declare that they read memory.
#include "kernels/attention_bf16.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <algorithm>
#include <cstring>

#include "kernels/instruction_set.h"

namespace midscope::kernels {
namespace {

using bf16::Exp2;
using bf16::kLanes;

constexpr int64_t kVectors = 4;
constexpr int64_t kRows = kVectors * kLanes;
constexpr int64_t kSide = 16;         // rows, and 4-byte columns, of a tile
constexpr int64_t kPair = 2 * kSide;  // keys or elements in two tiles
constexpr int64_t kValueItems = kKeyBlock / 2;
constexpr float kHidden = kHiddenLogit;

// Tile registers 0 to 3 contain the sums of the products of tiles 4, 5 (rows) and 6, 7 (columns).
#define MIDSCOPE_LOAD_TILE(tile, from, items) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(from), "r"((items)*4) : "memory")
#define MIDSCOPE_STORE_TILE(tile, to, items) \
  asm volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"((items)*4) : "memory")
#define MIDSCOPE_ZERO_TILE(tile) asm volatile("tilezero %%tmm" #tile ::: "memory")
#define MIDSCOPE_MULTIPLY_TILES(sums, a, b) \
  asm volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sums ::: "memory")

// The operand of ldtilecfg: 8 tiles of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 0;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

// Scope guard that sets the thread's tile shapes, and restores those that another library had set.
class TileScope {
 public:
  TileScope() {
    asm volatile("sttilecfg %0" : "=m"(before_));
    TileShapes shapes;
    shapes.palette = 1;
    std::fill_n(shapes.row_bytes, 8, uint16_t{64});
    std::fill_n(shapes.rows, 8, static_cast<uint8_t>(kSide));
    asm volatile("ldtilecfg %0" ::"m"(shapes));
  }
  ~TileScope() {
    if (before_.palette != 0) {
      asm volatile("ldtilecfg %0" ::"m"(before_));
    } else {
      asm volatile("tilerelease" :::);
    }
  }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  TileShapes before_;
};

// Computes sums [rows of a][rows of b] += a x b, for two tiles of a, with stride `a_next` in items,
// and one or two adjacent tiles of b: items [b_step] along the summed dimension.
template <bool kBoth>
MIDSCOPE_BF16_INLINE void MultiplyTiles(const uint32_t* a, int64_t a_stride, int64_t a_next,
                                        const uint32_t* b, int64_t steps) {
  for (int64_t step = 0; step < steps; step += kSide) {
    MIDSCOPE_LOAD_TILE(4, a + step, a_stride);
    MIDSCOPE_LOAD_TILE(6, b + step * kRows, kRows);
    MIDSCOPE_MULTIPLY_TILES(0, 4, 6);
    MIDSCOPE_LOAD_TILE(5, a + a_next + step, a_stride);
    MIDSCOPE_MULTIPLY_TILES(2, 5, 6);
    if (kBoth) {
      MIDSCOPE_LOAD_TILE(7, b + step * kRows + kSide, kRows);
      MIDSCOPE_MULTIPLY_TILES(1, 4, 7);
      MIDSCOPE_MULTIPLY_TILES(3, 5, 7);
    }
  }
}

template <bool kBoth>
MIDSCOPE_BF16_INLINE void StoreSums(float* to) {
  MIDSCOPE_STORE_TILE(0, to, kRows);
  MIDSCOPE_STORE_TILE(2, to + kSide * kRows, kRows);
  if (kBoth) {
    MIDSCOPE_STORE_TILE(1, to + kSide, kRows);
    MIDSCOPE_STORE_TILE(3, to + kSide * kRows + kSide, kRows);
  }
}

template <bool kBoth>
MIDSCOPE_BF16_INLINE void ScorePair(const uint32_t* keys, const uint32_t* queries, int64_t steps,
                                    float* scores) {
  MIDSCOPE_ZERO_TILE(0);
  MIDSCOPE_ZERO_TILE(2);
  if (kBoth) {
    MIDSCOPE_ZERO_TILE(1);
    MIDSCOPE_ZERO_TILE(3);
  }
  MultiplyTiles<kBoth>(keys, steps, kSide * steps, queries, steps);
  StoreSums<kBoth>(scores);
}

// Computes scores [count][kRows] of `count` keys (a multiple of kPair) from `key` on, for the first
// `vectors` vectors of queries.
MIDSCOPE_BF16_INLINE void ScoreKeys(const AttentionBlock& block, const void* queries,
                                    const void* keys, int64_t key, int64_t count, int64_t vectors,
                                    float* scores) {
  const auto* rows = static_cast<const uint32_t*>(keys) + key * block.steps;
  const auto* columns = static_cast<const uint32_t*>(queries);
  for (int64_t first = 0; first < count; first += kPair) {
    for (int64_t v = 0; v < vectors; v += 2) {
      float* to = scores + first * kRows + v * kLanes;
      if (v + 1 < vectors) {
        ScorePair<true>(rows + first * block.steps, columns + v * kLanes, block.steps, to);
      } else {
        ScorePair<false>(rows + first * block.steps, columns + v * kLanes, block.steps, to);
      }
    }
  }
}

template <bool kBoth>
MIDSCOPE_BF16_INLINE void AddValuesPair(const uint32_t* values, const uint32_t* weights,
                                        int64_t keys, float* out) {
  MIDSCOPE_LOAD_TILE(0, out, kRows);
  MIDSCOPE_LOAD_TILE(2, out + kSide * kRows, kRows);
  if (kBoth) {
    MIDSCOPE_LOAD_TILE(1, out + kSide, kRows);
    MIDSCOPE_LOAD_TILE(3, out + kSide * kRows + kSide, kRows);
  }
  MultiplyTiles<kBoth>(values, kValueItems, kSide * kValueItems, weights, keys / 2);
  StoreSums<kBoth>(out);
}

// Computes out [elements][kRows] += values x weights for `keys` keys of a block.
MIDSCOPE_BF16_INLINE void AddValues(const uint32_t* values, const uint32_t* weights, int64_t keys,
                                    int64_t elements, int64_t vectors, float* out) {
  for (int64_t element = 0; element < elements; element += kPair) {
    for (int64_t v = 0; v < vectors; v += 2) {
      const uint32_t* from = values + element * kValueItems;
      float* to = out + element * kRows + v * kLanes;
      if (v + 1 < vectors) {
        AddValuesPair<true>(from, weights + v * kLanes, keys, to);
      } else {
        AddValuesPair<false>(from, weights + v * kLanes, keys, to);
      }
    }
  }
}

// Position, biases and factors for the scores of one vector of queries and a block of keys (a
// column of scores [key][kRows]).
struct Column {
  int64_t begin;         // first key of the block
  int64_t keys;          // number of keys, a multiple of kPair
  int64_t first_row;     // row of lane 0
  const float* far;      // scores with far positions; null: no key is far
  const float* bias;     // [keys], or null
  const float* factors;  // [keys], or null
};

// Converts products q k to logits in place: selects the far product for far keys, applies soft cap
// and ALiBi, hides keys and adds the bias.
MIDSCOPE_BF16 __attribute__((noinline)) void ShapeColumn(const AttentionBlock& block,
                                                         const Column& column, float* scores) {
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (int64_t key = 0; key < column.keys; ++key) {
    const auto lead = static_cast<int>(column.begin + key - column.first_row);
    float* at = scores + key * kRows;
    __m512 score = _mm512_load_ps(at);
    if (column.far) {
      const auto first_far = _mm512_set1_epi32(lead + static_cast<int>(block.near));
      score = _mm512_mask_mov_ps(score, _mm512_cmpge_epi32_mask(lanes, first_far),
                                 _mm512_load_ps(column.far + key * kRows));
    }
    score = bf16::ShapeScore(block, score, lead);
    __mmask16 visible = _mm512_cmpge_epi32_mask(lanes, _mm512_set1_epi32(lead));
    const auto passed = _mm512_set1_epi32(lead + static_cast<int>(block.window));
    visible = _mm512_mask_cmplt_epi32_mask(visible, lanes, passed);
    score = _mm512_mask_mov_ps(_mm512_set1_ps(kHidden), visible, score);
    if (column.bias) score = _mm512_add_ps(score, _mm512_set1_ps(column.bias[key]));
    _mm512_store_ps(at, score);
  }
}

MIDSCOPE_BF16_INLINE __m512 Largest(const float* scores, int64_t keys, __m512 max) {
  __m512 other = max;
  for (int64_t key = 0; key < keys; key += 2) {
    max = _mm512_max_ps(max, _mm512_load_ps(scores + key * kRows));
    other = _mm512_max_ps(other, _mm512_load_ps(scores + (key + 1) * kRows));
  }
  return _mm512_max_ps(max, other);
}

// Converts scores [keys][kRows] to weights 2^(score - max), as pairs [keys / 2][kRows], times
// `factors` unless null. Returns the sums of the weights before factors.
MIDSCOPE_BF16_INLINE __m512 Weigh(const float* scores, int64_t keys, __m512 max,
                                  const float* factors, uint32_t* weights) {
  __m512 evens = _mm512_setzero_ps();
  __m512 odds = _mm512_setzero_ps();
  for (int64_t key = 0; key < keys; key += 2) {
    __m512 even = Exp2(_mm512_sub_ps(_mm512_load_ps(scores + key * kRows), max));
    __m512 odd = Exp2(_mm512_sub_ps(_mm512_load_ps(scores + (key + 1) * kRows), max));
    evens = _mm512_add_ps(evens, even);
    odds = _mm512_add_ps(odds, odd);
    if (factors) {
      even = _mm512_mul_ps(even, _mm512_set1_ps(factors[key]));
      odd = _mm512_mul_ps(odd, _mm512_set1_ps(factors[key + 1]));
    }
    _mm512_store_si512(weights + key / 2 * kRows, bf16::Pairs(even, odd));
  }
  return _mm512_add_ps(evens, odds);
}

// Multiplies the output sums of one vector of queries, out [elements][kRows], by `fade`, which is
// below 1 for rows whose maximum rose.
MIDSCOPE_BF16_INLINE void Fade(__m512 fade, int64_t elements, float* out) {
  if (_mm512_cmpneq_ps_mask(fade, _mm512_set1_ps(1.0f)) == 0) return;
  for (int64_t element = 0; element < elements; ++element) {
    float* at = out + element * kRows;
    _mm512_store_ps(at, _mm512_mul_ps(_mm512_load_ps(at), fade));
  }
}

// Pointers into a block's working memory (AttentionBlock::scratch).
struct Room {
  float* scores;      // [kKeyBlock][kRows]
  float* far_scores;  // [kKeyBlock][kRows], with far positions
  uint32_t* weights;  // [kKeyBlock / 2][kRows]
};
constexpr int64_t kScratchFloats = kKeyBlock * kRows * 5 / 2;

MIDSCOPE_BF16_INLINE void AttendKeys(const AttentionBlock& block, int64_t begin, int64_t vectors,
                                     const Room& room, __m512 (&max)[kVectors],
                                     __m512 (&total)[kVectors]) {
  const int64_t end = std::min(begin + kKeyBlock, block.key_count);
  const int64_t keys = (end - begin + kPair - 1) / kPair * kPair;
  const int64_t elements = block.value_tiles * kTile;
  float bias[kKeyBlock];
  float factors[kKeyBlock];
  const bool touched = block.edits && block.edits->Touches(begin, end);
  if (touched) block.edits->Fill(begin, kKeyBlock, bias, factors);
  const bool any_far = block.far_keys && block.key_count - 1 - begin >= block.near;
  const bool any_near = !any_far || block.first_row - (begin + keys - 1) < block.near;
  if (any_near) {
    ScoreKeys(block, block.queries, block.keys, begin, keys, vectors, room.scores);
  }
  if (any_far) {
    ScoreKeys(block, block.far_queries, block.far_keys, begin, keys, vectors,
              any_near ? room.far_scores : room.scores);
  }
  // The first row's last visible key is the lowest one, so it decides whether masking is needed.
  const bool shaped = touched || block.shaped() || begin + keys - 1 > block.first_row;
  for (int64_t v = 0; v < vectors; ++v) {
    float* scores = room.scores + v * kLanes;
    if (shaped) {
      ShapeColumn(block,
                  {begin, keys, block.first_row + v * kLanes,
                   any_far && any_near ? room.far_scores + v * kLanes : nullptr,
                   touched ? bias : nullptr, touched ? factors : nullptr},
                  scores);
    }
    const __m512 before = max[v];
    max[v] = Largest(scores, keys, before);
    const __m512 fade = Exp2(_mm512_sub_ps(before, max[v]));
    const __m512 sum =
        Weigh(scores, keys, max[v], touched ? factors : nullptr, room.weights + v * kLanes);
    total[v] = _mm512_fmadd_ps(total[v], fade, sum);
    Fade(fade, elements, block.out + v * kLanes);
  }
  const auto* values = static_cast<const uint32_t*>(block.values) + begin / 2 * elements;
  AddValues(values, room.weights, keys, elements, vectors, block.out);
}

// Computes attention for a block. As in the other engines, a row that has seen no key yet gives
// hidden keys equal weights, which the first visible key makes exactly 0.
MIDSCOPE_BF16 void AttendOnTiles(const AttentionBlock& block) {
  const TileScope tiles;
  const Room room{block.scratch, block.scratch + kKeyBlock * kRows,
                  reinterpret_cast<uint32_t*>(block.scratch + 2 * kKeyBlock * kRows)};
  const int64_t vectors = (block.key_count - block.first_row + kLanes - 1) / kLanes;
  const int64_t elements = block.value_tiles * kTile;
  std::fill_n(block.out, elements * kRows, 0.0f);
  __m512 max[kVectors];
  __m512 total[kVectors];
  for (int64_t v = 0; v < kVectors; ++v) {
    max[v] = _mm512_set1_ps(block.sink);
    total[v] = _mm512_set1_ps(block.sink_weight());
  }
  for (int64_t begin = block.first_key; begin < block.key_count; begin += kKeyBlock) {
    const int64_t end = std::min(begin + kKeyBlock, block.key_count);
    if (block.edits && block.edits->HidesAll(begin, end)) continue;
    AttendKeys(block, begin, vectors, room, max, total);
  }
  for (int64_t element = 0; element < elements; ++element) {
    for (int64_t v = 0; v < vectors; ++v) {
      float* at = block.out + element * kRows + v * kLanes;
      _mm512_store_ps(at, _mm512_div_ps(_mm512_load_ps(at), total[v]));
    }
  }
}

}  // namespace

const AttentionEngine* TileAttentionEngine() {
  static const AttentionEngine engine = {kRows, 2, kScratchFloats, true, AttendOnTiles};
  return HasMatrixTiles() ? &engine : nullptr;
}

}  // namespace midscope::kernels

#else

namespace midscope::kernels {
const AttentionEngine* TileAttentionEngine() { return nullptr; }
}  // namespace midscope::kernels

#endif
