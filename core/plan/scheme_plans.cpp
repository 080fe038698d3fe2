// SPDX-License-Identifier: MIT
#include "core/plan/scheme_plans.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "core/base/error.h"
#include "core/intervention/rope_schemes.h"
#include "core/plan/infini_plan.h"
#include "core/plan/near_far_plan.h"
#include "core/plan/plan_checks.h"
#include "core/plan/rope_frequencies.h"

namespace midscope {
namespace {

// Of a model that has positions but does not rotate by them, position schemes mean nothing.
void CheckRotates(const ModelConfig& config, const std::string& term) {
  if (config.positions == PositionKind::kRotary) return;
  throw UsageError(term, "this model has no rotary positions to rescale: it attends with ALiBi",
                   "Channel scaling works on all models");
}

void SetRatio(AttentionPlan& plan, double ratio) {
  if (plan.inverse_frequency.empty()) return;
  std::fill(plan.q_ratio.begin(), plan.q_ratio.end(), ratio);
  std::fill(plan.k_ratio.begin(), plan.k_ratio.end(), ratio);
}

int64_t TrainedContext(const ModelConfig& config) {
  const double original = config.rope_scaling.original_context;
  return original > 0 ? static_cast<int64_t>(original) : config.trained_context;
}

// What a model with this base and scaling would rotate by.
RopeFrequencies FrequenciesWith(const ModelConfig& config, double base, const RopeScaling& scaling,
                                int64_t tokens) {
  ModelConfig changed = config;
  changed.rope_base = base;
  changed.rope_scaling = scaling;
  return ModelFrequencies(changed, tokens);
}

class SchemePlans {
 public:
  SchemePlans(const Intervention& intervention, std::string term, const ModelConfig& config,
              int64_t tokens, std::vector<AttentionPlan>& plans)
      : intervention_(intervention),
        term_(std::move(term)),
        config_(config),
        tokens_(tokens),
        plans_(plans) {}

  void operator()(const NoScheme&) {}

  void operator()(const PositionInterpolation& scheme) {
    for (AttentionPlan& plan : plans_) SetRatio(plan, scheme.ratio);
  }

  void operator()(const BaseChange& scheme) {
    Replace(FrequenciesWith(config_, scheme.base, {}, tokens_));
  }

  void operator()(const Ntk& scheme) {
    const double base = NtkBase(config_.rope_base, scheme.factor, config_.rope_dimensions);
    Replace(FrequenciesWith(config_, base, {}, tokens_));
  }

  void operator()(const DynamicNtk& scheme) {
    RopeScaling scaling;
    scaling.kind = RopeScalingKind::kDynamic;
    scaling.factor = scheme.factor;
    scaling.original_context = static_cast<double>(TrainedContext(config_));
    Replace(FrequenciesWith(config_, config_.rope_base, scaling, tokens_));
  }

  void operator()(const DynamicLinear&) {
    const double ratio =
        static_cast<double>(tokens_) / static_cast<double>(config_.trained_context);
    if (ratio <= 1) return;
    for (AttentionPlan& plan : plans_) SetRatio(plan, ratio);
  }

  void operator()(const Yarn& scheme) {
    if (config_.rope_base <= 1) {
      throw UsageError(term_,
                       "the model's base is not above 1, so pairs have no order to blend along",
                       "Take pi");
    }
    const YarnSettings settings{scheme.factor,
                                static_cast<double>(OriginalContext(scheme, config_)),
                                scheme.beta_fast, scheme.beta_slow, scheme.form};
    Replace({YarnFrequencies(config_.rope_base, config_.rope_dimensions, settings),
             scheme.magnitude > 0 ? scheme.magnitude : YarnMagnitude(scheme.factor)});
  }

  void operator()(const NoRotation& scheme) {
    CheckLayers(scheme.layers, config_, term_);
    bool any = false;
    for (size_t layer = 0; layer < plans_.size(); ++layer) {
      if (!scheme.layers.Contains(static_cast<int64_t>(layer))) continue;
      AttentionPlan& plan = plans_[layer];
      any = any || !plan.inverse_frequency.empty();
      plan.inverse_frequency.clear();
      plan.magnitude = 1;
    }
    if (!any) RefuseUnrotated(scheme.layers);
  }

