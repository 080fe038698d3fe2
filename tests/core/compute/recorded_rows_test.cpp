// SPDX-License-Identifier: MIT
// Runs of a trace's last rows that are replayed from a recording, on `cpu:portable`, which calls
// the recorded work again, and on a GPU if there is one. Contract: logits, and the trace's contents
// for later runs, equal those of an unrecorded run: exactly on the CPU if the trace's rows were
// computed in the same way, else (on a GPU, LibTorch may choose another product) within 1e-5 of the
// largest.
#include "core/decoder/recorded_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/compute/aten_executor.h"
#include "core/compute/aten_ops.h"
#include "core/compute/device_facts.h"
#include "core/compute/placement.h"
#include "core/decoder/run_sequences.h"
#include "core/decoder/trace_storage.h"
#include "core/model/model_source.h"
#include "core/plan/plan_changes.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::Difference;
using test::Largest;
using test::TinyModelNames;
using test::TinyModelPath;

constexpr size_t kTokens = 41;

std::vector<std::string> Devices() {
  std::vector<std::string> devices{"cpu:portable"};
  if (AvailableDevices().back().kind == DeviceKind::kCuda) devices.emplace_back("cuda:0");
  return devices;
}

std::shared_ptr<const Decoder> Open(const std::string& model, const std::string& device) {
  return Decoder::Open(TinyModelPath(model), {.threads = 1, .placement = ParsePlacement(device)});
}

Prompt SomePrompt() {
  Prompt prompt;
  prompt.ids = test::SomeTinyIds(kTokens);
  prompt.answer_ids = {7, 19, 3};
  return prompt;
}

int64_t Starts(const WhatIf& what_if) {
  const auto& recorded = what_if.trace(0)->storage().recorded;
  return recorded ? recorded->starts() : 0;
}

constexpr double kDragTolerance = 1e-5;

class Dragged {
 public:
  explicit Dragged(std::shared_ptr<const Decoder> decoder, double tolerance = kDragTolerance)
      : decoder_(std::move(decoder)), tolerance_(tolerance), what_if_(decoder_, {SomePrompt()}) {
    what_if_.Evaluate({});
  }
  // The setting on top of those before, beside the same on a prompt that was run once without any.
  void Set(const std::string& setting, bool attention = false) {
    const Intervention intervention = ParseIntervention(setting);
    WhatIf other(decoder_, {SomePrompt()});
    other.Evaluate({});
    const WhatIfOutcome expected = other.Evaluate(intervention, {}, attention).outcomes[0];
    const WhatIfOutcome actual = what_if_.Evaluate(intervention, {}, attention).outcomes[0];
    EXPECT_LE(Difference(actual.last_logits, expected.last_logits),
              tolerance_ * Largest(expected.last_logits))
        << decoder_->path() << " " << setting;
    EXPECT_NEAR(actual.score.nll, expected.score.nll, tolerance_ * 100) << setting;
    EXPECT_LE(Difference(actual.last_query_attention, expected.last_query_attention), tolerance_);
    EXPECT_EQ(actual.position_ratio.values, expected.position_ratio.values);
    const int64_t layers = decoder_->config().layers;
    for (int64_t layer = 0; layer <= layers; ++layer) {
      const std::vector<float> rows = other.trace(0)->Channel(layer, 5);
      EXPECT_LE(Difference(what_if_.trace(0)->Channel(layer, 5), rows), tolerance_ * Largest(rows))
          << decoder_->path() << " " << setting << ", layer " << layer;
    }
  }
  int64_t starts() const { return Starts(what_if_); }

 private:
  std::shared_ptr<const Decoder> decoder_;
  double tolerance_;  // of the largest number
  WhatIf what_if_;
};

TEST(RecordedRows, OfEveryFamilyAreThoseOfAReRun) {
  for (const std::string& device : Devices()) {
    for (const std::string& model : TinyModelNames()) {
      const auto decoder = Open(model, device);
      Dragged dragged(decoder, device == "cpu:portable" ? 0 : kDragTolerance);
      for (const char* factor : {"-1", "0.5", "0.25", "1", "0.5", "2"})
        dragged.Set(std::string("channel(3, factor=") + factor + ", layers=1)");
      const ModelConfig& config = decoder->config();
      const bool recorded = config.experts.layers.empty() && !config.latent.used() &&
                            config.layer_input_width == 0 && !config.HasMixers();
      if (device != "cpu:portable") continue;  // a GPU may refuse
      // The first is run as any other.
      EXPECT_EQ(dragged.starts(), recorded ? 5 : 0) << model;
    }
  }
}

