// SPDX-License-Identifier: MIT
// Causal attention of many query rows on tensor cores, in bfloat16 or float16, for queries and keys
// that are already rotated. Unlike LibTorch's flash attention, it supports all settings of
// HeadPositions except query_weight. The online softmax is algorithm 1 of Dao, arXiv 2307.08691.
//
// A thread block processes 64 query rows of one head, a warp 16 of these rows. Loads values while
// it multiplies queries and keys, and the next keys while it multiplies values. Weights are rounded
// to bfloat16 or float16 before they are multiplied; sums are float32.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/attention_head.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// Arguments: q, out [query_rows, heads, head_dim], k, v [keys, key heads, head_dim]. Addresses and
// row strides are multiples of 16 bytes, heads are contiguous. Query r sees the keys up to row
// first_query + r, `window` of them (0: all), except hidden ones. The rotary tables in
// AttentionHead are not read.
template <class T>
struct AttentionArguments {
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  T* out = nullptr;       // result; 0 for a query that sees no key
  float* sums = nullptr;  // [heads, query_rows]: log-sum-exp of the logits; or null
  int64_t q_stride = 0;
  int64_t k_stride = 0;
  int64_t v_stride = 0;
  int64_t out_stride = 0;
  int64_t query_rows = 0;
  int64_t first_query = 0;
  int64_t heads = 0;
  int64_t group = 1;  // number of neighbouring heads that share a key head
  int64_t window = 0;
  // If the call processes only the far part of the keys (without sinks): number of rows to add to
  // the distance of queries and keys, for ALiBi.
  int64_t behind = 0;
  float softcap = 0;
  const AttentionHead* tables = nullptr;  // head h uses tables[h * table_step]
  int64_t table_step = 1;
};

constexpr int kBlockRows = 64;
constexpr int kAttentionThreads = 128;
// Keys per tile; fewer for large heads, whose sums fill the registers.
template <int kDim>
constexpr int kBlockKeys = kDim > 128 ? 32 : 64;
// Thread blocks per multiprocessor: while one computes exponentials, others multiply.
constexpr int AttentionBlocks(int head_dim) { return head_dim <= 64 ? 4 : head_dim <= 128 ? 3 : 2; }
constexpr bool HasAttention(int64_t head_dim) {
  return head_dim == 64 || head_dim == 96 || head_dim == 128 || head_dim == 256;
}

// Row stride of a tile in shared memory: 16 bytes more than a head, so that the eight rows that a
// warp reads together are in different banks.
template <int kDim>
constexpr int kTileStride = kDim + kChunk;

template <int kDim, class T>
inline Grid AttentionGrid(const AttentionArguments<T>& a) {
  constexpr int64_t kRowsOfTiles = kBlockRows + 2 * kBlockKeys<kDim>;
  return {(a.query_rows + kBlockRows - 1) / kBlockRows, a.heads, 1, kAttentionThreads,
          kRowsOfTiles * kTileStride<kDim> * 2};
}

// The part of a warp's 16 rows of values that one thread holds: rows lane / 4 and lane / 4 + 8; of
// each 8 columns, columns lane % 4 * 2 and lane % 4 * 2 + 1.
template <int kDim>
struct Logits {
  float of[kBlockKeys<kDim> / 8][4];
};
template <int kDim>
struct Sums {
  float of[kDim / 8][4];
  float largest[2];  // largest logits, in units of ln 2
  float sum[2];
};
struct Pair {
  float of[2];
};
struct Operands {
  uint32_t of[4];
};

// Calls work(std::integral_constant<int, kDim>()) with kDim = head_dim (HasAttention).
template <class Work>
void WithHeadDim(int64_t head_dim, const Work& work) {
  if (head_dim == 64) return work(std::integral_constant<int, 64>());
  if (head_dim == 96) return work(std::integral_constant<int, 96>());
  if (head_dim == 128) return work(std::integral_constant<int, 128>());
  work(std::integral_constant<int, 256>());
}

