// SPDX-License-Identifier: MIT
// Causal attention of many rows on tensor cores, bfloat16 or float16, with a rotary position of its
// own for each head: what kernels/attention.h's Attention is on a CPU. Keys are rotated while a
// block reads them, so that nobody keeps a copy of them for each head where heads of one group
// disagree about position (Ms-PoE). The online softmax is that of Dao, arXiv 2307.08691,
// algorithm 1.
//
// A block is 64 query rows of one head, a warp 16 of these rows. Rotated queries and keys and the
// weights are rounded to that type before they are multiplied, sums are float32. It has all that
// HeadPositions can say but weights of queries.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/attention_head.h"
#include "kernels/cuda/machine.h"
#include "kernels/cuda/rotary.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// q, out [query_rows, heads, head_dim], k, v [key_rows, key_value_heads, head_dim]: addresses and
// strides of rows are multiples of 16 bytes, heads adjoin. Lengths as in AttentionShape.
template <class T>
struct AttentionArguments {
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  T* out = nullptr;
  int64_t q_stride = 0;
  int64_t k_stride = 0;
  int64_t v_stride = 0;
  int64_t out_stride = 0;
  int64_t query_rows = 0;
  int64_t first_query = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int64_t window = 0;
  float softcap = 0;
  int64_t near = 0;                       // FarPositions' window; 0: all keys are near
  const AttentionHead* tables = nullptr;  // [heads]
};

constexpr int kBlockRows = 64;
constexpr int kBlockKeys = 64;
constexpr int kAttentionThreads = 128;
constexpr bool HasAttention(int64_t head_dim) { return head_dim == 64 || head_dim == 128; }

// Rows of a tile in shared memory are 16 bytes longer than a head, so that the eight rows that a
// warp reads at once lie in different banks.
template <int kDim>
constexpr int kTileStride = kDim + kChunk;

template <int kDim, class T>
inline Grid AttentionGrid(const AttentionArguments<T>& a) {
  constexpr int64_t kTile = int64_t{kBlockRows} * kTileStride<kDim> * 2;
  return {(a.query_rows + kBlockRows - 1) / kBlockRows, a.heads, 1, kAttentionThreads,
          (a.near > 0 ? 4 : 3) * kTile};
}

// What a warp's thread holds: rows lane / 4 and lane / 4 + 8 of the warp's 16, columns lane % 4 * 2
// and the next of each 8.
struct Logits {
  float of[kBlockKeys / 8][4];
};
template <int kDim>
struct Sums {
  float of[kDim / 8][4];
  float largest[2];
  float sum[2];
};
struct Pair {
  float of[2];
};
struct LeftOperand {
  uint32_t of[4];
};
struct RightOperand {
  uint32_t of[2];
};

// work(std::integral_constant<int, kDim>()) for a size of heads that there is (HasAttention).
template <class Work>
void WithHeadDim(int64_t head_dim, const Work& work) {
  if (head_dim == 64) return work(std::integral_constant<int, 64>());
  work(std::integral_constant<int, 128>());
}

template <class Machine, int kDim, class T>
class AttentionBlock {
 public:
  MIDSCOPE_CUDA_BODY AttentionBlock(Machine& machine, const AttentionArguments<T>& a)
      : machine_(machine), a_(a), head_(a.tables[machine.block().y]) {
    const BlockIndex block = machine.block();
    // The blocks with the most keys begin first.
    first_row_ = (machine.blocks().x - 1 - block.x) * kBlockRows;
    const int64_t left = a.query_rows - first_row_;
    rows_ = left < kBlockRows ? static_cast<int>(left) : kBlockRows;
    position_ = a.first_query + first_row_;
    key_head_ = block.y / (a.heads / a.key_value_heads);
    queries_ = machine.template Shared<T>(kBlockRows * kStride);
    keys_ = machine.template Shared<T>(kBlockKeys * kStride);
    values_ = machine.template Shared<T>(kBlockKeys * kStride);
    far_queries_ = a.near > 0 ? machine.template Shared<T>(kBlockRows * kStride) : nullptr;
  }

