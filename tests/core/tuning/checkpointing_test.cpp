// SPDX-License-Identifier: MIT
// Checkpointed layers give the gradients of the plain pass bit for bit, and keep less memory. Sums
// of parts, and their gradients, are those of the whole sum, up to the order of additions.

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/tuning/checkpointing.h"
#include "core/tuning/differentiable_model.h"
#include "core/tuning/tuning_plans.h"
#include "tests/core/support/golden_runs.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

// Counts the bytes of LibTorch's tensors in host memory.
class CountingAllocator : public c10::Allocator {
 public:
  at::DataPtr allocate(size_t bytes) override {
    constexpr size_t kAlignment = 64;
    void* block = std::aligned_alloc(kAlignment, (bytes / kAlignment + 1) * kAlignment);
    live += static_cast<int64_t>(malloc_usable_size(block));
    return {block, block, &Free, at::Device(at::kCPU)};
  }
  at::DeleterFnPtr raw_deleter() const override { return &Free; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  static int64_t live;

 private:
  static void Free(void* block) {
    live -= static_cast<int64_t>(malloc_usable_size(block));
    std::free(block);
  }
};

int64_t CountingAllocator::live = 0;

void CountBytes() {
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/1);
}

struct Pass {
  int64_t kept_bytes;  // by the graph of the loss
  NamedTensors gradients;
};

Pass RunPass(const std::string& name, bool checkpoints) {
  const auto source = OpenModel(test::TinyModelPath(name));
  const DifferentiableModel model(*source, {.checkpoints = checkpoints});
  const std::vector<int32_t> ids = test::PromptIds(name);
  const auto plans = TuningPlans({}, {}, model.config(), std::ssize(ids));
  const int64_t before = CountingAllocator::live;
  const at::Tensor loss = model.NextTokenLoss(ids, plans);
  Pass pass{CountingAllocator::live - before, {}};
  loss.backward();
  for (const auto& [weight_name, weight] : model.weights()) {
    if (weight.grad().defined()) pass.gradients[weight_name] = weight.grad();
  }
  return pass;
}

TEST(Checkpointing, GradientsAreThoseOfThePlainPass) {
  CountBytes();
  for (const char* name :
       {"llama", "gemma2", "apertus", "mixtral", "gpt-oss", "deepseek-v3", "gemma4-shared"}) {
    const Pass plain = RunPass(name, false);
    const Pass checkpointed = RunPass(name, true);
    ASSERT_EQ(checkpointed.gradients.size(), plain.gradients.size()) << name;
    for (const auto& [weight, gradient] : plain.gradients)
      EXPECT_TRUE(at::equal(checkpointed.gradients.at(weight), gradient)) << name << " " << weight;
  }
}

// smollm3 has four layers; the final norm, the logits and the loss keep as much in both.
TEST(Checkpointing, KeepsLessMemory) {
  CountBytes();
  const int64_t plain = RunPass("smollm3", false).kept_bytes;
  const int64_t checkpointed = RunPass("smollm3", true).kept_bytes;
  EXPECT_LT(checkpointed, plain / 3) << plain;
}

// A parameter that the function does not use has no gradient, and one without requires_grad none.
TEST(Checkpointing, LeavesUnusedParametersAlone) {
  const at::Tensor x = at::ones({2, 3}).set_requires_grad(true);
  const at::Tensor used = at::full({3}, 2.0).set_requires_grad(true);
  const at::Tensor unused = at::ones({3}).set_requires_grad(true);
  const at::Tensor constant = at::full({3}, 5.0);
  const auto function = [&](const at::Tensor& in) { return in * used * constant; };
  Checkpointed(function, x, {used, unused, constant}).sum().backward();
  EXPECT_TRUE(at::equal(x.grad(), at::full({2, 3}, 10.0)));
  EXPECT_TRUE(at::equal(used.grad(), at::full({3}, 10.0)));
  EXPECT_FALSE(unused.grad().defined());
  EXPECT_FALSE(constant.grad().defined());
}

TEST(SumsOfParts, AndItsGradientsAreThoseOfTheWholeSum) {
  const at::Tensor values = at::linspace(-2, 3, 28).view({7, 4});
  const at::Tensor factors = at::linspace(0.5, 2, 4);
  const auto function = [](const at::Tensor& rows, const at::Tensor& by) {
    return (rows * by).exp().sum();
  };
  const at::Tensor x = values.clone().set_requires_grad(true);
  const at::Tensor factor = factors.clone().set_requires_grad(true);
  const at::Tensor whole = function(x, factor) * 3;
  whole.backward();
  for (const int64_t rows : {1, 3, 7, 100}) {
    const at::Tensor x_of_parts = values.clone().set_requires_grad(true);
    const at::Tensor factor_of_parts = factors.clone().set_requires_grad(true);
    const at::Tensor unused = at::ones({2}).set_requires_grad(true);
    std::vector<int64_t> firsts;
    const auto part = [&](const at::Tensor& in, int64_t first) {
      firsts.push_back(first);
      return function(in, factor_of_parts);
    };
    const at::Tensor sum = SumOfParts(part, x_of_parts, rows, {unused, factor_of_parts}) * 3;
    EXPECT_EQ(std::ssize(firsts), (7 + rows - 1) / rows);
    EXPECT_EQ(firsts.back(), (std::ssize(firsts) - 1) * rows);
    sum.backward();
    EXPECT_TRUE(at::allclose(sum, whole));
    EXPECT_TRUE(at::allclose(x_of_parts.grad(), x.grad()));
    EXPECT_TRUE(at::allclose(factor_of_parts.grad(), factor.grad()));
    EXPECT_FALSE(unused.grad().defined());
    const c10::NoGradGuard no_gradients;
    EXPECT_TRUE(at::allclose(SumOfParts(part, values, rows, {}) * 3, whole));
  }
}

}  // namespace
}  // namespace midscope
