// SPDX-License-Identifier: MIT
// Internal: the arithmetic of attention for one block of query rows of one head, on packed
// operands. Attention() packs operands, distributes blocks to threads and unpacks results; an
// engine is the part that is specific to an instruction set.
//
// All data are stored transposed, with queries along the vector lanes: scores [key][query], output
// [element][query]. The softmax is therefore lane-wise, and both matrix products use one
// micro-kernel: per step, each of a tile of kTile scalars is multiplied by a vector of queries.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/key_sets.h"

namespace midscope::kernels {

// For up to this number of query rows, keys and values are read in place; for more rows, packing
// them pays.
inline constexpr int64_t kFewQueryRows = 4;

inline constexpr int64_t kTile = 8;  // keys (first product) or value elements (second) in a tile
inline constexpr int64_t kKeyBlock = 64;  // keys between two updates of the running softmax

inline constexpr int64_t kNoWindow = int64_t{1} << 30;  // sums with row numbers fit 32 bits

struct AttentionBlock {
  // An item is one float32, or a pair of bfloat16 along the summed dimension. Missing items are
  // zero.
  const void* queries;  // [steps][engine rows] items; rotated, times scale / ln 2
  const void* keys;     // [key / kTile][steps][kTile] items, or by rows: [key][steps]; rotated
  // [key / kKeyBlock][value tile][kKeyBlock items' worth of keys][kTile] items, or by rows: [key /
  // kKeyBlock][element][kKeyBlock items' worth of keys].
  const void* values;
  // Like queries and keys, for keys at a distance of `near` or more rows; null: there are none.
  const void* far_queries;
  const void* far_keys;
  int64_t near;
  int64_t steps;          // items along head_dim
  int64_t value_tiles;    // head_dim / kTile, rounded up
  int64_t key_count;      // number of keys that the last row of the block sees
  int64_t first_row;      // absolute row of the block's first query, which sees keys 0 .. first_row
  int64_t first_key;      // beginning of the kKeyBlock that contains the first key that a row sees
  int64_t window;         // number of keys that a row sees; kNoWindow: all
  float softcap;          // divided by ln 2; 0: none
  float slope;            // of ALiBi, divided by ln 2; 0: none
  float sink;             // HeadPositions::sinks, divided by ln 2; kHiddenLogit: none
  const KeyEdits* edits;  // null: none
  float* scratch;         // [engine scratch_floats]
  float* out;             // [value_tiles * kTile][engine rows]; normalised

  // The initial value of the softmax's running sum; its running maximum begins with the sink.
  float sink_weight() const { return sink == kHiddenLogit ? 0.0f : 1.0f; }
  // Whether logits are anything but scaled products. Engines have separate code for this, so that
  // the plain case has no overhead.
  bool shaped() const { return window != kNoWindow || softcap != 0 || slope != 0 || far_keys; }
};

struct AttentionEngine {
  int64_t rows;            // queries in a block
  int64_t pack;            // elements per item: 1 float32, or 2 bfloat16
  int64_t scratch_floats;  // working memory of Attend
  bool by_rows;            // the layout of keys and values
  void (*attend)(const AttentionBlock& block);
};

// Returns the engine with float32 arithmetic, for any CPU.
const AttentionEngine& FloatAttentionEngine();

// Returns the engine with bfloat16 products and float32 sums; null if the CPU has no such
// instruction (AVX-512 BF16).
const AttentionEngine* BFloat16AttentionEngine();

// Likewise, on the CPU's matrix tiles (AMX), for head sizes that are multiples of 32; null if the
// CPU has none.
const AttentionEngine* TileAttentionEngine();
constexpr bool FitsTiles(int64_t head_dim) { return head_dim % 32 == 0; }

// Runs Attention() on the given engine.
bool AttentionOn(const AttentionEngine& engine, const AttentionShape& shape, const ConstHeads& q,
                 const ConstHeads& k, const ConstHeads& v, const HeadPositions& positions,
                 const Heads& out, const Executor& executor, CancelFlag cancel);

}  // namespace midscope::kernels
