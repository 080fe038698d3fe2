// SPDX-License-Identifier: MIT
// Attention of few query rows, in float32 for any dtype of queries, keys and values: kernels for
// the logits and for the weighted sums of values (row_softmax.h computes the weights). Keys are
// updated and rotated while they are read.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/attention_head.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Computes logits [heads, query_rows, keys] = scale q k^T, with far tables for keys at least `near`
// rows before the query, for the keys in rows [first_key, first_key + keys) of k, including keys
// that a query must not see. With `amount`, uses k[j] - amount[j] direction as key j, without
// rounding (RankOneUpdate, for what-if runs). Layouts as in AttentionArguments; head_dim must be a
// multiple of 8 up to 256.
template <class T>
struct RowLogitsArguments {
  const T* q = nullptr;
  const T* k = nullptr;
  float* logits = nullptr;
  int64_t q_stride = 0;
  int64_t k_stride = 0;
  int64_t query_rows = 0;
  int64_t first_query = 0;
  int64_t first_key = 0;
  int64_t keys = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int64_t near = 0;
  int head_dim = 0;
  const AttentionHead* tables = nullptr;  // [heads]
  const float* amount = nullptr;          // [rows of k], or null
  const float* direction = nullptr;       // [key_value_heads, head_dim]: times amount, subtracted
};

constexpr int kRowHeadDim = 256;
constexpr int kKeysOfBlock = 256;
// 2^kKeyThreadBits threads process a key together.
constexpr int kKeyThreadBits = 3;
constexpr int kKeyThreads = 1 << kKeyThreadBits;
// Heads per thread block. A block loads angles once for heads with the same rotary table, and a key
// once for heads of the same KV group; angles of a key take more bytes than the key.
constexpr int kHeadsOfBlock = 4;

template <class T>
inline Grid RowLogitsGrid(const RowLogitsArguments<T>& a) {
  return {(a.keys + kKeysOfBlock - 1) / kKeysOfBlock, (a.heads + kHeadsOfBlock - 1) / kHeadsOfBlock,
          a.query_rows, kRowThreads, int64_t{2} * kHeadsOfBlock * kRowHeadDim * 4};
}

// Returns the number of heads of the thread block that begins with first_head.
template <class T>
MIDSCOPE_CUDA_BODY int HeadsOfBlock(const RowLogitsArguments<T>& a, int64_t first_head) {
  const int64_t left = a.heads - first_head;
  return left < kHeadsOfBlock ? static_cast<int>(left) : kHeadsOfBlock;
}

// For each head of a thread block, the offset of the head's key in a row of k; missing heads repeat
// the last. In 32 bits, because a 64-bit division takes about a hundred operations.
struct KeyColumns {
  int of[kHeadsOfBlock];
};
template <class T>
MIDSCOPE_CUDA_BODY KeyColumns KeyColumnsOf(const RowLogitsArguments<T>& a, int64_t first_head) {
  const int group = static_cast<int>(a.heads) / static_cast<int>(a.key_value_heads);
  const int heads = HeadsOfBlock(a, first_head);
  KeyColumns columns;
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kHeadsOfBlock; ++i) {
    const int head = static_cast<int>(first_head) + (i < heads ? i : heads - 1);
    columns.of[i] = head / group * a.head_dim;
  }
  return columns;
}
MIDSCOPE_CUDA_BODY bool AreOne(const KeyColumns& columns) {
  return columns.of[0] == columns.of[kHeadsOfBlock - 1];
}

// Calls work(std::bool_constant<kChanged>()): true if the arguments have an update of the keys.
template <class T, class Work>
void WithVariantOf(const RowLogitsArguments<T>& a, const Work& work) {
  a.amount ? work(std::true_type()) : work(std::false_type());
}

// Kernel body for logits. kChanged: keys are updated. keys_of_block: keys per thread block.
template <class T, bool kChanged, class Machine>
class RowLogitsBlock {
 public:
  MIDSCOPE_CUDA_BODY RowLogitsBlock(Machine& machine, const RowLogitsArguments<T>& a,
                                    int keys_of_block = kKeysOfBlock)
      : machine_(machine),
        a_(a),
        keys_of_block_(keys_of_block),
        row_(a.first_query + machine.block().z),
        first_head_(machine.block().y * kHeadsOfBlock),
        heads_(HeadsOfBlock(a, first_head_)),
        columns_(KeyColumnsOf(a, first_head_)),
        table_(a.tables[first_head_].k),
        far_table_(a.tables[first_head_].far_k),
        queries_(machine.template Shared<float>(kHeadsOfBlock * kRowHeadDim)),
        far_queries_(machine.template Shared<float>(kHeadsOfBlock * kRowHeadDim)) {}

  MIDSCOPE_CUDA_BODY void Run() {
    Run([&](int head, int64_t key, float logit) {
      const int64_t of = (first_head_ + head) * a_.query_rows + machine_.block().z;
      a_.logits[of * a_.keys + key] = logit;
    });
  }