template <class Machine, int kDim, class T>
class AttentionBlock {
 public:
  MIDSCOPE_CUDA_BODY AttentionBlock(Machine& machine, const AttentionArguments<T>& a)
      : machine_(machine), a_(a), head_(a.tables[machine.block().y * a.table_step]) {
    const BlockIndex block = machine.block();
    // Thread blocks with the most keys start first: the last query rows.
    first_row_ = static_cast<int>(machine.blocks().x - 1 - block.x) * kBlockRows;
    const int left = static_cast<int>(a.query_rows) - first_row_;
    rows_ = left < kBlockRows ? left : kBlockRows;
    position_ = static_cast<int>(a.first_query) + first_row_;
    last_key_ = position_ + rows_;
    window_ = static_cast<int>(a.window);
    const int64_t key_column = block.y / a.group * kDim;
    k_ = a.k + key_column;
    v_ = a.v + key_column;
    queries_ = machine.template Shared<T>(kBlockRows * kStride);
    keys_ = machine.template Shared<T>(kKeys * kStride);
    values_ = machine.template Shared<T>(kKeys * kStride);
  }

  MIDSCOPE_CUDA_BODY void Run() {
    typename Machine::template PerThread<Sums<kDim>> sums(machine_);
    typename Machine::template PerThread<Logits<kDim>> logits(machine_);
    Clear(sums);
    Fetch<kBlockRows>(a_.q + int64_t{first_row_} * a_.q_stride + machine_.block().y * kDim,
                      a_.q_stride, rows_, queries_);
    int key = window_ > 0 && position_ >= window_ ? position_ - window_ + 1 : 0;
    key = TileFrom(key - key % kKeys);
    FetchKeys(key);
    while (key < last_key_) {
      machine_.AwaitCopies();
      machine_.Barrier();  // now queries and keys are loaded, values unused
      Fetch<kKeys>(v_ + int64_t{key} * a_.v_stride, a_.v_stride, KeysOfTile(key), values_);
      Multiply(logits);
      machine_.AwaitCopies();
      machine_.Barrier();  // now values are loaded, keys unused
      const int next = TileFrom(key + kKeys);
      FetchKeys(next);
      Weigh(key, logits, sums);
      AddValues(logits, sums);
      key = next;
    }
    machine_.AwaitCopies();
    Store(sums);
  }

 private:
  static constexpr int kStride = kTileStride<kDim>;
  static constexpr int kKeys = kBlockKeys<kDim>;

