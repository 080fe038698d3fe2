// SPDX-License-Identifier: MIT
// Attention of a few query rows, in float32 whatever the dtype of queries, keys and values: logits
// (softmax and edits follow elsewhere) and what weights make of the values. Every key and value is
// read once a head; keys are rotated while they are read.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// logits [heads, query_rows, keys] = scale q k^T, with far tables for keys at least `near` rows
// before the query. Keys are rows [first_key, first_key + keys) of k; what a query must not see has
// a logit too. Layouts as in AttentionArguments; head_dim a multiple of 8 up to 256.
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
};

constexpr int kRowHeadDim = 256;
constexpr int kKeysOfBlock = 256;
// So many threads share a key.
constexpr int kKeyThreadBits = 3;
constexpr int kKeyThreads = 1 << kKeyThreadBits;

template <class T>
inline Grid RowLogitsGrid(const RowLogitsArguments<T>& a) {
  return {(a.keys + kKeysOfBlock - 1) / kKeysOfBlock, a.heads, a.query_rows, kRowThreads,
          int64_t{2} * kRowHeadDim * 4};
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void RowLogitsBlock(Machine& machine, const RowLogitsArguments<T>& a) {
  const BlockIndex block = machine.block();
  const AttentionHead head = a.tables[block.y];
  const int64_t row = a.first_query + block.z;
  auto* query = machine.template Shared<float>(kRowHeadDim);
  auto* far_query = machine.template Shared<float>(kRowHeadDim);
  const T* q = a.q + block.z * a.q_stride + block.y * a.head_dim;
  const auto rotate = [&](int thread, const Table& table, float* out) {
    if (thread >= ChunksOf(table, a.head_dim)) return;
    WithRotatedChunk(table, row, thread, q, [&](int first, const float* values) {
      for (int i = 0; i < kChunk; ++i) out[first + i] = values[i] * head.scale;
    });
  };
  machine.Each([&](int thread) {
    rotate(thread, head.q, query);
    if (a.near > 0) rotate(thread, head.far_q, far_query);
  });
  machine.Barrier();
  const T* k = a.k + block.y / (a.heads / a.key_value_heads) * a.head_dim;
  typename Machine::template PerThread<Number> products(machine);
  for (int at = 0; at < kKeysOfBlock; at += kRowThreads / kKeyThreads) {
    const int64_t first = block.x * kKeysOfBlock + at;
    machine.Each([&](int thread) {
      products[thread].value = 0;
      const int64_t key = a.first_key + first + thread / kKeyThreads;
      if (key >= a.first_key + a.keys) return;
      const bool far = a.near > 0 && row - key >= a.near;
      const Table table = far ? head.far_k : head.k;
      const float* with = far ? far_query : query;
      float sum = 0;
      for (int chunk = thread % kKeyThreads; chunk < ChunksOf(table, a.head_dim);
           chunk += kKeyThreads) {
        WithRotatedChunk(table, key, chunk, k + key * a.k_stride,
                         [&](int from, const float* values) {
                           MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
                             sum += with[from + i] * values[i];
                           }
                         });
      }
      products[thread].value = sum;
    });
    machine.template GroupSum<kKeyThreadBits>(
        [&](int thread) -> float& { return products[thread].value; });
    machine.Each([&](int thread) {
      const int64_t key = first + thread / kKeyThreads;
      if (thread % kKeyThreads != 0 || key >= a.keys) return;
      a.logits[(block.y * a.query_rows + block.z) * a.keys + key] = products[thread].value;
    });
  }
}

// sums [parts, query_rows, heads, head_dim]: of each part of kKeysOfBlock keys, weights times
// values. weights: key j of row r and head h at r * row_stride + h * head_stride + j.
template <class T>
struct RowValuesArguments {
  const float* weights = nullptr;
  const T* v = nullptr;  // of the first key
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
  const int groups = kRowThreads / chunks;  // threads of a group have a chunk each
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
      if (weight == 0) continue;  // a hidden key may hold anything
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
