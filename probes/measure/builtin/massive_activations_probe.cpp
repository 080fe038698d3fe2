// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/parameter.h"
#include "core/base/utf8.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// A value is massive if it exceeds both limits, absolute and relative to the median (arXiv
// 2402.17762, section 2).
constexpr double kMassive = 100;
constexpr double kMassiveOverMedian = 1000;

// Finds the largest values in the stream of one layer at a time, [prompt row, hidden].
class LargestValues : public Hook {
 public:
  struct Value {
    float value = 0;
    int64_t token = 0;
    int64_t channel = 0;
  };
  struct Layer {
    std::vector<Value> largest;
    double median = 0;
    int64_t massive = 0;
  };

  LargestValues(const ModelConfig& config, int64_t top)
      : hidden_(config.hidden), top_(static_cast<size_t>(top)) {
    layers_.resize(static_cast<size_t>(config.layers));
  }

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kResidPost) return {};
    prompt_tokens_ = sequence.prompt_tokens;
    return {HookAccess::kRead, {0, prompt_tokens_}};
  }

  void OnActivation(HookView& view) override {
    values_.resize(static_cast<size_t>(prompt_tokens_ * hidden_));
    for (int64_t row = 0; row < view.rows(); ++row) {
      float* out = values_.data() + (view.first_row + row) * hidden_;
      for (int64_t i = 0; i < hidden_; ++i) out[i] = view.At(0, row, i);
    }
    if (view.first_row + view.rows() == prompt_tokens_) Fold(view.point.layer);
  }

  const std::vector<Layer>& layers() const { return layers_; }

 private:
  void Fold(int64_t index) {
    Layer& layer = layers_[static_cast<size_t>(index)];
    for (size_t i = 0; i < values_.size(); ++i) {
      const bool listed = layer.largest.size() < top_ ||
                          std::abs(values_[i]) > std::abs(layer.largest.back().value);
      if (listed)
        Insert({values_[i], static_cast<int64_t>(i) / hidden_, static_cast<int64_t>(i) % hidden_},
               layer.largest);
    }
    for (float& value : values_) value = std::abs(value);
    const auto middle = values_.begin() + static_cast<int64_t>((values_.size() - 1) / 2);
    std::nth_element(values_.begin(), middle, values_.end());
    layer.median = *middle;
    layer.massive = std::count_if(values_.begin(), values_.end(), [&](float value) {
      return value > kMassive && value > kMassiveOverMedian * layer.median;
    });
  }

  // Inserts a value by magnitude; for ties, the earlier token comes first, then the lower channel.
  void Insert(const Value& value, std::vector<Value>& largest) const {
    const auto at = std::upper_bound(
        largest.begin(), largest.end(), value,
        [](const Value& a, const Value& b) { return std::abs(a.value) > std::abs(b.value); });
    largest.insert(at, value);
    if (largest.size() > top_) largest.pop_back();
  }

  int64_t hidden_;
  size_t top_;
  int64_t prompt_tokens_ = 0;
  std::vector<float> values_;
  std::vector<Layer> layers_;
};

class MassiveProbe : public Probe {
 public:
  explicit MassiveProbe(const ProbeInput& input)
      : input_(input),
        top_(std::min(input.options.Integer("massive-top"), input.decoder.config().hidden)),
        values_(input.decoder.config(), top_) {}

  std::vector<Hook*> Hooks() override { return {&values_}; }

  Record Finish(const RunResult&) override {
    std::vector<float> values;
    std::vector<int64_t> tokens;
    std::vector<int64_t> channels;
    std::vector<std::string> texts;
    std::vector<double> medians;
    std::vector<int64_t> massive;
    for (const LargestValues::Layer& layer : values_.layers()) {
      for (const LargestValues::Value& value : layer.largest) {
        values.push_back(value.value);
        tokens.push_back(value.token);
        channels.push_back(value.channel);
        const int32_t id = input_.prompt.ids[static_cast<size_t>(value.token)];
        texts.push_back(DisplayText(input_.decoder.tokenizer().TokenText(id)));
      }
      medians.push_back(layer.median);
      massive.push_back(layer.massive);
    }
    Record record;
    record.name = "massive_activations";
    record.axes = {CountedAxis("layer", input_.decoder.config().layers), CountedAxis("rank", top_)};
    const std::vector<std::string> table = {"layer", "rank"};
    record.arrays = {
        {"activation", table, std::move(values), "",
         "values of the residual stream after the block, largest magnitude first"},
        {"activation_token", table, std::move(tokens), "", "the token that has it, from 0"},
        {"activation_channel", table, std::move(channels), "", "the channel that has it"},
        {"activation_token_text", table, std::move(texts), "", "the token's text"},
        {"median_magnitude", {"layer"}, std::move(medians), "", "median of all magnitudes"},
        {"massive_count",
         {"layer"},
         std::move(massive),
         "",
         "values above 100 and 1,000 times the median"}};
    record.signal = "activation";
    return record;
  }

 private:
  const ProbeInput input_;
  int64_t top_;
  LargestValues values_;
};

}  // namespace

ProbeType MassiveActivationsProbe() {
  ProbeType type;
  type.name = "massive_activations";
  type.summary = "the largest values of the residual stream after each block: token and channel";
  type.source = "Sun et al., 'Massive activations in large language models', arXiv 2402.17762";
  type.departures =
      "the paper's code looks at the first sequences of a corpus; here it is the prompt. The "
      "median of an even number of values is the lower one";
  type.limits = "works for every family; memory is that of one layer's stream";
  type.options = {WholeNumberParameter(
      "massive-top", "how many of each layer's largest values massive_activations lists", 1,
      kNoMaximum, 3)};
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<MassiveProbe>(input); };
  return type;
}

}  // namespace midscope
