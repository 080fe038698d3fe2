// SPDX-License-Identifier: MIT
// Attention of few query rows without output of weights, in float32 for any dtype of queries, keys
// and values. Separate thread blocks process parts of the keys, with exponentials relative to the
// largest logit of the part; the parts are then merged (as in flash decoding: Dao, Haziza, Massa,
// Sizov, 2023). Keys are updated and rotated while they are read, as in attention_rows.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Keys per part: fewer if there are few keys, so that blocks for many multiprocessors exist, which
// mostly wait for memory; more if there are many keys, because each part has a cost.
constexpr int kLeastKeysOfPart = 32;
constexpr int kMostKeysOfPart = 128;
constexpr int kPartsAimedAt = 32;
inline int KeysOfPart(int64_t keys) {
  int of_part = kLeastKeysOfPart;
  while (of_part < kMostKeysOfPart && keys > int64_t{of_part} * kPartsAimedAt) of_part *= 2;
  return of_part;
}
// Maximum number of keys for this kernel. For more, separate kernels for each step are faster
// (attention_rows.h and row_softmax.h): on an H100 with 32 heads of 128, this kernel takes 15
// microseconds and the separate ones 29 plus a softmax for 512 keys, 24 and 36 for 2,048, 72 and 49
// for 8,192.
constexpr int64_t kMostKeysTogether = 4096;

// Computes, for each part of the keys: shares [parts, query_rows, heads], the largest logit and the
// sum of the exponentials of logits minus it (including the sink in the first part); and sums
// [parts, query_rows, heads, head_dim], the sum of these exponentials times values and key factors.
// A query sees the keys up to its own row, `window` of them (0: all), except hidden ones.
struct PartShare {
  float largest;
  float sum;
};
template <class T>
struct RowAttentionArguments {
  RowLogitsArguments<T> rows;  // rows.logits is not written
  const T* v = nullptr;        // values of row 0
  int64_t v_stride = 0;
  int64_t window = 0;
  float softcap = 0;
  bool edited = false;                 // whether logits need more than q k: soft cap, edits, ...
  int keys_of_part = kMostKeysOfPart;  // KeysOfPart(rows.keys)
  float* sums = nullptr;
  PartShare* shares = nullptr;
};

template <class T>
inline int64_t PartsOf(const RowAttentionArguments<T>& a) {
  return (a.rows.keys + a.keys_of_part - 1) / a.keys_of_part;
}

template <class T>
inline Grid RowAttentionGrid(const RowAttentionArguments<T>& a) {
  Grid grid = RowLogitsGrid(a.rows);
  grid.x = PartsOf(a);
  grid.shared_bytes +=
      int64_t{kHeadsOfBlock} * (kMostKeysOfPart + int64_t{kRowThreads} * kChunk) * 4 +
      int64_t{2} * 64;
  return grid;
}

// Calls work(std::bool_constant<kChanged>(), std::bool_constant<kEdited>()) for the variant of
// RowAttentionBlock that the arguments need.
template <class T, class Work>
void WithVariantOf(const RowAttentionArguments<T>& a, const Work& work) {
  WithVariantOf(a.rows, [&](auto changed) {
    a.edited ? work(changed, std::true_type()) : work(changed, std::false_type());
  });
}

// kChanged: keys are updated (RowLogitsArguments::amount); kEdited: a.edited.
template <class T, bool kChanged, bool kEdited, class Machine>
class RowAttentionBlock {
 public:
  MIDSCOPE_CUDA_BODY RowAttentionBlock(Machine& machine, const RowAttentionArguments<T>& a)
      : machine_(machine),
        a_(a),
        first_head_(machine.block().y * kHeadsOfBlock),
        heads_(HeadsOfBlock(a.rows, first_head_)),
        columns_(KeyColumnsOf(a.rows, first_head_)),
        first_(machine.block().x * a.keys_of_part),
        keys_(static_cast<int>(a.rows.keys - first_ < a.keys_of_part ? a.rows.keys - first_
                                                                     : a.keys_of_part)),
        weights_(machine.template Shared<float>(kHeadsOfBlock * kMostKeysOfPart)),
        of_warps_(machine.template Shared<float>(kWarps)),
        sums_of_warps_(machine.template Shared<float>(kWarps)),
        sums_(machine.template Shared<Chunk>(kHeadsOfBlock * kRowThreads)) {}

