// SPDX-License-Identifier: MIT
// Every LibTorch operation of a run fails in turn, as on a GPU without memory (only that operation)
// or on a lost GPU (it and all later ones). Contract: the run throws Error and never crashes; after
// missing memory, the next run is correct on the same traces; a lost device is rejected.
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr auto kKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

struct Fault {
  int64_t left = kNever;  // operations until it comes
  bool lost = false;
  bool came() const { return left < 0; }
  bool comes() {
    --left;
    return came() && (lost || left >= -3);
  }
} fault;

void FailOrCall(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  if (fault.comes()) {
    if (!fault.lost) C10_THROW_ERROR(OutOfMemoryError, "Tried to allocate 2.00 GiB");
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, 700,
                                "CUDA error: an illegal memory access was encountered");
  }
  const c10::impl::ExcludeDispatchKeyGuard inside(kKey);
  operation.callBoxed(stack);
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&FailOrCall>());
}

// Runs `work` with a fault at its operation `n`. Returns whether the fault came.
template <typename Work>
bool FailsAt(int64_t n, bool lost, const Work& work) {
  fault = {n, lost};
  const c10::impl::IncludeDispatchKeyGuard guard(kKey);
  try {
    work();
    EXPECT_FALSE(fault.came()) << "operation " << n << " failed and nothing says so";
  } catch (const Error&) {
    EXPECT_TRUE(fault.came());
  }
  return std::exchange(fault, {}).came();
}

std::shared_ptr<Decoder> Open(const char* device) {
  return Decoder::Open(test::TinyModelPath("llama"),
                       {.threads = 1, .placement = ParsePlacement(device)});
}

std::vector<Prompt> TwoPrompts() {
  std::vector<Prompt> prompts(2);
  for (size_t i = 0; i < 48; ++i) {
    const auto id = static_cast<int32_t>(i * 37 % 250);
    prompts[0].ids.push_back(id);
    prompts[1].ids.push_back(i < 40 ? id : id + 1);  // a common prefix, which is run once
  }
  for (Prompt& prompt : prompts) prompt.answer_ids = {5, 6};
  return prompts;
}

std::vector<float> Logits(const WhatIfResult& result) {
  std::vector<float> logits;
  for (const WhatIfOutcome& outcome : result.outcomes)
    logits.insert(logits.end(), outcome.last_logits.begin(), outcome.last_logits.end());
  return logits;
}

// The work of a window, then of a scan.
void Work(WhatIf& what_if) {
  what_if.Evaluate({});
  what_if.Evaluate(ParseIntervention("channel(3, factor=-1, layers=1)"));
  what_if.Evaluate(ParseIntervention("pi(1.5)"));
  const std::vector<Intervention> scan = {ParseIntervention("ablate(L1H0, rows=answer)"),
                                          ParseIntervention("channel(3, factor=0, layers=1)")};
  what_if.EvaluateEach(scan, [](size_t, size_t, const WhatIfOutcome&) {});
}

// From one operation to the next that fails: all of the first ones, and a part of the others.
int64_t Step(int64_t n) { return 1 + n / 100; }

class FailingOperations : public ::testing::TestWithParam<const char*> {};

TEST_P(FailingOperations, WithoutMemoryTheNextRunIsRight) {
  const auto decoder = Open(GetParam());
  const std::vector<Intervention> settings = {{}, ParseIntervention("pi(1.5)")};
  std::vector<std::vector<float>> expected;
  expected.reserve(settings.size());
  for (const Intervention& setting : settings)
    expected.push_back(Logits(WhatIf(decoder, TwoPrompts()).Evaluate(setting)));
  int64_t n = 0;
  for (bool fails = true; fails; n += Step(n)) {
    WhatIf what_if(decoder, TwoPrompts());
    fails = FailsAt(n, /*lost=*/false, [&] { Work(what_if); });
    for (size_t i = 0; i < settings.size(); ++i) {
      const std::vector<float> logits = Logits(what_if.Evaluate(settings[i]));
      ASSERT_EQ(logits.size(), expected[i].size());
      for (size_t at = 0; at < logits.size(); ++at)
        ASSERT_NEAR(logits[at], expected[i][at], 1e-3) << "after a fault at operation " << n;
    }
  }
  EXPECT_GT(n, 100);
}

TEST_P(FailingOperations, ALostDeviceIsRefused) {
  int64_t n = 0;
  for (bool fails = true; fails; n += Step(n)) {
    const auto decoder = Open(GetParam());
    {
      WhatIf what_if(decoder, TwoPrompts());
      fails = FailsAt(n, /*lost=*/true, [&] { Work(what_if); });
    }
    if (!fails) break;
    EXPECT_THROW(decoder->MakeTrace(8), DeviceError) << "after a fault at operation " << n;
  }
  EXPECT_GT(n, 100);
}

INSTANTIATE_TEST_SUITE_P(Devices, FailingOperations, ::testing::Values("cpu", "cpu:portable"),
                         [](const auto& device) {
                           return std::string(device.index == 0 ? "cpu" : "portable");
                         });

}  // namespace
}  // namespace midscope