  template <class PerThreadSums>
  MIDSCOPE_CUDA_BODY void Clear(PerThreadSums& sums) {
    machine_.Each([&](int thread) {
      Sums<kDim>& mine = sums[thread];
      mine = {};
      // Four threads share a row: one of them adds the sink to the sum.
      const float sink = a_.behind > 0 ? -INFINITY : head_.sink;
      const bool counts = sink > -INFINITY && thread % 4 == 0;
      MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
        mine.largest[half] = sink * head_.inverse_temperature * kLog2E;
        mine.sum[half] = counts ? 1.0f : 0.0f;
      }
    });
  }

  // Returns the first key of the first tile, from `key` on, that is not hidden as a whole.
  MIDSCOPE_CUDA_BODY int TileFrom(int key) const {
    while (key < last_key_ && head_.edits.Hide(key, key + kKeys)) key += kKeys;
    return key;
  }
  MIDSCOPE_CUDA_BODY int KeysOfTile(int key) const {
    const int left = last_key_ - key;
    return left < kKeys ? left : kKeys;
  }
  MIDSCOPE_CUDA_BODY void FetchKeys(int key) {
    if (key < last_key_)
      Fetch<kKeys>(k_ + int64_t{key} * a_.k_stride, a_.k_stride, KeysOfTile(key), keys_);
  }

  // Starts copying `rows` rows of one head to shared memory, with zeros up to kRows rows.
  template <int kRows>
  MIDSCOPE_CUDA_BODY void Fetch(const T* from, int64_t stride, int rows, T* tile) {
    constexpr int kChunks = kDim / kChunk;
    static_assert(kRows * kChunks % kAttentionThreads == 0);
    machine_.Each([&](int thread) {
      // Not unrolled, because unrolling keeps many addresses in registers.
      MIDSCOPE_CUDA_UNROLL_BY(1)
      for (int item = thread; item < kRows * kChunks; item += kAttentionThreads) {
        const int row = item / kChunks;
        const int column = item % kChunks * kChunk;
        const bool there = row < rows;
        machine_.CopyAsync(tile + At(row, kStride, column),
                           from + (there ? row : 0) * stride + column, there);
      }
    });
  }

  // Computes logits = queries keys^T for a tile of keys, 16 rows per warp.
  template <class PerThreadLogits>
  MIDSCOPE_CUDA_BODY void Multiply(PerThreadLogits& logits) {
    typename Machine::template PerThread<Operands> left(machine_);
    typename Machine::template PerThread<Operands> right(machine_);
    machine_.Each([&](int thread) { logits[thread] = {}; });
    MIDSCOPE_CUDA_UNROLL for (int step = 0; step < kDim; step += 16) {
      machine_.template LoadFour<false>([&](int thread) { return left[thread].of; },
                                        [&](int thread) {
                                          return queries_ + At(thread / kWarp * 16 + thread % 16,
                                                               kStride,
                                                               step + thread % kWarp / 16 * 8);
                                        });
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kKeys; n += 16) {
        machine_.template LoadFour<false>([&](int thread) { return right[thread].of; },
                                          [&](int thread) {
                                            return keys_ +
                                                   At(n + thread % kWarp / 16 * 8 + thread % 8,
                                                      kStride, step + thread / 8 % 2 * 8);
                                          });
        MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
          machine_.template Multiply<T>([&](int thread) { return logits[thread].of[n / 8 + half]; },
                                        [&](int thread) { return left[thread].of; },
                                        [&](int thread) { return right[thread].of + half * 2; });
        }
      }
    }
  }

  // Calls work(logit, key - query, column of the tile) for each logit of the thread.
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachLogit(int thread, int key, Logits<kDim>& logits,
                                    const Work& work) const {
    const int lane = thread % kWarp;
    const int column = lane % 4 * 2;
    const int distance = key - position_ + column - (At(thread / kWarp, 16) + lane / 4);
    MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kKeys / 8; ++n) {
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
        work(logits.of[n][i], distance + n * 8 + i % 2 - i / 2 * 8, column + n * 8 + i % 2);
      }
    }
  }
  // Calls work(logit) for each logit of the thread whose key is in the range of `edit`.
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachEdited(int thread, int key, const KeyEdit& edit, Logits<kDim>& logits,
                                     const Work& work) const {
    const int begin = edit.begin > key ? static_cast<int>(edit.begin - key) : 0;
    const int end = edit.end < key + kKeys ? static_cast<int>(edit.end - key) : kKeys;
    EachLogit(thread, key, logits, [&](float& logit, int, int column) {
      if (column >= begin && column < end) work(logit);
    });
  }

  // Replaces products q k by exponentials of the logits minus the row's largest logit so far.
  // Scales down earlier sums, which were computed with a smaller maximum.
  template <class PerThreadLogits, class PerThreadSums>
  MIDSCOPE_CUDA_BODY void Weigh(int key, PerThreadLogits& logits, PerThreadSums& sums) {
    typename Machine::template PerThread<Pair> largest(machine_);
    machine_.Each([&](int thread) {
      FinishLogits(thread, key, logits[thread]);
      float* most = largest[thread].of;
      most[0] = most[1] = -INFINITY;
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kKeys / 8; ++n) {
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
          most[i / 2] = fmaxf(most[i / 2], logits[thread].of[n][i]);
        }
      }
    });
    MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
      machine_.template GroupMax<2>([&](int thread) -> float& { return largest[thread].of[half]; });
    }
    machine_.Each([&](int thread) {
      Sums<kDim>& mine = sums[thread];
      float base[2];
      MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
        const float most = fmaxf(mine.largest[half], largest[thread].of[half]);
        // For a row that has seen no key yet, any finite base gives weights of 0.
        base[half] = most == -INFINITY ? 0.0f : most;
        const float factor = PowerOfTwo(mine.largest[half] - base[half]);
        mine.largest[half] = most;
        mine.sum[half] *= factor;
        MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim / 8; ++n) {
          mine.of[n][2 * half] *= factor;
          mine.of[n][2 * half + 1] *= factor;
        }
      }
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kKeys / 8; ++n) {
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
          float& x = logits[thread].of[n][i];
          x = PowerOfTwo(x - base[i / 2]);
          mine.sum[i / 2] += x;
        }
      }
      head_.edits.EachWithin(key, key + kKeys, [&](const KeyEdit& edit) {
        if (edit.weight == 1) return;
        EachEdited(thread, key, edit, logits[thread], [&](float& x) { x *= edit.weight; });
      });
    });
  }

  // Replaces products q k by the softmax input (soft cap, ALiBi, edits) in units of ln 2.
  MIDSCOPE_CUDA_BODY void FinishLogits(int thread, int key, Logits<kDim>& logits) const {
    // Runs the steps one after the other, each only if needed, because all at once would fill the
    // registers.
    const float to_base_2 = head_.inverse_temperature * kLog2E;
    float factor = head_.scale * to_base_2;
    if (a_.softcap > 0) {
      const float inside = head_.scale / a_.softcap;
      EachLogit(thread, key, logits, [&](float& x, int, int) { x = tanhf(x * inside); });
      factor = a_.softcap * to_base_2;
    }
    EachLogit(thread, key, logits, [&](float& x, int, int) { x *= factor; });
    if (head_.slope != 0) {
      const float slope = head_.slope * to_base_2;
      EachLogit(thread, key, logits, [&](float& x, int distance, int) {
        x += slope * static_cast<float>(distance - static_cast<int>(a_.behind));
      });
    }
    head_.edits.EachWithin(key, key + kKeys, [&](const KeyEdit& edit) {
      if (edit.logit == 0) return;
      EachEdited(thread, key, edit, logits, [&](float& x) { x += edit.logit * kLog2E; });
    });
    const bool all_seen = key + kKeys - 1 <= position_ &&
                          (window_ == 0 || position_ + kBlockRows - 1 - key < window_);
    if (all_seen) return;
    EachLogit(thread, key, logits, [&](float& x, int distance, int) {
      if (distance > 0 || (window_ > 0 && -distance >= window_)) x = -INFINITY;
    });
  }

  // Computes sums += weights values. The left operand of a product is a thread's weights of 16
  // keys.
  template <class PerThreadLogits, class PerThreadSums>
  MIDSCOPE_CUDA_BODY void AddValues(PerThreadLogits& logits, PerThreadSums& sums) {
    typename Machine::template PerThread<Operands> left(machine_);
    typename Machine::template PerThread<Operands> right(machine_);
    MIDSCOPE_CUDA_UNROLL for (int step = 0; step < kKeys; step += 16) {
      machine_.Each([&](int thread) {
        MIDSCOPE_CUDA_UNROLL for (int part = 0; part < 4; ++part) {
          const float* pair = logits[thread].of[step / 8 + part / 2] + At(part % 2, 2);
          left[thread].of[part] = PackPair<T>(pair[0], pair[1]);
        }
      });
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim; n += 16) {
        machine_.template LoadFour<true>([&](int thread) { return right[thread].of; },
                                         [&](int thread) {
                                           return values_ + At(step + thread % 16, kStride,
                                                               n + thread % kWarp / 16 * 8);
                                         });
        MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
          machine_.template Multiply<T>([&](int thread) { return sums[thread].of[n / 8 + half]; },
                                        [&](int thread) { return left[thread].of; },
                                        [&](int thread) { return right[thread].of + half * 2; });
        }
      }
    }
  }

  template <class PerThreadSums>
  MIDSCOPE_CUDA_BODY void Store(PerThreadSums& sums) {
    MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
      machine_.template GroupSum<2>([&](int thread) -> float& { return sums[thread].sum[half]; });
    }
    const int64_t head = machine_.block().y;
    T* out = a_.out + int64_t{first_row_} * a_.out_stride + head * kDim;
    machine_.Each([&](int thread) {
      const int lane = thread % kWarp;
      MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
        const int row = thread / kWarp * 16 + lane / 4 + half * 8;
        if (row >= rows_) continue;
        const float sum = sums[thread].sum[half];
        const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
        T* to = out + row * a_.out_stride + At(lane % 4, 2);
        MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim / 8; ++n) {
          const float* pair = sums[thread].of[n] + At(half, 2);
          *reinterpret_cast<uint32_t*>(to + At(n, 8)) =
              PackPair<T>(pair[0] * inverse, pair[1] * inverse);
        }
        if (a_.sums && lane % 4 == 0) {
          a_.sums[head * a_.query_rows + first_row_ + row] =
              sums[thread].largest[half] / kLog2E + logf(sum);
        }
      }
    });
  }

  Machine& machine_;
  const AttentionArguments<T>& a_;
  const AttentionHead head_;
  // Row indices in 32 bits, because 64-bit numbers would fill the registers.
  int first_row_ = 0;  // first query row of the block
  int rows_ = 0;
  int position_ = 0;  // last key that the block's first row sees
  int last_key_ = 0;  // one past the last key that the block sees
  int window_ = 0;
  const T* k_ = nullptr;
  const T* v_ = nullptr;
  T* queries_ = nullptr;
  T* keys_ = nullptr;
  T* values_ = nullptr;
};

}  // namespace midscope::kernels::cuda