  MIDSCOPE_CUDA_BODY void Run() {
    const int64_t row = a_.rows.first_query + machine_.block().z;
    // Prefetches keys and values while the kernel that computes the queries may still be running.
    machine_.Each([&](int thread) {
      Prefetch(thread, a_.rows.k, a_.rows.k_stride);
      Prefetch(thread, a_.v, a_.v_stride);
    });
    machine_.AwaitEarlierWork();
    RowLogitsBlock<T, kChanged, Machine> logits(machine_, a_.rows, a_.keys_of_part);
    logits.Run([&](int head, int64_t key, float logit) {
      const int64_t at = a_.rows.first_key + key;
      const bool seen = at <= row && (a_.window == 0 || at > row - a_.window);
      if constexpr (kEdited) {
        const AttentionHead& of = Head(head);
        const auto distance = static_cast<float>(at - row);
        logit = LogitOf(logit, a_.softcap, of.slope, distance, of.inverse_temperature) +
                of.edits.LogitOf(at);
      }
      weights_[At(head, kMostKeysOfPart, static_cast<int>(key - first_))] =
          seen ? logit : -INFINITY;
    });
    machine_.Barrier();
    Exponentiate();
    AddValues();
    machine_.Barrier();
    machine_.Each([&](int thread) { Write(thread); });
  }

 private:
  // Prefetches the part's rows of keys or values, which begin at `of`, for the block's heads.
  MIDSCOPE_CUDA_BODY void Prefetch(int thread, const T* of, int64_t stride) const {
    constexpr int kLine = static_cast<int>(128 / sizeof(T));
    const int width = columns_.of[kHeadsOfBlock - 1] - columns_.of[0] + a_.rows.head_dim;
    const int lines = (width + kLine - 1) / kLine;
    const T* first = of + (a_.rows.first_key + first_) * stride + columns_.of[0];
    for (int i = thread; i < keys_ * lines; i += kRowThreads) {
      machine_.Prefetch(first + i / lines * stride + i % lines * kLine);
    }
  }

  static constexpr int kWarps = kRowThreads / kWarp;
  static constexpr int kThreadsOfHead = kRowThreads / kHeadsOfBlock;
  static constexpr int kWarpsOfHead = kThreadsOfHead / kWarp;

  MIDSCOPE_CUDA_BODY const AttentionHead& Head(int head) const {
    return a_.rows.tables[first_head_ + head];
  }

  // Calls work(key of the part, weight) for the keys of one head that the thread processes;
  // `weight` is a logit at first, later a weight.
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachOfThread(int thread, const Work& work) const {
    const int head = thread / kThreadsOfHead;
    if (head >= heads_) return;
    for (int key = thread % kThreadsOfHead; key < keys_; key += kThreadsOfHead) {
      work(key, weights_[At(head, kMostKeysOfPart, key)]);
    }
  }

  // Replaces logits by exponentials, and writes `shares`.
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
      EachOfThread(thread, [&](int, float logit) { largest = fmaxf(largest, logit); });
      numbers[thread].value = largest;
    });
    machine_.template GroupMax<5>(of_thread);
    keep_warps(of_warps_);
    machine_.Each([&](int thread) {
      const float largest = Largest(thread);
      float sum = 0;
      EachOfThread(thread, [&](int key, float& logit) {
        logit = largest == -INFINITY ? 0.0f : PowerOfTwo((logit - largest) * kLog2E);
        sum += logit;
        if constexpr (kEdited) {
          const KeyEdits& edits = Head(thread / kThreadsOfHead).edits;
          logit *= edits.WeightOf(a_.rows.first_key + first_ + key);
        }
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
      const float largest = Largest(thread);
      if (HasSink() && largest > -INFINITY) sum += PowerOfTwo((Sink(head) - largest) * kLog2E);
      a_.shares[Of(head)] = {largest, sum};
    });
  }

  MIDSCOPE_CUDA_BODY bool HasSink() const { return kEdited && machine_.block().x == 0; }
  MIDSCOPE_CUDA_BODY float Sink(int head) const {
    return Head(head).sink * Head(head).inverse_temperature;
  }

  // Returns the largest logit, in the part, of the head that the thread processes.
  MIDSCOPE_CUDA_BODY float Largest(int thread) const {
    const int head = thread / kThreadsOfHead;
    float largest = HasSink() && head < heads_ ? Sink(head) : -INFINITY;
    for (int warp = 0; warp < kWarpsOfHead; ++warp) {
      largest = fmaxf(largest, of_warps_[At(head, kWarpsOfHead, warp)]);
    }
    return largest;
  }

  MIDSCOPE_CUDA_BODY int Chunks() const { return a_.rows.head_dim / kChunk; }
  // Returns the number of thread groups; a group processes the values of a key, one chunk per
  // thread.
  MIDSCOPE_CUDA_BODY int Groups() const { return kRowThreads / Chunks(); }

  MIDSCOPE_CUDA_BODY void AddValues() {
    const bool one_key = AreOne(columns_);
    machine_.Each([&](int thread) {
      Chunk sums[kHeadsOfBlock] = {};
      if (thread / Chunks() < Groups()) {
        one_key ? AddValues<1>(thread, sums) : AddValues<kHeadsOfBlock>(thread, sums);
      }
      MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
        sums_[At(head, kRowThreads, thread)] = sums[head];
      }
    });
  }

  // Adds the thread's part of the weighted values to `sums`. kKeys: 1 if the block's heads share a
  // key.
  template <int kKeys>
  MIDSCOPE_CUDA_BODY void AddValues(int thread, Chunk* sums) const {
    const T* columns[kKeys];
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kKeys; ++i) {
      columns[i] = a_.v + (a_.rows.first_key + first_) * a_.v_stride + columns_.of[i] +
                   thread % Chunks() * kChunk;
    }
    MIDSCOPE_CUDA_UNROLL_BY(2)
    for (int key = thread / Chunks(); key < keys_; key += Groups()) {
      Chunk values[kKeys];
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kKeys; ++i) {
        Load(columns[i] + key * a_.v_stride, values[i].of);
      }
      MIDSCOPE_CUDA_UNROLL for (int head = 0; head < kHeadsOfBlock; ++head) {
        const float weight = head < heads_ ? weights_[At(head, kMostKeysOfPart, key)] : 0.0f;
        if (weight == 0) continue;  // values of a hidden key may be undefined
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
          sums[head].of[i] += weight * values[kKeys == 1 ? 0 : head].of[i];
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

  // Returns the index of a head of the block in `shares`.
  MIDSCOPE_CUDA_BODY int64_t Of(int head) const {
    const BlockIndex block = machine_.block();
    return (block.x * a_.rows.query_rows + block.z) * a_.rows.heads + first_head_ + head;
  }

  Machine& machine_;
  const RowAttentionArguments<T>& a_;
  int64_t first_head_;
  int heads_;
  KeyColumns columns_;
  int64_t first_;  // first key of the part, counted from first_key
  int keys_;
  float* weights_;  // [head of the block, key of the part]; logits at first
  float* of_warps_;
  float* sums_of_warps_;
  Chunk* sums_;  // [head of the block, thread]
};

