// SPDX-License-Identifier: MIT
#include "kernels/delta_rule.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/delta_rule.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Computes memory [value_dim] = sum over i of k[i] * state[i], where state is [key_dim][value_dim].
HWY_INLINE void Recall(const float* state, const float* k, int64_t key_dim, int64_t value_dim,
                       float* memory) {
  std::fill_n(memory, value_dim, 0.0f);
  for (int64_t i = 0; i < key_dim; ++i, state += value_dim) {
    ForEachVector(value_dim, [&](auto d, int64_t at) HWY_ATTR {
      const auto sum = hn::LoadU(d, memory + at);
      hn::StoreU(hn::MulAdd(hn::Set(d, k[i]), hn::LoadU(d, state + at), sum), d, memory + at);
    });
  }
}

// Computes state[i] = decay * state[i] + k[i] * change, and out = sum over i of q[i] * state[i].
HWY_INLINE void Update(const float* q, const float* k, float decay, const float* change,
                       int64_t key_dim, int64_t value_dim, float* state, float* out) {
  std::fill_n(out, value_dim, 0.0f);
  for (int64_t i = 0; i < key_dim; ++i, state += value_dim) {
    ForEachVector(value_dim, [&](auto d, int64_t at) HWY_ATTR {
      const auto kept = hn::Mul(hn::Set(d, decay), hn::LoadU(d, state + at));
      const auto next = hn::MulAdd(hn::Set(d, k[i]), hn::LoadU(d, change + at), kept);
      hn::StoreU(next, d, state + at);
      hn::StoreU(hn::MulAdd(hn::Set(d, q[i]), next, hn::LoadU(d, out + at)), d, out + at);
    });
  }
}

// Applies the gated delta rule for one row of one value head. change [value_dim]: working memory.
void DeltaRow(const float* q, const float* k, const float* v, float decay, float rate,
              int64_t key_dim, int64_t value_dim, float* change, float* state, float* out) {
  Recall(state, k, key_dim, value_dim, change);
  ForEachVector(value_dim, [&](auto d, int64_t at) HWY_ATTR {
    const auto recalled = hn::Mul(hn::Set(d, decay), hn::LoadU(d, change + at));
    hn::StoreU(hn::Mul(hn::Set(d, rate), hn::Sub(hn::LoadU(d, v + at), recalled)), d, change + at);
  });
  Update(q, k, decay, change, key_dim, value_dim, state, out);
}

// Returns the weight of a row's value in the output for `query`, and updates `query` for the row
// before. Called from the last row to the first.
float WeightOfRow(const float* k, float decay, const float* rate, int64_t key_dim, float* query) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= key_dim; i += lanes)
    sums = hn::MulAdd(hn::LoadU(d, k + i), hn::LoadU(d, query + i), sums);
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < key_dim; ++i) sum += k[i] * query[i];
  const float weight = rate ? *rate * sum : sum;
  const float removed = rate ? weight : 0;
  ForEachVector(key_dim, [&](auto part, int64_t at) HWY_ATTR {
    const auto kept =
        hn::NegMulAdd(hn::Set(part, removed), hn::LoadU(part, k + at), hn::LoadU(part, query + at));
    hn::StoreU(hn::Mul(hn::Set(part, decay), kept), part, query + at);
  });
  return weight;
}

// Updates the state space of one head by one row and computes the row's output.
void StateSpaceRow(const float* q, const float* k, const float* v, float decay, int64_t key_dim,
                   int64_t value_dim, float* state, float* out) {
  Update(q, k, decay, v, key_dim, value_dim, state, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(DeltaRow);
HWY_EXPORT(WeightOfRow);
HWY_EXPORT(StateSpaceRow);

namespace {

int64_t KeyHeadOf(const DeltaShape& shape, int64_t head) {
  return shape.tiled ? head % shape.key_heads : head / (shape.value_heads / shape.key_heads);
}

void CheckShape(const DeltaShape& shape, int64_t rows) {
  MIDSCOPE_KERNEL_CHECK_GE(rows, 0);
  MIDSCOPE_KERNEL_CHECK_GE(shape.key_heads, 1);
  MIDSCOPE_KERNEL_CHECK_EQ(shape.value_heads % shape.key_heads, 0);
}

}  // namespace

void GatedDeltaRule(const DeltaShape& shape, const float* q, const float* k, const float* v,
                    const float* decay, const float* rate, int64_t rows, float* state, float* out,
                    const Executor& executor, CancelFlag cancel) {
  CheckShape(shape, rows);
  const int64_t key_width = shape.key_heads * shape.key_dim;
  const int64_t value_width = shape.value_heads * shape.value_dim;
  executor.ForOnDemand(shape.value_heads, 1, [&](int64_t begin, int64_t end) {
    BorrowedScratch<DeltaShape> scratch;
    auto* change = scratch.Get<float>(shape.value_dim);
    for (int64_t head = begin; head < end; ++head) {
      const int64_t key_head = KeyHeadOf(shape, head);
      float* of_head = state + head * shape.key_dim * shape.value_dim;
      for (int64_t row = 0; row < rows && !Cancelled(cancel); ++row) {
        const int64_t key = row * key_width + key_head * shape.key_dim;
        const int64_t value = row * value_width + head * shape.value_dim;
        const int64_t number = row * shape.value_heads + head;
        if (rate == nullptr) {
          HWY_DYNAMIC_DISPATCH(StateSpaceRow)
          (q + key, k + key, v + value, decay[number], shape.key_dim, shape.value_dim, of_head,
           out + value);
          continue;
        }
        HWY_DYNAMIC_DISPATCH(DeltaRow)
        (q + key, k + key, v + value, decay[number], rate[number], shape.key_dim, shape.value_dim,
         change, of_head, out + value);
      }
    }
  });
}

void DeltaRuleWeights(const DeltaShape& shape, const float* q, const float* k, const float* decay,
                      const float* rate, int64_t rows, float* weights, const Executor& executor,
                      CancelFlag cancel) {
  CheckShape(shape, rows);
  executor.ForOnDemand(shape.value_heads, 1, [&](int64_t begin, int64_t end) {
    BorrowedScratch<DeltaShape> scratch;
    auto* query = scratch.Get<float>(shape.key_dim);
    for (int64_t head = begin; head < end; ++head) {
      const int64_t at = KeyHeadOf(shape, head) * shape.key_dim;
      std::copy_n(q + at, shape.key_dim, query);
      for (int64_t row = rows - 1; row >= 0 && !Cancelled(cancel); --row) {
        const int64_t number = row * shape.value_heads + head;
        weights[head * rows + row] = HWY_DYNAMIC_DISPATCH(WeightOfRow)(
            k + row * shape.key_heads * shape.key_dim + at, decay[number],
            rate ? rate + number : nullptr, shape.key_dim, query);
      }
    }
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