  void operator()(const HeadRatioTable& scheme) {
    const auto count = static_cast<int64_t>(scheme.ratios.size());
    const std::string name = term_ + "(" + scheme.file + ")";
    if (scheme.heads != config_.heads || count != config_.layers * config_.heads) {
      const int64_t layers = scheme.heads > 0 ? count / scheme.heads : 0;
      throw UsageError(name, "it has ratios for " + std::to_string(layers) + " layers of " +
                                 std::to_string(scheme.heads) + " heads; the model has " +
                                 std::to_string(config_.layers) + " of " +
                                 std::to_string(config_.heads));
    }
    for (size_t layer = 0; layer < plans_.size(); ++layer) {
      const auto first = scheme.ratios.begin() + static_cast<std::ptrdiff_t>(layer) * scheme.heads;
      AttentionPlan& plan = plans_[layer];
      const bool ones = std::all_of(first, first + scheme.heads, [](double r) { return r == 1; });
      if (plan.inverse_frequency.empty() && !ones) {
        throw UsageError(name, "layer " + std::to_string(layer) + " has no positions to divide",
                         "Give its heads the ratio 1");
      }
      plan.q_ratio.assign(first, first + scheme.heads);
      plan.k_ratio = plan.q_ratio;
    }
  }

  void operator()(const MsPoe& scheme) {
    CheckLayers(scheme.layers, config_, term_);
    bool any = false;
    for (int64_t layer = 0; layer < config_.layers; ++layer) {
      AttentionPlan& plan = plans_[static_cast<size_t>(layer)];
      if (!scheme.layers.Contains(layer) || plan.inverse_frequency.empty()) continue;
      any = true;
      plan.ratio_rule = RatioRule{scheme, layer};
      if (!RatiosAreFixed(*plan.ratio_rule)) continue;
      const std::vector<int64_t> no_counts(static_cast<size_t>(config_.heads), 0);
      HeadRatios ratios = ResolveRatios(*plan.ratio_rule, no_counts, config_.key_value_heads);
      plan.q_ratio = std::move(ratios.q);
      plan.k_ratio = std::move(ratios.k);
    }
    if (!any) RefuseUnrotated(scheme.layers);
  }

  void operator()(const SelfExtend& scheme) { ApplySelfExtend(scheme, intervention_, plans_); }
  void operator()(const InfiniAttention& scheme) {
    ApplyInfiniAttention(scheme, intervention_, config_, plans_);
  }

 private:
  [[noreturn]] void RefuseUnrotated(const LayerSet& layers) const {
    throw UsageError(term_, "the model rotates nothing in layers " + layers.Text() + " anyway",
                     "Name layers with positions");
  }

  // The frequencies of all layers that rotate by the model's global ones.
  void Replace(const RopeFrequencies& frequencies) {
    bool any = false;
    for (size_t layer = 0; layer < plans_.size(); ++layer) {
      const bool local = layer < config_.attention.size() && config_.attention[layer].local;
      AttentionPlan& plan = plans_[layer];
      if (local || plan.inverse_frequency.empty()) continue;
      any = true;
      plan.inverse_frequency = frequencies.inverse_frequency;
      plan.magnitude = frequencies.magnitude;
    }
    if (any) return;
    throw UsageError(term_,
                     "no layer of this model rotates by its base: all have local frequencies",
                     "Take pi or ms-poe, which divide positions");
  }

  const Intervention& intervention_;
  std::string term_;
  const ModelConfig& config_;
  int64_t tokens_;
  std::vector<AttentionPlan>& plans_;
};

}  // namespace

int64_t OriginalContext(const Yarn& scheme, const ModelConfig& config) {
  return scheme.context > 0 ? scheme.context : TrainedContext(config);
}

void ApplyScheme(const Intervention& intervention, const ModelConfig& config, int64_t tokens,
                 std::vector<AttentionPlan>& plans) {
  const PositionScheme& scheme = intervention.positions;
  if (std::holds_alternative<NoScheme>(scheme)) return;
  const std::string term(SchemeName(scheme));
  // Infini-attention asks for no positions.
  if (!std::holds_alternative<InfiniAttention>(scheme)) CheckRotates(config, term);
  std::visit(SchemePlans(intervention, term, config, tokens, plans), scheme);
}

}  // namespace midscope