// Merges the parts: computes out [query_rows, heads, head_dim], with row stride out_stride in
// elements, from the sums and shares of RowAttentionArguments.
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

constexpr int kMergeThreads = 128;

template <class T>
inline Grid MergeRowPartsGrid(const MergeRowPartsArguments<T>& a) {
  return {a.heads, a.rows, 1, kMergeThreads, int64_t{kMergeThreads} * (kChunk + 1) * 4};
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void MergeRowPartsBlock(Machine& machine, const MergeRowPartsArguments<T>& a) {
  const BlockIndex block = machine.block();
  const int64_t of = block.y * a.heads + block.x;
  const int64_t of_part = a.rows * a.heads;
  const int chunks = a.head_dim / kChunk;
  const int groups = kMergeThreads / chunks;  // a group has one thread per chunk
  auto* z_of_threads = machine.template Shared<Chunk>(kMergeThreads);
  auto* sum_of_threads = machine.template Shared<float>(kMergeThreads);
  typename Machine::template PerThread<Number> largest(machine);
  machine.Each([&](int thread) {
    float found = -INFINITY;
    for (int64_t part = thread % kWarp; part < a.parts; part += kWarp) {
      found = fmaxf(found, a.shares[part * of_part + of].largest);
    }
    largest[thread].value = found;
  });
  machine.template GroupMax<5>([&](int thread) -> float& { return largest[thread].value; });
  machine.Each([&](int thread) {
    Chunk z = {};
    float sum = 0;
    const int64_t first = thread / chunks < groups ? thread / chunks : a.parts;
    MIDSCOPE_CUDA_UNROLL_BY(2)
    for (int64_t part = first; part < a.parts; part += groups) {
      const PartShare share = a.shares[part * of_part + of];
      const float factor = PowerOfTwo((share.largest - largest[thread].value) * kLog2E);
      float values[kChunk];
      Load(a.sums + (part * of_part + of) * a.head_dim + thread % chunks * kChunk, values);
      sum += factor * share.sum;
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) z.of[i] += factor * values[i];
    }
    z_of_threads[thread] = z;
    sum_of_threads[thread] = sum;
  });
  machine.Barrier();
  machine.Each([&](int thread) {
    if (thread >= chunks) return;
    Chunk z = z_of_threads[thread];
    float sum = sum_of_threads[thread];
    for (int group = 1; group < groups; ++group) {
      const int other = At(group, chunks, thread);
      sum += sum_of_threads[other];
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) z.of[i] += z_of_threads[other].of[i];
    }
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) z.of[i] /= sum;
    Keep(z.of, a.out + block.y * a.out_stride + block.x * a.head_dim + thread * kChunk);
  });
}

}  // namespace midscope::kernels::cuda