TEST(RecordedRows, OfSeveralChannelsAndTheirValues) {
  for (const std::string& device : Devices()) {
    Dragged dragged(Open("llama", device));
    for (const char* factor : {"-1", "0.5", "3"}) {
      dragged.Set(std::string("channel(3, factor=") + factor +
                  ", layers=1, change_value=yes) + channel(8, factor=0.5, layers=1)");
    }
    EXPECT_EQ(dragged.starts(), 2) << device;
    dragged.Set("channel(3, factor=-1, layers=1, rows=last:9)");
    dragged.Set("channel(3, factor=0.5, layers=1, rows=last:9)");
    EXPECT_EQ(dragged.starts(), 1) << device;
    // The first changes all rows, and only the next is of the kind.
    for (const char* factor : {"-1", "0.5", "0.1"})
      dragged.Set(std::string("pi(1.5) + channel(3, factor=") + factor + ", layers=1)");
    EXPECT_EQ(dragged.starts(), 1) << device;
  }
}

TEST(RecordedRows, OtherChangesBetweenThemCount) {
  for (const std::string& device : Devices()) {
    Dragged dragged(Open("llama", device));
    dragged.Set("channel(3, factor=-1, layers=1)");
    dragged.Set("channel(3, factor=0.5, layers=1)");
    EXPECT_EQ(dragged.starts(), 1);
    // Rows before the last ones are others now, and are so in the next one's trace too.
    dragged.Set("self-extend(group=2, window=8)");
    dragged.Set("none");
    dragged.Set("channel(3, factor=0.25, layers=1)");
    dragged.Set("channel(3, factor=0.25, layers=1)", /*attention=*/true);
    dragged.Set("none", /*attention=*/true);
    dragged.Set("channel(3, factor=0.75, layers=1)");
  }
}

TEST(RecordedRows, AttentionIsThatOfAReRun) {
  for (const std::string& device : Devices()) {
    Dragged dragged(Open("llama", device));
    for (const char* factor : {"-1", "0.5", "2"})
      dragged.Set(std::string("channel(3, factor=") + factor + ", layers=1)", /*attention=*/true);
    EXPECT_EQ(dragged.starts(), 2) << device;
    // A narrower change is of another kind.
    dragged.Set("channel(3, factor=0.25, layers=1)");
    EXPECT_EQ(dragged.starts(), 0) << device;
  }
}

// Reads the last rows of every point that is not rotated by tables in host memory.
class Reader : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool rotated =
        point.site == HookSite::kRotatedQuery || point.site == HookSite::kRotatedKey;
    return rotated ? HookRequest{}
                   : HookRequest{HookAccess::kRead, {sequence.rows - 3, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    std::vector<float>& seen = values[HookName(view.point)];
    for (int64_t b = 0; b < view.shape[1]; ++b) {
      for (int64_t c = 0; c < view.shape[2]; ++c) {
        for (int64_t d = 0; d < view.shape[3]; ++d) seen.push_back(view.At(0, b, c, d));
      }
    }
  }
  std::map<std::string, std::vector<float>> values;
};

// The values that hooks read of the last row with the scaled channel; with `repeated` it had two
// other factors before.
std::map<std::string, std::vector<float>> ReadOf(const Decoder& decoder, bool repeated) {
  const Prompt prompt = SomePrompt();
  const auto trace = decoder.MakeTrace(kTokens);
  RunRequest request;
  request.ids = prompt.ids;
  request.trace = trace.get();
  decoder.RunOne(request);
  std::vector<int64_t> rows(static_cast<size_t>(decoder.config().layers), kTokens - 1);
  rows[0] = kTokens;
  request.rerun = RunRequest::Rerun{rows};
  const auto read = [&](const char* factor) {
    Reader reader;
    request.hooks = {&reader};
    request.intervention =
        ParseIntervention(std::string("channel(3, factor=") + factor + ", layers=1)");
    decoder.RunOne(request);
    return reader.values;
  };
  if (repeated) {
    read("-1");
    read("3");
  }
  auto values = read("0.5");
  const auto& recorded = trace->storage().recorded;
  EXPECT_EQ(recorded ? recorded->starts() : 0, repeated ? 2 : 0);
  return values;
}

