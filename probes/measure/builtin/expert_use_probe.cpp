// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// Weights and numbers of the experts of one token in one layer, largest weight first.
using Choices = std::vector<std::pair<float, int64_t>>;

class ExpertHook : public Hook {
 public:
  explicit ExpertHook(const ExpertSettings& experts) : experts_(experts) {}

  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    if (point.site != HookSite::kExpertWeights || !experts_.In(point.layer)) return {};
    tokens_ = sequence.prompt_tokens;
    of_layer_[point.layer].resize(static_cast<size_t>(tokens_));
    return {HookAccess::kRead, {0, tokens_}};
  }

  void OnActivation(HookView& view) override {
    std::vector<Choices>& tokens = of_layer_.at(view.point.layer);
    for (int64_t row = 0; row < view.rows(); ++row) {
      Choices& choices = tokens[static_cast<size_t>(view.first_row + row)];
      for (int64_t expert = 0; expert < experts_.count; ++expert) {
        const float weight = view.At(0, row, expert);
        if (weight != 0) choices.emplace_back(weight, expert);
      }
      std::stable_sort(choices.begin(), choices.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
    }
  }

  int64_t tokens() const { return tokens_; }
  // Choices of experts by layer with experts: [token].
  const std::map<int64_t, std::vector<Choices>>& of_layer() const { return of_layer_; }

 private:
  const ExpertSettings& experts_;
  int64_t tokens_ = 0;
  std::map<int64_t, std::vector<Choices>> of_layer_;
};

class ExpertUse : public Probe {
 public:
  explicit ExpertUse(const ProbeInput& input)
      : experts_(Checked(input.decoder.config().experts)), hook_(experts_) {}

  std::vector<Hook*> Hooks() override { return {&hook_}; }

  Record Finish(const RunResult&) override {
    const auto tokens = static_cast<size_t>(hook_.tokens());
    const auto choices = static_cast<size_t>(experts_.per_row);
    const auto count = static_cast<size_t>(experts_.count);
    const size_t layers = hook_.of_layer().size();
    std::vector<int64_t> expert(layers * tokens * choices, -1);
    std::vector<float> weight(expert.size(), 0.0f);
    std::vector<double> share(layers * count, 0.0);
    std::vector<int64_t> layer_numbers;
    size_t at = 0;
    for (const auto& [layer, of_tokens] : hook_.of_layer()) {
      double* shares = &share[layer_numbers.size() * count];
      layer_numbers.push_back(layer);
      for (const Choices& of_token : of_tokens) {
        for (size_t i = 0; i < of_token.size(); ++i) {
          shares[of_token[i].second] += 1.0 / static_cast<double>(tokens);
          // A hook may have assigned more experts to a token than the model uses.
          if (i >= choices) continue;
          expert[at + i] = of_token[i].second;
          weight[at + i] = of_token[i].first;
        }
        at += choices;
      }
    }
    Record record;
    record.name = "expert_use";
    record.axes = {ValuedAxis("expert_layer", layer_numbers), CountedAxis("token", hook_.tokens()),
                   CountedAxis("choice", experts_.per_row), CountedAxis("expert", experts_.count)};
    const std::vector<std::string> table = {"expert_layer", "token", "choice"};
    record.arrays = {{"chosen_expert", table, std::move(expert), "",
                      "experts that the token uses, largest weight first; -1: none"},
                     {"expert_weight", table, std::move(weight), "",
                      "what the expert's output is multiplied by"},
                     {"expert_share",
                      {"expert_layer", "expert"},
                      std::move(share),
                      "",
                      "share of the prompt's tokens that use the expert"}};
    record.signal = "expert_share";
    return record;
  }

 private:
  static const ExpertSettings& Checked(const ExpertSettings& experts) {
    if (experts.count > 0) return experts;
    throw UsageError("probe 'expert_use'", "the model has no experts",
                     "Leave it out, or take a mixture of experts");
  }

  const ExpertSettings& experts_;
  ExpertHook hook_;
};

}  // namespace

ProbeType ExpertUseProbe() {
  ProbeType type;
  type.name = "expert_use";
  type.summary = "which experts each token of the prompt uses, with what weight";
  type.source = "the routers of the models: Mixtral (arXiv 2401.04088), DeepSeek-V3 (2412.19437)";
  type.limits = "mixtures of experts alone; shared experts, which every token uses, are not listed";
  type.on_request = true;
  type.make = [](const ProbeInput& input) { return std::make_unique<ExpertUse>(input); };
  return type;
}

}  // namespace midscope