  MIDSCOPE_CUDA_BODY void Run() {
    typename Machine::template PerThread<Sums<kDim>> sums(machine_);
    typename Machine::template PerThread<Logits> logits(machine_);
    Clear(sums);
    const T* q = a_.q + first_row_ * a_.q_stride + machine_.block().y * kDim;
    LoadTile(q, a_.q_stride, rows_, head_.q, position_, queries_);
    if (a_.near > 0) LoadTile(q, a_.q_stride, rows_, head_.far_q, position_, far_queries_);
    const int64_t last_key = position_ + rows_;
    int64_t key = a_.window > 0 && position_ >= a_.window ? position_ - a_.window + 1 : 0;
    for (key -= key % kBlockKeys; key < last_key; key += kBlockKeys) {
      if (head_.edits.Hide(key, key + kBlockKeys)) continue;
      const int64_t left = last_key - key;
      const int keys = left < kBlockKeys ? static_cast<int>(left) : kBlockKeys;
      LoadTile(a_.v + key * a_.v_stride + key_head_ * kDim, a_.v_stride, keys, Table(), 0, values_);
      FillLogits(key, keys, logits);
      Weigh(key, logits, sums);
      AddValues(logits, sums);
      machine_.Barrier();  // the tiles are free
    }
    Store(sums);
  }

 private:
  static constexpr int kStride = kTileStride<kDim>;

