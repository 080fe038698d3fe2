// SPDX-License-Identifier: MIT
// Attention of a few query rows whose weights nobody asks for, in float32 whatever the dtype of
// queries, keys and values: parts of the keys, each with exponentials to its own largest logit, by
// blocks of their own, which are then made one (as in flash decoding: Dao, Haziza, Massa, Sizov,
// 2023). Keys are changed and rotated while they are read, as in attention_rows.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// A part is kKeysOfPart keys from rows.first_key on.
constexpr int kKeysOfPart = 128;

// A query sees the keys up to its own row, `window` of them (0: all). sums [parts, query_rows,
// heads, head_dim]: exponentials of logits, less the part's largest one, times values. shares
// [parts, query_rows, heads]: that logit and the sum of the exponentials.
struct PartShare {
  float largest;
  float sum;
};
template <class T>
struct RowAttentionArguments {
  RowLogitsArguments<T> rows;  // whose logits are not written
  const T* v = nullptr;        // of row 0
  int64_t v_stride = 0;
  int64_t window = 0;
  float* sums = nullptr;
  PartShare* shares = nullptr;
};

template <class T>
inline int64_t PartsOf(const RowAttentionArguments<T>& a) {
  return (a.rows.keys + kKeysOfPart - 1) / kKeysOfPart;
}

template <class T>
inline Grid RowAttentionGrid(const RowAttentionArguments<T>& a) {
  Grid grid = RowLogitsGrid(a.rows);
  grid.x = PartsOf(a);
  grid.shared_bytes +=
      int64_t{kHeadsOfBlock} * (kKeysOfPart * 4 + kRowThreads * kChunk * 4) + 2 * 64;
  return grid;
}

template <class T, bool kChanged, class Machine>
class RowAttentionBlock {
 public:
  MIDSCOPE_CUDA_BODY RowAttentionBlock(Machine& machine, const RowAttentionArguments<T>& a)
      : machine_(machine),
        a_(a),
        first_head_(machine.block().y * kHeadsOfBlock),
        heads_(static_cast<int>(a.rows.heads - first_head_ < kHeadsOfBlock
                                    ? a.rows.heads - first_head_
                                    : kHeadsOfBlock)),
        first_(machine.block().x * kKeysOfPart),
        keys_(static_cast<int>(a.rows.keys - first_ < kKeysOfPart ? a.rows.keys - first_
                                                                  : kKeysOfPart)),
        weights_(machine.template Shared<float>(kHeadsOfBlock * kKeysOfPart)),
        of_warps_(machine.template Shared<float>(kWarps)),
        sums_of_warps_(machine.template Shared<float>(kWarps)),
        sums_(machine.template Shared<Chunk>(kHeadsOfBlock * kRowThreads)) {}

  MIDSCOPE_CUDA_BODY void Run() {
    const int64_t row = a_.rows.first_query + machine_.block().z;
    RowLogitsBlock<T, kChanged, Machine, kKeysOfPart> logits(machine_, a_.rows);
    logits.Run([&](int head, int64_t key, float logit) {
      const int64_t at = a_.rows.first_key + key;
      const bool seen = at <= row && (a_.window == 0 || at > row - a_.window);
      weights_[At(head, kKeysOfPart, static_cast<int>(key - first_))] = seen ? logit : -INFINITY;
    });
    machine_.Barrier();
    Exponentiate();
    AddValues();
    machine_.Barrier();
    machine_.Each([&](int thread) { Write(thread); });
  }

 private:
  static constexpr int kWarps = kRowThreads / kWarp;
  static constexpr int kThreadsOfHead = kRowThreads / kHeadsOfBlock;
  static constexpr int kWarpsOfHead = kThreadsOfHead / kWarp;

  // Calls work(weight) for the logits or weights of a thread's head that are the thread's.
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachOfThread(int thread, const Work& work) const {
    const int head = thread / kThreadsOfHead;
    if (head >= heads_) return;
    for (int key = thread % kThreadsOfHead; key < keys_; key += kThreadsOfHead) {
      work(weights_[At(head, kKeysOfPart, key)]);
    }
  }

  // Logits become exponentials; writes the shares.
  MIDSCOPE_CUDA_BODY void Exponentiate() {
    typename Machine::template PerThread<Number> numbers(machine_);
    const auto of_thread = [&](int thread) -> float& { return numbers[thread].value; };
    const auto keep_warps = [&](float* of_warps) {
      machine_.Each([&](int thread) {
        if (thread % kWarp == 0) of_warps[thread / kWarp] = numbers[thread].value;
      });
      machine_.Barrier();
    };
    machine_.Each([&](int thread) {
      float largest = -INFINITY;
      EachOfThread(thread, [&](const float& logit) { largest = fmaxf(largest, logit); });
      numbers[thread].value = largest;
    });
    machine_.template GroupMax<5>(of_thread);
    keep_warps(of_warps_);
    machine_.Each([&](int thread) {
      const float largest = Largest(thread);
      float sum = 0;
      EachOfThread(thread, [&](float& logit) {
        logit = largest == -INFINITY ? 0.0f : PowerOfTwo((logit - largest) * kLog2E);
        sum += logit;
      });
      numbers[thread].value = sum;
    });
    machine_.template GroupSum<5>(of_thread);
    keep_warps(sums_of_warps_);
    machine_.Each([&](int thread) {
      const int head = thread / kThreadsOfHead;
      if (thread % kThreadsOfHead != 0 || head >= heads_) return;
      float sum = 0;
      for (int warp = 0; warp < kWarpsOfHead; ++warp) {
        sum += sums_of_warps_[At(head, kWarpsOfHead, warp)];
      }
      a_.shares[Of(head)] = {Largest(thread), sum};
    });
  }

