// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "probes/base/records.h"
#include "probes/measure/builtin/sample_means.h"

namespace midscope {
namespace {

// Reads the mixing weights of the last prompt row in each layer with a mixer: [layer, head, key].
class EffectiveHook : public Hook {
 public:
  explicit EffectiveHook(const ModelConfig& config) : config_(config) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kEffectivePattern || !config_.HasMixer(point.layer)) return {};
    if (layers.empty() || layers.back() < point.layer) layers.push_back(point.layer);
    keys = sequence.prompt_tokens;
    return {HookAccess::kRead, {keys - 1, keys}};
  }

  void OnActivation(HookView& view) override {
    const auto* from = static_cast<const float*>(view.data);
    weights.insert(weights.end(), from, from + view.shape[1] * keys);
  }

  std::vector<int64_t> layers;
  int64_t keys = 0;
  std::vector<float> weights;

 private:
  const ModelConfig& config_;
};

class EffectiveProbe : public Probe {
 public:
  explicit EffectiveProbe(const ProbeInput& input)
      : heads_(Checked(input.decoder.config())),
        gold_(input.prompt.FindSpan("gold")),
        hook_(input.decoder.config()) {}

  std::vector<Hook*> Hooks() override { return {&hook_}; }

  Record Finish(const RunResult&) override {
    Record record;
    record.name = kEffectiveAttention;
    record.axes = {ValuedAxis("mixer_layer", hook_.layers), CountedAxis("mixer_head", heads_),
                   CountedAxis("key", hook_.keys)};
    if (gold_) {
      record.arrays.push_back({kEffectiveGoldShare,
                               {"mixer_layer", "mixer_head"},
                               GoldShares(),
                               "",
                               "share of the gold passage in the sum of the weights' sizes"});
    }
    record.arrays.push_back(
        {kEffectiveAttention,
         {"mixer_layer", "mixer_head", "key"},
         std::move(hook_.weights),
         "",
         "signed weights of the tokens' values in the output of the last prompt "
         "token, before norm and gate"});
    record.signal = kEffectiveAttention;
    return record;
  }

 private:
  static int64_t Checked(const ModelConfig& config) {
    const MixerSizes mixer = config.Mixer();
    if (mixer.heads > 0) return mixer.heads;
    if (mixer.outputs > 0) {
      throw UsageError("probe 'effective_attention'",
                       std::string(mixer.kind) + " reads a few tokens, by fixed weights",
                       "Take last_query_attention, of the layers that have attention");
    }
    throw UsageError("probe 'effective_attention'", "all layers of the model have attention",
                     "Take last_query_attention");
  }

  std::vector<double> GoldShares() const {
    const auto keys = static_cast<size_t>(hook_.keys);
    const auto size = [](double sum, float weight) { return sum + std::abs(weight); };
    std::vector<double> shares;
    shares.reserve(hook_.weights.size() / keys);
    for (size_t at = 0; at < hook_.weights.size(); at += keys) {
      const auto row = std::span(hook_.weights).subspan(at, keys);
      const auto on_gold = row.subspan(static_cast<size_t>(gold_->token_begin),
                                       static_cast<size_t>(gold_->token_end - gold_->token_begin));
      const double all = std::accumulate(row.begin(), row.end(), 0.0, size);
      const double gold = std::accumulate(on_gold.begin(), on_gold.end(), 0.0, size);
      shares.push_back(all > 0 ? gold / all : 0);
    }
    return shares;
  }

  int64_t heads_;
  const PromptSpan* gold_;
  EffectiveHook hook_;
};

}  // namespace

Record EffectiveAttentionByPlace(const Record& stacked) {
  const auto samples = static_cast<size_t>(AxisOf(stacked, "sample").size);
  const std::string name = std::string("mean_") + kEffectiveGoldShare;
  Record record;
  record.name = "effective_attention_by_place";
  record.axes = {AxisOf(stacked, "place"), AxisOf(stacked, "mixer_layer"),
                 AxisOf(stacked, "mixer_head")};
  record.arrays = {{name,
                    {"place", "mixer_layer", "mixer_head"},
                    MeanOverSamples(ArrayValues<double>(stacked, kEffectiveGoldShare), samples),
                    "",
                    "share of the gold passage, by place, mean over samples"}};
  record.signal = name;
  return record;
}

ProbeType EffectiveAttentionProbe() {
  ProbeType type;
  type.name = kEffectiveAttention;
  type.summary =
      "in layers with a mixer, such as those without attention, the weights of all tokens in what "
      "the last prompt token gets";
  type.source =
      "Ali et al., The Hidden Attention of Mamba Models, arXiv 2403.01590, for the gated delta "
      "rule "
      "of arXiv 2412.06464; TransformerLens: compute_ssm_effective_attention";
  type.departures =
      "the row of the last prompt token alone, by one pass back over the keys, so that memory is "
      "linear in the prompt";
  type.limits =
      "weights are signed and have no fixed sum. They are those of values, each of which a "
      "convolution has made from its token and the few before it; norm and gate of the output come "
      "after. Heads are value heads. In a state space a weight "
      "includes the token's step, that of the last token its direct part (D)";
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<EffectiveProbe>(input); };
  type.summarise = [](const Record& stacked) -> std::vector<Record> {
    if (!stacked.FindArray(kEffectiveGoldShare)) return {};
    return {EffectiveAttentionByPlace(stacked)};
  };
  return type;
}

}  // namespace midscope
