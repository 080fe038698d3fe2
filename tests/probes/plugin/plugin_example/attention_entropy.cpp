// SPDX-License-Identifier: MIT
// A complete example of a plugin probe: how widely the last prompt token spreads its attention,
// measured for every head as the Shannon entropy of its attention weights. Read it from top to
// bottom; it has four steps. PLUGINS.md describes the rest.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "probes/base/records.h"
#include "probes/plugin/plugin.h"

namespace {

// Step 1: a hook requests activations and receives them. Midscope computes and copies only what
// some hook has requested, so request as little as possible: here one row of attention per layer.
class LastRowEntropy : public midscope::Hook {
 public:
  LastRowEntropy(int64_t layers, int64_t heads, double unit)
      : heads_(heads), unit_(unit), entropy_(static_cast<size_t>(layers * heads)) {}

  // Called once for every point of the model, before anything runs.
  midscope::HookRequest Request(const midscope::HookPoint& point,
                                const midscope::SequenceInfo& sequence) override {
    if (point.site != midscope::HookSite::kPattern) return {};
    // The last row of the prompt; an answer that is scored may follow it.
    return {midscope::HookAccess::kRead, {sequence.prompt_tokens - 1, sequence.prompt_tokens}};
  }

  // Called while the model runs. kPattern has the shape [1, head, query, key]
  // (core/decoder/hooks.h); its weights sum to 1 over the keys.
  void OnActivation(midscope::HookView& view) override {
    for (int64_t head = 0; head < view.shape[1]; ++head) {
      double sum = 0;
      for (int64_t key = 0; key < view.shape[3]; ++key) {
        const double weight = view.At(0, head, 0, key);  // right for every dtype and stride
        if (weight > 0) sum -= weight * std::log(weight);
      }
      const int64_t id = view.point.layer * heads_ + view.first_head + head;
      entropy_[static_cast<size_t>(id)] = sum / unit_;
    }
  }

  std::vector<double> entropy() const { return entropy_; }

 private:
  int64_t heads_;
  double unit_;                  // in nats
  std::vector<double> entropy_;  // [layer, head]
};

// Step 2: a probe owns its hooks for one run, and turns what they saw into a record.
class EntropyProbe : public midscope::Probe {
 public:
  explicit EntropyProbe(const midscope::ProbeInput& input)
      : layers_(input.decoder.config().layers),
        heads_(input.decoder.config().heads),
        unit_(input.options.Text("attention-entropy-unit")),
        hook_(layers_, heads_, unit_ == "bits" ? std::log(2.0) : 1.0) {}

  std::vector<midscope::Hook*> Hooks() override { return {&hook_}; }

  // The command line, the file and the window show only the contents of the record, so axes, units
  // and descriptions are worth their line.
  midscope::Record Finish(const midscope::RunResult&) override {
    const std::vector<double> entropy = hook_.entropy();
    std::vector<double> mean(static_cast<size_t>(layers_));
    for (size_t i = 0; i < entropy.size(); ++i) {
      mean[i / static_cast<size_t>(heads_)] += entropy[i] / static_cast<double>(heads_);
    }
    midscope::Record record;
    record.name = "attention_entropy";  // the probe's name
    record.axes = {midscope::CountedAxis("layer", layers_), midscope::CountedAxis("head", heads_)};
    record.arrays = {{"entropy",
                      {"layer", "head"},
                      entropy,
                      unit_,
                      "Shannon entropy of the last prompt token's attention"},
                     {"mean_entropy", {"layer"}, std::move(mean), unit_, "mean over the heads"}};
    record.signal = "entropy";  // what a viewer shows first
    return record;
  }

 private:
  int64_t layers_;
  int64_t heads_;
  std::string unit_;
  LastRowEntropy hook_;
};

// Step 3: describe the probe and its options. Flags, help, checks and provenance come from here.
midscope::ProbeType AttentionEntropy() {
  midscope::Parameter unit;
  unit.name = "attention-entropy-unit";  // begins with the probe's name
  unit.kind = midscope::ParameterKind::kChoice;
  unit.choices = {"nats", "bits"};
  unit.default_value = std::string("nats");
  unit.help = "in what the entropy of attention is measured";

  midscope::ProbeType type;
  type.name = "attention_entropy";
  type.summary = "how widely the last prompt token spreads its attention, every layer and head";
  type.options = {unit};
  type.make = [](const midscope::ProbeInput& input) {
    return std::make_unique<EntropyProbe>(input);
  };
  return type;
}

void Register(midscope::ProbeRegistry& probes) { probes.Add(AttentionEntropy()); }

}  // namespace

// Step 4: the one symbol that Midscope looks for.
MIDSCOPE_PLUGIN(Register)