  // The largest logit of a thread's head.
  MIDSCOPE_CUDA_BODY float Largest(int thread) const {
    const int head = thread / kThreadsOfHead;
    float largest = -INFINITY;
    for (int warp = 0; warp < kWarpsOfHead; ++warp) {
      largest = fmaxf(largest, of_warps_[At(head, kWarpsOfHead, warp)]);
    }
    return largest;
  }

  MIDSCOPE_CUDA_BODY int Chunks() const { return a_.rows.head_dim / kChunk; }
  // Threads of a group have a chunk each of the values of a key.
  MIDSCOPE_CUDA_BODY int Groups() const { return kRowThreads / Chunks(); }

  MIDSCOPE_CUDA_BODY void AddValues() {
    machine_.Each([&](int thread) {
      Chunk sums[kHeadsOfBlock] = {};
      if (thread / Chunks() < Groups()) AddValues(thread, sums);
      MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
        sums_[At(head, kRowThreads, thread)] = sums[head];
      }
    });
  }

  MIDSCOPE_CUDA_BODY void AddValues(int thread, Chunk* sums) const {
    const int64_t group = a_.rows.heads / a_.rows.key_value_heads;
    const int column = thread % Chunks() * kChunk;
    for (int key = thread / Chunks(); key < keys_; key += Groups()) {
      const T* v = a_.v + (a_.rows.first_key + first_ + key) * a_.v_stride + column;
      Chunk values;
      MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
        if (head >= heads_) break;
        const int64_t of = (first_head_ + head) / group;
        // Heads of a group share what was read.
        if (head == 0 || of != (first_head_ + head - 1) / group) {
          Load(v + of * a_.rows.head_dim, values.of);
        }
        const float weight = weights_[At(head, kKeysOfPart, key)];
        if (weight == 0) continue;  // a hidden key may hold anything
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
          sums[head].of[i] += weight * values.of[i];
        }
      }
    }
  }

  MIDSCOPE_CUDA_BODY void Write(int thread) const {
    if (thread >= heads_ * Chunks()) return;
    const int head = thread / Chunks();
    const int chunk = thread % Chunks();
    const Chunk* of_groups = sums_ + At(head, kRowThreads, chunk);
    Chunk sum = of_groups[0];
    for (int group = 1; group < Groups(); ++group) {
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
        sum.of[i] += of_groups[At(group, Chunks())].of[i];
      }
    }
    Keep(sum.of, a_.sums + Of(head) * a_.rows.head_dim + At(chunk, kChunk));
  }

  // The index of a head in shares.
  MIDSCOPE_CUDA_BODY int64_t Of(int head) const {
    const BlockIndex block = machine_.block();
    return (block.x * a_.rows.query_rows + block.z) * a_.rows.heads + first_head_ + head;
  }

  Machine& machine_;
  const RowAttentionArguments<T>& a_;
  int64_t first_head_;
  int heads_;
  int64_t first_;  // key of the part, from first_key on
  int keys_;
  float* weights_;  // [head of the block, key of the part]: logits first
  float* of_warps_;
  float* sums_of_warps_;
  Chunk* sums_;  // [head of the block, thread]
};

// out [query_rows, heads, head_dim], rows out_stride elements apart: the parts' sums, each times
// its share.
template <class T>
struct MergeRowPartsArguments {
  const float* sums = nullptr;
  const PartShare* shares = nullptr;
  T* out = nullptr;
  int64_t out_stride = 0;
  int64_t parts = 0;
  int64_t rows = 0;
  int64_t heads = 0;
  int head_dim = 0;
};

template <class T>
inline Grid MergeRowPartsGrid(const MergeRowPartsArguments<T>& a) {
  Grid grid = RowChunkGrid(a.rows, a.heads * a.head_dim);
  // Few threads a block: there are few chunks, and a thread reads all parts of one.
  constexpr int kThreads = 2 * kWarp;
  grid.y = grid.y * (kRowThreads / kThreads);
  grid.threads = kThreads;
  return grid;
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void MergeRowPartsBlock(Machine& machine, const MergeRowPartsArguments<T>& a) {
  const BlockIndex block = machine.block();
  machine.Each([&](int thread) {
    const int64_t i = (block.y * machine.threads() + thread) * kChunk;
    if (i >= a.heads * a.head_dim) return;
    const int64_t of = block.x * a.heads + i / a.head_dim;
    const int64_t of_part = a.rows * a.heads;
    float largest = -INFINITY;
    for (int64_t part = 0; part < a.parts; ++part) {
      largest = fmaxf(largest, a.shares[part * of_part + of].largest);
    }
    float sum = 0;
    float z[kChunk] = {};
    MIDSCOPE_CUDA_UNROLL_BY(4)
    for (int64_t part = 0; part < a.parts; ++part) {
      const PartShare share = a.shares[part * of_part + of];
      const float factor = PowerOfTwo((share.largest - largest) * kLog2E);
      float values[kChunk];
      Load(a.sums + (part * of_part + of) * a.head_dim + i % a.head_dim, values);
      sum += factor * share.sum;
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) z[j] += factor * values[j];
    }
    MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) z[j] /= sum;
    Keep(z, a.out + block.x * a.out_stride + i);
  });
}

}  // namespace midscope::kernels::cuda