  template <class PerThreadSums>
  MIDSCOPE_CUDA_BODY void Clear(PerThreadSums& sums) {
    machine_.Each([&](int thread) {
      Sums<kDim>& mine = sums[thread];
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim / 8; ++n) {
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) mine.of[n][i] = 0;
      }
      // Four threads have a row: one of them counts its sink.
      const bool counts = head_.sink > -INFINITY && thread % 4 == 0;
      MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
        mine.largest[half] = head_.sink * head_.inverse_temperature * kLog2E;
        mine.sum[half] = counts ? 1.0f : 0.0f;
      }
    });
  }

  // `rows` rows of one head, rotated, and zeros to the tile's end.
  MIDSCOPE_CUDA_BODY void LoadTile(const T* from, int64_t stride, int rows, const Table& table,
                                   int64_t table_row, T* tile) {
    const int chunks = ChunksOf(table, kDim);
    machine_.Each([&](int thread) {
      for (int item = thread; item < kBlockKeys * chunks; item += kAttentionThreads) {
        const int row = item / chunks;
        const int chunk = item % chunks;
        if (row < rows) {
          RotateChunk(table, table_row + row, chunk, from + row * stride, tile + At(row, kStride));
        } else {
          ClearChunk(table, chunk, tile + At(row, kStride));
        }
      }
    });
  }

  MIDSCOPE_CUDA_BODY void ClearChunk(const Table& table, int chunk, T* row) {
    const int pairs = table.cos ? table.pairs : 0;
    const int first = chunk * kChunk;
    *reinterpret_cast<Words*>(row + first + (first >= pairs ? pairs : 0)) = Words{};
    if (first < pairs) *reinterpret_cast<Words*>(row + first + pairs) = Words{};
  }

  // Logits of the tile's keys, near or far as each is from its row; leaves after a barrier.
  template <class PerThreadLogits>
  MIDSCOPE_CUDA_BODY void FillLogits(int64_t key, int keys, PerThreadLogits& logits) {
    const T* k = a_.k + key * a_.k_stride + key_head_ * kDim;
    const bool some_far = a_.near > 0 && position_ + rows_ - 1 - key >= a_.near;
    const bool some_near = a_.near == 0 || position_ - (key + keys - 1) < a_.near;
    if (some_near) {
      LoadTile(k, a_.k_stride, keys, head_.k, key, keys_);
      machine_.Barrier();
      Products(queries_, logits);
    }
    if (!some_far) return;
    machine_.Barrier();
    LoadTile(k, a_.k_stride, keys, head_.far_k, key, keys_);
    machine_.Barrier();
    if (!some_near) {
      Products(far_queries_, logits);
      return;
    }
    typename Machine::template PerThread<Logits> far(machine_);
    Products(far_queries_, far);
    machine_.Each([&](int thread) {
      ForEachLogit(thread, key, [&](int64_t row, int64_t at, int n, int i) {
        if (row - at >= a_.near) logits[thread].of[n][i] = far[thread].of[n][i];
      });
    });
  }

  // logits = queries keys^T, 16 rows a warp.
  template <class PerThreadLogits>
  MIDSCOPE_CUDA_BODY void Products(const T* queries, PerThreadLogits& logits) {
    typename Machine::template PerThread<LeftOperand> left(machine_);
    typename Machine::template PerThread<RightOperand> right(machine_);
    machine_.Each([&](int thread) {
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kBlockKeys / 8; ++n) {
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) logits[thread].of[n][i] = 0;
      }
    });
    MIDSCOPE_CUDA_UNROLL for (int step = 0; step < kDim; step += 16) {
      machine_.Each([&](int thread) {
        const int lane = thread % kWarp;
        const T* row = queries + At(thread / kWarp * 16 + lane / 4, kStride, step + lane % 4 * 2);
        MIDSCOPE_CUDA_UNROLL for (int part = 0; part < 4; ++part) {
          left[thread].of[part] = PairAt(row + At(part % 2 * 8, kStride, part / 2 * 8));
        }
      });
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kBlockKeys / 8; ++n) {
        machine_.Each([&](int thread) {
          const int lane = thread % kWarp;
          const T* row = keys_ + At(n * 8 + lane / 4, kStride, step + lane % 4 * 2);
          right[thread].of[0] = PairAt(row);
          right[thread].of[1] = PairAt(row + 8);
        });
        machine_.template Multiply<T>([&](int thread) { return logits[thread].of[n]; },
                                      [&](int thread) { return left[thread].of; },
                                      [&](int thread) { return right[thread].of; });
      }
    }
  }

  MIDSCOPE_CUDA_BODY static uint32_t PairAt(const T* at) {
    return *reinterpret_cast<const uint32_t*>(at);
  }

  // Calls work(absolute row, absolute key, tile's column of 8, element) for a thread's logits.
  template <class Work>
  MIDSCOPE_CUDA_BODY void ForEachLogit(int thread, int64_t key, const Work& work) {
    const int lane = thread % kWarp;
    const int64_t row = position_ + At(thread / kWarp, 16, lane / 4);
    const int64_t column = key + At(lane % 4, 2);
    MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kBlockKeys / 8; ++n) {
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
        work(row + At(i / 2, 8), column + At(n, 8, i % 2), n, i);
      }
    }
  }

  // Products become powers of two of logits, less the row's largest so far; what was summed by a
  // smaller one is scaled down.
  template <class PerThreadLogits, class PerThreadSums>
  MIDSCOPE_CUDA_BODY void Weigh(int64_t key, PerThreadLogits& logits, PerThreadSums& sums) {
    const bool all_seen = key + kBlockKeys - 1 <= position_ &&
                          (a_.window == 0 || position_ + kBlockRows - 1 - key < a_.window);
    const float to_base_2 = head_.inverse_temperature * kLog2E;
    typename Machine::template PerThread<Pair> largest(machine_);
    machine_.Each([&](int thread) {
      ForEachLogit(thread, key, [&](int64_t row, int64_t at, int n, int i) {
        float x = LogitOf(logits[thread].of[n][i] * head_.scale, a_.softcap, head_.slope, at - row,
                          to_base_2);
        const bool hidden = at > row || (a_.window > 0 && at <= row - a_.window);
        x = !all_seen && hidden ? -INFINITY : x;
        logits[thread].of[n][i] = x;
      });
      head_.edits.EachWithin(key, key + kBlockKeys, [&](const KeyEdit& edit) {
        if (edit.logit == 0) return;
        ForEachLogit(thread, key, [&](int64_t, int64_t at, int n, int i) {
          if (at >= edit.begin && at < edit.end) logits[thread].of[n][i] += edit.logit * kLog2E;
        });
      });
      float* most = largest[thread].of;
      most[0] = most[1] = -INFINITY;
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kBlockKeys / 8; ++n) {
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
        // A row that has seen no key yet: any finite base gives it weights of 0.
        base[half] = most == -INFINITY ? 0.0f : most;
        const float factor = PowerOfTwo(mine.largest[half] - base[half]);
        mine.largest[half] = most;
        mine.sum[half] *= factor;
        MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim / 8; ++n) {
          mine.of[n][2 * half] *= factor;
          mine.of[n][2 * half + 1] *= factor;
        }
      }
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kBlockKeys / 8; ++n) {
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
          float& x = logits[thread].of[n][i];
          x = PowerOfTwo(x - base[i / 2]);
          mine.sum[i / 2] += x;
        }
      }
      head_.edits.EachWithin(key, key + kBlockKeys, [&](const KeyEdit& edit) {
        if (edit.weight == 1) return;
        ForEachLogit(thread, key, [&](int64_t, int64_t at, int n, int i) {
          if (at >= edit.begin && at < edit.end) logits[thread].of[n][i] *= edit.weight;
        });
      });
    });
  }

  // sums += weights values. A thread's logits of 16 keys are its left operand.
  template <class PerThreadLogits, class PerThreadSums>
  MIDSCOPE_CUDA_BODY void AddValues(PerThreadLogits& logits, PerThreadSums& sums) {
    typename Machine::template PerThread<LeftOperand> left(machine_);
    typename Machine::template PerThread<RightOperand> right(machine_);
    MIDSCOPE_CUDA_UNROLL for (int step = 0; step < kBlockKeys; step += 16) {
      machine_.Each([&](int thread) {
        MIDSCOPE_CUDA_UNROLL for (int part = 0; part < 4; ++part) {
          const float* pair = logits[thread].of[step / 8 + part / 2] + At(part % 2, 2);
          left[thread].of[part] = PackPair<T>(pair[0], pair[1]);
        }
      });
      MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim / 8; ++n) {
        machine_.LoadTransposed([&](int thread) { return right[thread].of; },
                                values_ + At(step, kStride, n * 8), kStride);
        machine_.template Multiply<T>([&](int thread) { return sums[thread].of[n]; },
                                      [&](int thread) { return left[thread].of; },
                                      [&](int thread) { return right[thread].of; });
      }
    }
  }

  template <class PerThreadSums>
  MIDSCOPE_CUDA_BODY void Store(PerThreadSums& sums) {
    MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
      machine_.template GroupSum<2>([&](int thread) -> float& { return sums[thread].sum[half]; });
    }
    T* out = a_.out + first_row_ * a_.out_stride + machine_.block().y * kDim;
    machine_.Each([&](int thread) {
      const int lane = thread % kWarp;
      MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
        const int row = thread / kWarp * 16 + lane / 4 + half * 8;
        if (row >= rows_) continue;
        const float inverse = 1.0f / sums[thread].sum[half];
        T* to = out + row * a_.out_stride + At(lane % 4, 2);
        MIDSCOPE_CUDA_UNROLL for (int n = 0; n < kDim / 8; ++n) {
          const float* pair = sums[thread].of[n] + At(half, 2);
          *reinterpret_cast<uint32_t*>(to + At(n, 8)) =
              PackPair<T>(pair[0] * inverse, pair[1] * inverse);
        }
      }
    });
  }

  Machine& machine_;
  const AttentionArguments<T>& a_;
  const AttentionHead head_;
  int64_t first_row_ = 0;  // of the call
  int rows_ = 0;
  int64_t position_ = 0;  // absolute row of the first
  int64_t key_head_ = 0;
  T* queries_ = nullptr;
  T* far_queries_ = nullptr;
  T* keys_ = nullptr;
  T* values_ = nullptr;
};

}  // namespace midscope::kernels::cuda
