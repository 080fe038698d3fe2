// SPDX-License-Identifier: MIT
// Hooks on a device that receive copies of rows later than the device computes them. Contract:
// hooks are called with the same rows in the same order as on the plain CPU; a hook that writes is
// called after the hooks before it, and its writes take effect; when progress reports that a layer
// is done, hooks have received its rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/compute/placement.h"
#include "core/decoder/decoder.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr int64_t kShownTokens = 24;

struct Shown {
  std::string name;
  int64_t first_row;
  int64_t rows;
  bool operator==(const Shown&) const = default;
};

// Requests all rows of every point, the patterns of the last two; adds 1 to the queries of layer 1.
class Recorder : public Hook {
 public:
  explicit Recorder(bool writes) : writes_(writes) {}
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool pattern =
        point.site == HookSite::kPattern || point.site == HookSite::kPatternUnrotated;
    const bool written = writes_ && point == HookPoint{HookSite::kQuery, 1};
    return {written ? HookAccess::kWrite : HookAccess::kRead,
            {pattern ? sequence.rows - 2 : 0, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    shown.push_back({HookName(view.point), view.first_row, view.rows()});
    ++of_layer[view.point.layer];
    if (!writes_ || view.point != HookPoint{HookSite::kQuery, 1}) return;
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t i = 0; i < view.shape[3]; ++i) view.Set(0, row, 0, i, view.At(0, row, 0, i) + 1);
    }
  }
  std::vector<Shown> shown;
  std::map<int64_t, int> of_layer;

 private:
  bool writes_;
};

struct RunSeen {
  std::vector<Shown> shown;
  std::vector<float> logits;
  std::vector<int64_t> done;  // layers, by every report
};

RunSeen RunOn(const std::string& device, bool writes) {
  const auto decoder = Decoder::Open(test::TinyModelPath("llama"),
                                     {.threads = 1, .placement = ParsePlacement(device)});
  const std::vector<int32_t> ids = test::SomeTinyIds(kShownTokens);
  Recorder recorder(writes);
  RunRequest request;
  request.ids = ids;
  request.hooks = {&recorder};
  RunSeen run;
  JobContext context;
  context.progress = [&](const Progress& progress) {
    run.done.push_back(progress.done);
    for (int64_t layer = 0; layer < progress.done; ++layer)
      EXPECT_GE(recorder.of_layer[layer], 10) << device << ", layer " << layer << " is not shown";
  };
  run.logits = decoder->RunOne(request, context).logits;
  run.shown = recorder.shown;
  return run;
}

TEST(ShownCopies, HooksAreCalledAsOnThePlainCpu) {
  for (const bool writes : {false, true}) {
    const RunSeen expected = RunOn("cpu", writes);
    for (const char* device : {"cpu:portable", "cpu:portable=1,cpu", "cpu=1,cpu:portable"}) {
      const RunSeen actual = RunOn(device, writes);
      EXPECT_EQ(actual.shown, expected.shown) << device;
      EXPECT_LE(test::Difference(actual.logits, expected.logits),
                1e-4 * test::Largest(expected.logits))
          << device;
      ASSERT_FALSE(actual.done.empty());
      EXPECT_TRUE(std::is_sorted(actual.done.begin(), actual.done.end())) << device;
      EXPECT_EQ(actual.done.back(), expected.done.back()) << device;
    }
  }
  const std::vector<float> unwritten = RunOn("cpu:portable", false).logits;
  EXPECT_GT(test::Difference(RunOn("cpu:portable", true).logits, unwritten), 1e-3);
}

}  // namespace
}  // namespace midscope