TEST(RecordedRows, HooksReadWhatTheyDoInAReRun) {
  for (const std::string& device : Devices()) {
    for (const char* model : {"llama", "gemma2", "gptj"}) {
      const auto decoder = Open(model, device);
      const auto expected = ReadOf(*decoder, false);
      const auto actual = ReadOf(*decoder, true);
      ASSERT_GE(expected.size(), 10U);
      ASSERT_EQ(actual.size(), expected.size());
      for (const auto& [point, values] : expected) {
        EXPECT_LE(Difference(actual.at(point), values),
                  (device == "cpu:portable" ? 0 : kDragTolerance) * Largest(values))
            << device << " " << model << " " << point;
      }
    }
  }
}

// Changes that the host decides or that the first layer reads are run without recording.
TEST(RecordedRows, WhatNeedsTheHostIsRun) {
  Dragged dragged(Open("llama", "cpu:portable"));
  for (const char* terms : {"channel(3, factor=F, layers=all)",
                            "ms-poe(first_layer=0) + channel(3, factor=F, layers=1)",
                            "ablate([L1H0], with=zero) + channel(3, factor=F, layers=1)",
                            "set(4, to=0.5, layers=1) + channel(3, factor=F, layers=1)"}) {
    for (const char* factor : {"-1", "0.5", "2"}) {
      std::string setting = terms;
      setting.replace(setting.find('F'), 1, factor);
      dragged.Set(setting);
    }
    EXPECT_EQ(dragged.starts(), 0) << terms;
  }
}

TEST(RecordedRows, ThePlainCpuAndSeveralDevicesRun) {
  for (const char* device : {"cpu", "cpu,cpu:portable", "cpu:portable=1,cpu"}) {
    Dragged dragged(Open("llama", device));
    for (const char* factor : {"-1", "0.5", "2"})
      dragged.Set(std::string("channel(3, factor=") + factor + ", layers=1)");
    EXPECT_EQ(dragged.starts(), std::string(device) == "cpu,cpu:portable" ? 2 : 0) << device;
  }
}

// A device that records nothing, and counts the requests to record.
class Refusing : public AtenOps {
 public:
  explicit Refusing(int* asked) : AtenOps(at::Device(at::kCPU)), requested_(asked) {}
  std::unique_ptr<RecordedWork> Record(const std::function<void()>&) const override {
    ++*requested_;
    return nullptr;
  }

 private:
  int* requested_;
};

TEST(RecordedRows, ADeviceThatRefusesIsAskedOnce) {
  const auto source = OpenModel(TinyModelPath("llama"));
  const ModelConfig config = source->config();
  const AtenExecutor executor;
  Weights weights =
      LoadWeights(*source, {.dtype = kernels::Dtype::kFloat32, .storage = WeightStorage::kExpanded},
                  executor, {});
  int asked = 0;
  const LayerDevices devices(std::make_unique<Refusing>(&asked), config.layers);
  PlaceWeights(devices, executor, &weights);
  RotaryCache rotary;
  const PassParts parts{config, weights, devices, kernels::Dtype::kFloat32, rotary, executor};
  const auto trace =
      AllocateTrace(config, parts.dtype, kTokens, /*residual=*/true, 0, devices.Devices());
  const Prompt prompt = SomePrompt();
  RunRequest request;
  request.ids = prompt.ids;
  request.trace = trace.get();
  trace->Set(kTokens, kTokens, CompilePlans({}, config, kTokens));
  std::vector<int64_t> rows(static_cast<size_t>(config.layers), kTokens - 1);
  rows[0] = kTokens;
  request.rerun = RunRequest::Rerun{rows};
  for (const char* factor : {"-1", "0.5", "2", "3"}) {
    request.intervention =
        ParseIntervention(std::string("channel(3, factor=") + factor + ", layers=1)");
    std::vector<SequencePass> sequences;
    sequences.push_back(PrepareSequence(request, 0, config, parts.dtype, devices.Devices()));
    ASSERT_TRUE(RecordedRows::CanRecord(sequences.front(), parts));
    EXPECT_FALSE(RunRecorded(sequences, parts).defined());
  }
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace midscope
