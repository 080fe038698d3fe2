// SPDX-License-Identifier: MIT
// Kernels that compute attention weights from the logits of few query rows, with all edits, and
// count the weights that reach a threshold (kernels/position_awareness.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/attention_head.h"
#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/position_awareness.h"

namespace midscope::kernels::cuda {

// Computes weights [query_rows, heads, key_rows] from logits [heads, query_rows, keys], the
// products of scaled queries and keys from first_key on (RowLogits). Keys after the query's row,
// keys `window` or more rows before it (0: no window) and hidden keys have weight 0; no query may
// see a key before first_key. Every query sees itself.
struct RowSoftmaxArguments {
  const float* logits = nullptr;
  float* weights = nullptr;
  int64_t query_rows = 0;
  int64_t first_query = 0;
  int64_t first_key = 0;
  int64_t keys = 0;
  int64_t key_rows = 0;
  int64_t heads = 0;
  int64_t window = 0;
  float softcap = 0;
  const AttentionHead* tables = nullptr;  // [heads]
};

// A block processes one row of a head; with many keys, each of its threads has a few dozen.
constexpr int kSoftmaxThreads = 512;

inline Grid RowSoftmaxGrid(const RowSoftmaxArguments& a) {
  return {a.heads, a.query_rows, 1, kSoftmaxThreads, int64_t{kSoftmaxThreads} / kWarp * 4};
}

template <class Machine>
class RowSoftmaxBlock {
 public:
  MIDSCOPE_CUDA_BODY RowSoftmaxBlock(Machine& machine, const RowSoftmaxArguments& a)
      : machine_(machine),
        a_(a),
        head_(a.tables[machine.block().x]),
        row_(a.first_query + machine.block().y),
        logits_(a.logits + (machine.block().x * a.query_rows + machine.block().y) * a.keys),
        weights_(a.weights + (machine.block().y * a.heads + machine.block().x) * a.key_rows),
        shared_(machine.template Shared<float>(kSoftmaxThreads / kWarp)) {}

  MIDSCOPE_CUDA_BODY void Run() {
    const float sink = head_.sink * head_.inverse_temperature;
    typename Machine::template PerThread<Number> largest(machine_);
    typename Machine::template PerThread<Number> sum(machine_);
    machine_.Each([&](int thread) {
      float most = sink;
      EachSeen(thread, [&](int64_t key, float logit) { most = fmaxf(most, Edited(key, logit)); });
      largest[thread].value = most;
    });
    BlockMax(machine_, largest, shared_);
    machine_.Each([&](int thread) {
      const float base = largest[thread].value;
      float of_thread = thread == 0 ? PowerOfTwo((sink - base) * kLog2E) : 0.0f;
      EachSeen(thread, [&](int64_t key, float logit) {
        of_thread += PowerOfTwo((Edited(key, logit) - base) * kLog2E);
      });
      sum[thread].value = of_thread;
    });
    BlockSum(machine_, sum, shared_);
    machine_.Each([&](int thread) {
      for (int64_t key = thread; key < a_.key_rows; key += kSoftmaxThreads) weights_[key] = 0;
      const float inverse = 1.0f / sum[thread].value;
      EachSeen(thread, [&](int64_t key, float logit) {
        const float power = PowerOfTwo((Edited(key, logit) - largest[thread].value) * kLog2E);
        weights_[key] = power * inverse * head_.edits.WeightOf(key);
      });
    });
  }

 private:
  // Calls work(key, product) for each visible key that the thread processes: keys thread, thread +
  // kSoftmaxThreads, thread + 2 * kSoftmaxThreads, ...
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachSeen(int thread, const Work& work) const {
    const int64_t first =
        a_.window > 0 && row_ - a_.window + 1 > a_.first_key ? row_ - a_.window + 1 : a_.first_key;
    const int64_t skipped = (first - thread + kSoftmaxThreads - 1) / kSoftmaxThreads;
    const int64_t begin = first > thread ? thread + skipped * kSoftmaxThreads : thread;
    for (int64_t key = begin; key <= row_; key += kSoftmaxThreads) {
      work(key, logits_[key - a_.first_key]);
    }
  }
  MIDSCOPE_CUDA_BODY float Edited(int64_t key, float product) const {
    const auto distance = static_cast<float>(key - row_);
    return LogitOf(product, a_.softcap, head_.slope, distance, head_.inverse_temperature) +
           head_.edits.LogitOf(key);
  }

  Machine& machine_;
  const RowSoftmaxArguments& a_;
  const AttentionHead head_;
  int64_t row_;
  const float* logits_;  // element 0 is the logit of key first_key
  float* weights_;       // element 0 is the weight of key 0
  float* shared_;
};

// Computes counts[head]: number of weights [heads, keys] of a head that reach the threshold.
struct CountKeysArguments {
  const float* weights = nullptr;
  int32_t* counts = nullptr;
  int64_t heads = 0;
  int64_t keys = 0;
  float threshold = 0;
  ThresholdRule rule = ThresholdRule::kAtLeast;
};

inline Grid CountKeysGrid(const CountKeysArguments& a) {
  return {a.heads, 1, 1, kSoftmaxThreads, int64_t{kSoftmaxThreads} / kWarp * 4};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void CountKeysBlock(Machine& machine, const CountKeysArguments& a) {
  const float* weights = a.weights + machine.block().x * a.keys;
  auto* shared = machine.template Shared<float>(kSoftmaxThreads / kWarp);
  typename Machine::template PerThread<Number> counted(machine);
  const bool equal_counts = a.rule == ThresholdRule::kAtLeast;
  machine.Each([&](int thread) {
    int count = 0;
    for (int64_t key = thread; key < a.keys; key += kSoftmaxThreads) {
      const float weight = weights[key];
      count += weight > a.threshold || (equal_counts && weight == a.threshold) ? 1 : 0;
    }
    counted[thread].value = static_cast<float>(count);
  });
  BlockSum(machine, counted, shared);  // exact below 2^24
  machine.Each([&](int thread) {
    if (thread == 0) a.counts[machine.block().x] = static_cast<int32_t>(counted[0].value);
  });
}

}  // namespace midscope::kernels::cuda