  // Computes the block's logits. Threads call write(head, key, logit); head counts from the block's
  // first head, key from first_key.
  template <class Write>
  MIDSCOPE_CUDA_BODY void Run(const Write& write) {
    machine_.Each([&](int thread) { RotateQueries(thread); });
    machine_.Barrier();
    if (!OneTable()) {
      EachKey([&](int64_t key, int chunk, Products& to) { MultiplyApart(key, chunk, to); }, write);
    } else if (AreOne(columns_)) {
      EachKey([&](int64_t key, int chunk, Products& to) { MultiplyTogether<1>(key, chunk, to); },
              write);
    } else {
      EachKey([&](int64_t key, int chunk,
                  Products& to) { MultiplyTogether<kHeadsOfBlock>(key, chunk, to); },
              write);
    }
  }

 private:
  struct Products {
    float of[kHeadsOfBlock];
  };

  // Writes the logits of the block's keys. multiply(key, first chunk, products) must add the
  // products q k of every kKeyThreads-th chunk of the key.
  template <class Multiply, class Write>
  MIDSCOPE_CUDA_BODY void EachKey(const Multiply& multiply, const Write& write) {
    typename Machine::template PerThread<Products> products(machine_);
    for (int at = 0; at < keys_of_block_; at += kRowThreads / kKeyThreads) {
      const int64_t first = machine_.block().x * keys_of_block_ + at;
      machine_.ReadAgain();  // keeps queries out of registers
      machine_.Each([&](int thread) {
        products[thread] = {};
        const int64_t key = first + thread / kKeyThreads;
        if (key < a_.keys) multiply(a_.first_key + key, thread % kKeyThreads, products[thread]);
      });
      MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
        machine_.template GroupSum<kKeyThreadBits>(
            [&](int thread) -> float& { return products[thread].of[head]; });
      }
      machine_.Each([&](int thread) {
        const int64_t key = first + thread / kKeyThreads;
        if (thread % kKeyThreads != 0 || key >= a_.keys) return;
        MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
          if (head >= heads_) break;
          write(head, key, products[thread].of[head]);
        }
      });
    }
  }

  // Rotates the queries into shared memory, with one warp for each head and table (near, far).
  MIDSCOPE_CUDA_BODY void RotateQueries(int thread) const {
    static_assert(kRowThreads == 2 * kHeadsOfBlock * kWarp && kRowHeadDim <= kWarp * kChunk);
    const int head = thread / kWarp % kHeadsOfBlock;
    const bool far = thread / kWarp >= kHeadsOfBlock;
    if (head >= heads_ || (far && a_.near == 0)) return;
    const AttentionHead of = a_.tables[first_head_ + head];
    const Table table = far ? of.far_q : of.q;
    const int chunk = thread % kWarp;
    if (chunk >= ChunksOf(table, a_.head_dim)) return;
    float* out = (far ? far_queries_ : queries_) + At(head, kRowHeadDim);
    const T* q = a_.q + machine_.block().z * a_.q_stride + (first_head_ + head) * a_.head_dim;
    WithRotatedChunk(table, row_, chunk, q, [&](int first, const float* values) {
      for (int i = 0; i < kChunk; ++i) out[first + i] = values[i] * of.scale;
    });
  }

  MIDSCOPE_CUDA_BODY bool IsFar(int64_t key) const { return a_.near > 0 && row_ - key >= a_.near; }

  // Loads 8 values of a key, from column `at` of k's row on, and applies the update.
  MIDSCOPE_CUDA_BODY void LoadKey(int64_t key, int64_t at, float* values) const {
    Load(a_.k + key * a_.k_stride + at, values);
    if constexpr (kChanged) {
      float direction[kChunk];
      Load(a_.direction + at, direction);
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
        values[i] -= a_.amount[key] * direction[i];
      }
    }
  }

  MIDSCOPE_CUDA_BODY static float Product(const float* query, const float* values) {
    float sum = 0;
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) sum += query[i] * values[i];
    return sum;
  }

  // Adds the products of queries and a chunk of a key for kHeads heads, from `head` on, which use
  // the same rotary table. kSharedKeys: 1 if the heads share a key, else kHeads.
  template <int kHeads, int kSharedKeys>
  MIDSCOPE_CUDA_BODY void AddChunk(int64_t key, int chunk, int head, const Table& table,
                                   Products& products) const {
    const int pairs = table.cos ? table.pairs : 0;
    const float* queries = (IsFar(key) ? far_queries_ : queries_) + At(head, kRowHeadDim);
    float low[kChunk];
    if (chunk * kChunk >= pairs) {
      const int at = chunk * kChunk + pairs;
      MIDSCOPE_CUDA_UNROLL for (int h = 0; h < kHeads; ++h) {
        if (h == 0 || kSharedKeys > 1) LoadKey(key, columns_.of[head + h] + at, low);
        products.of[head + h] += Product(queries + At(h, kRowHeadDim, at), low);
      }
      return;
    }
    const int at = chunk * kChunk;
    const Turn turn = TurnOf(table, key, chunk);
    float high[kChunk];
    MIDSCOPE_CUDA_UNROLL for (int h = 0; h < kHeads; ++h) {
      if (h == 0 || kSharedKeys > 1) {
        const int column = columns_.of[head + h] + at;
        LoadKey(key, column, low);
        LoadKey(key, column + pairs, high);
        TurnChunk(turn, low, high);
      }
      const float* query = queries + At(h, kRowHeadDim, at);
      products.of[head + h] += Product(query, low) + Product(query + pairs, high);
    }
  }

  template <int kSharedKeys>
  MIDSCOPE_CUDA_BODY void MultiplyTogether(int64_t key, int first_chunk, Products& products) const {
    Table table = table_;
    if (IsFar(key)) table = far_table_;
    const int chunks = ChunksOf(table, a_.head_dim);
    for (int chunk = first_chunk; chunk < chunks; chunk += kKeyThreads) {
      AddChunk<kHeadsOfBlock, kSharedKeys>(key, chunk, 0, table, products);
    }
  }

  // Adds the products head by head: for heads with separate tables, or fewer than kHeadsOfBlock.
  MIDSCOPE_CUDA_BODY void MultiplyApart(int64_t key, int first_chunk, Products& products) const {
    MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
      if (head >= heads_) break;
      const AttentionHead& of = a_.tables[first_head_ + head];
      const Table table = IsFar(key) ? of.far_k : of.k;
      const int chunks = ChunksOf(table, a_.head_dim);
      for (int chunk = first_chunk; chunk < chunks; chunk += kKeyThreads) {
        AddChunk<1, 1>(key, chunk, head, table, products);
      }
    }
  }

  MIDSCOPE_CUDA_BODY bool OneTable() const {
    if (heads_ < kHeadsOfBlock) return false;
    const AttentionHead& first = a_.tables[first_head_];
    bool one = true;
    MIDSCOPE_CUDA_UNROLL for (int head = 1; head < kHeadsOfBlock; ++head) {
      const AttentionHead& of = a_.tables[first_head_ + head];
      one = one && of.k.cos == first.k.cos && of.far_k.cos == first.far_k.cos;
    }
    return one;
  }

  Machine& machine_;
  const RowLogitsArguments<T>& a_;
  int keys_of_block_;
  int64_t row_;
  int64_t first_head_;
  int heads_;
  KeyColumns columns_;
  Table table_;  // rotary table for keys of the first head
  Table far_table_;
  float* queries_;
  float* far_queries_;
};

