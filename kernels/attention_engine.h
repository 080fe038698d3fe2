// SPDX-License-Identifier: MIT
// Internal: the arithmetic of attention for one block of query rows of one head, on packed
// operands. Attention() packs operands, hands out blocks to threads and unpacks results; an engine
// is the part that is written for an instruction set.
//
// Everything is held transposed, queries along the vector lanes: scores [key][query], output
// [element][query]. So a softmax is lane-wise, and both matrix products are one micro-kernel: a
// tile of kTile scalars a step, each times a vector of queries.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/key_sets.h"

namespace midscope::kernels {

// Up to so many query rows, keys and values are read where they are; more are worth packing them.
inline constexpr int64_t kFewQueryRows = 4;

inline constexpr int64_t kTile = 8;  // keys (first product) or value elements (second) in a tile
inline constexpr int64_t kKeyBlock = 64;  // keys between two updates of the running softmax

inline constexpr int64_t kNoWindow = int64_t{1} << 30;  // sums with rows stay in 32 bits

struct AttentionBlock {
  // An item is one float32, or a pair of bfloat16 along the summed dimension. Zeros pad what is not
  // there.
  const void* queries;  // [steps][engine rows] items; rotated, times scale / ln 2
  const void* keys;     // [key / kTile][steps][kTile] items, or by rows: [key][steps]; rotated
  // [key / kKeyBlock][value tile][kKeyBlock items' worth of keys][kTile] items, or by rows: [key /
  // kKeyBlock][element][kKeyBlock items' worth of keys].
  const void* values;
  // As above, for keys at a distance of `near` or more rows; null: there are none.
  const void* far_queries;
  const void* far_keys;
  int64_t near;
  int64_t steps;          // items along head_dim
  int64_t value_tiles;    // head_dim / kTile, rounded up
  int64_t key_count;      // keys that the last row of the block sees
  int64_t first_row;      // absolute row of the block's first query: sees keys 0 .. first_row
  int64_t first_key;      // whole kKeyBlocks before the first key that a row sees
  int64_t window;         // keys that a row sees; kNoWindow: all
  float softcap;          // over ln 2; 0: none
  float slope;            // of ALiBi, over ln 2; 0: none
  float sink;             // HeadPositions::sinks, over ln 2; kHiddenLogit: none
  const KeyEdits* edits;  // null: none
  float* scratch;         // [engine scratch_floats]
  float* out;             // [value_tiles * kTile][engine rows]; normalised

  // The initial running sum of the softmax; its maximum begins with the sink.
  float sink_weight() const { return sink == kHiddenLogit ? 0.0f : 1.0f; }
  // Whether logits are more than products. Engines have separate code for it, so that the plain
  // case has no overhead.
  bool shaped() const { return window != kNoWindow || softcap != 0 || slope != 0 || far_keys; }
};

struct AttentionEngine {
  int64_t rows;            // queries in a block
  int64_t pack;            // elements in an item: 1 float32, or 2 bfloat16
  int64_t scratch_floats;  // working memory of Attend
  bool by_rows;            // how keys and values are laid out
  void (*attend)(const AttentionBlock& block);
};

// Float32 arithmetic, on any CPU.
const AttentionEngine& FloatAttentionEngine();

// bfloat16 products with float32 sums; null where the CPU has no such instruction (AVX-512 BF16).
const AttentionEngine* BFloat16AttentionEngine();

// As above, on the CPU's matrix tiles (AMX), for heads of a multiple of 32 elements; null where
// there are none.
const AttentionEngine* TileAttentionEngine();
constexpr bool FitsTiles(int64_t head_dim) { return head_dim % 32 == 0; }

// Attention() on a given engine.
bool AttentionOn(const AttentionEngine& engine, const AttentionShape& shape, const ConstHeads& q,
                 const ConstHeads& k, const ConstHeads& v, const HeadPositions& positions,
                 const Heads& out, const Executor& executor, CancelFlag cancel);

}  // namespace midscope::kernels
