// SPDX-License-Identifier: MIT
// Internal: interface of attention engines. An engine computes attention for one block of query
// rows of one head, on packed operands, for one instruction set. Attention() packs operands,
// distributes blocks to threads and unpacks results.
//
// All data are stored transposed, with queries along the vector lanes: scores [key][query], output
// [element][query]. The softmax is therefore lane-wise, and both matrix products use one
// micro-kernel: per step, it multiplies each of kTile scalars by a vector of queries.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/key_sets.h"

namespace midscope::kernels {

// Maximum number of query rows for which keys and values are read in place. For more rows, packing
// them first is faster.
inline constexpr int64_t kFewQueryRows = 4;

inline constexpr int64_t kTile = 8;       // keys (in q k) or value elements (in weights v) per tile
inline constexpr int64_t kKeyBlock = 64;  // keys between two updates of the running softmax

inline constexpr int64_t kNoWindow = int64_t{1} << 30;  // sums with row indices fit 32 bits

struct AttentionBlock {
  // "Item": one float32, or a pair of bfloat16 along the summed dimension. Items beyond existing
  // rows and elements are zero.
  const void* queries;  // [steps][engine rows] items; rotated, times scale / ln 2
  const void* keys;     // [key / kTile][steps][kTile] items, or by rows: [key][steps]; rotated
  // [key / kKeyBlock][value tile][kKeyBlock keys][kTile] items, or by rows: [key /
  // kKeyBlock][element][kKeyBlock keys]. A bfloat16 item contains two keys.
  const void* values;
  // Queries and keys, rotated for keys at a distance of `near` or more rows (FarPositions), in the
  // layout of `queries` and `keys`; null: no key is that far.
  const void* far_queries;
  const void* far_keys;
  int64_t near;
  int64_t steps;          // items along head_dim
  int64_t value_tiles;    // head_dim / kTile, rounded up
  int64_t key_count;      // number of keys that the last row of the block sees
  int64_t first_row;      // absolute row of the block's first query, which sees keys 0 .. first_row
  int64_t first_key;      // begin of the kKeyBlock with the first key that a row sees
  int64_t window;         // number of keys that a row sees; kNoWindow: all
  float softcap;          // divided by ln 2; 0: none
  float slope;            // ALiBi slope, divided by ln 2; 0: none
  float sink;             // sink logit, divided by ln 2; kHiddenLogit: none
  const KeyEdits* edits;  // null: none
  float* scratch;         // [engine scratch_floats]
  float* out;             // [value_tiles * kTile][engine rows]: result

  // Returns the initial running sum of the softmax; the initial running maximum is the sink.
  float sink_weight() const { return sink == kHiddenLogit ? 0.0f : 1.0f; }
  // Whether logits need more than a scaled product: window, soft cap, ALiBi or far keys. Engines
  // have separate code for this, so that the plain case has no overhead.
  bool shaped() const { return window != kNoWindow || softcap != 0 || slope != 0 || far_keys; }
};

struct AttentionEngine {
  int64_t rows;            // queries in a block
  int64_t pack;            // elements per item: 1 float32, or 2 bfloat16
  int64_t scratch_floats;  // floats of working memory for `attend`
  bool by_rows;            // keys and values are packed "by rows"
  void (*attend)(const AttentionBlock& block);
};

// Returns the engine with float32 arithmetic, for any CPU.
const AttentionEngine& FloatAttentionEngine();

// Returns the engine with bfloat16 products and float32 sums; null if the CPU has no such
// instruction (AVX-512 BF16).
const AttentionEngine* BFloat16AttentionEngine();

// Returns the engine with bfloat16 products on matrix tiles (AMX) and float32 sums, for head sizes
// that are multiples of 32; null if the CPU has no AMX.
const AttentionEngine* TileAttentionEngine();
constexpr bool FitsTiles(int64_t head_dim) { return head_dim % 32 == 0; }

// Computes Attention() with the given engine.
bool AttentionOn(const AttentionEngine& engine, const AttentionShape& shape, const ConstHeads& q,
                 const ConstHeads& k, const ConstHeads& v, const HeadPositions& positions,
                 const Heads& out, const Executor& executor, CancelFlag cancel);

}  // namespace midscope::kernels