// Computes sums [parts, query_rows, heads, head_dim]: for each part of kKeysOfBlock keys, the sum
// of weights times values. The weight of key j for row r and head h is at r * row_stride + h *
// head_stride + j.
template <class T>
struct RowValuesArguments {
  const float* weights = nullptr;
  const T* v = nullptr;  // values of the first key
  float* sums = nullptr;
  int64_t row_stride = 0;
  int64_t head_stride = 0;
  int64_t v_stride = 0;
  int64_t query_rows = 0;
  int64_t keys = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int head_dim = 0;
};

template <class T>
inline int64_t PartsOf(const RowValuesArguments<T>& a) {
  return (a.keys + kKeysOfBlock - 1) / kKeysOfBlock;
}

template <class T>
inline Grid RowValuesGrid(const RowValuesArguments<T>& a) {
  return {PartsOf(a), a.heads, a.query_rows, kRowThreads, int64_t{kRowThreads} * kChunk * 4};
}

struct Chunk {
  float of[kChunk];
};

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void RowValuesBlock(Machine& machine, const RowValuesArguments<T>& a) {
  const BlockIndex block = machine.block();
  const int chunks = a.head_dim / kChunk;
  const int groups = kRowThreads / chunks;  // a group of threads, one per chunk, processes a key
  auto* sums = machine.template Shared<Chunk>(kRowThreads);
  const int64_t first = block.x * kKeysOfBlock;
  const int64_t last = first + kKeysOfBlock < a.keys ? first + kKeysOfBlock : a.keys;
  const float* weights = a.weights + block.z * a.row_stride + block.y * a.head_stride;
  const T* v = a.v + block.y / (a.heads / a.key_value_heads) * a.head_dim;
  machine.Each([&](int thread) {
    Chunk sum = {};
    for (int64_t key = first + thread / chunks; thread / chunks < groups && key < last;
         key += groups) {
      const float weight = weights[key];
      if (weight == 0) continue;  // values of a hidden key may be undefined
      float values[kChunk];
      Load(v + key * a.v_stride + thread % chunks * kChunk, values);
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) sum.of[i] += weight * values[i];
    }
    sums[thread] = sum;
  });
  machine.Barrier();
  machine.Each([&](int thread) {
    if (thread >= chunks) return;
    Chunk sum = sums[thread];
    for (int group = 1; group < groups; ++group) {
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
        sum.of[i] += sums[group * chunks + thread].of[i];
      }
    }
    Keep(sum.of, a.sums + ((block.x * a.query_rows + block.z) * a.heads + block.y) * a.head_dim +
                     thread * kChunk);
  });
}

}  // namespace midscope::kernels::cuda
