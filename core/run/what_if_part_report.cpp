// SPDX-License-Identifier: MIT
#include "core/run/what_if_part_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/memory_map.h"
#include "core/plan/row_plans.h"

namespace midscope {
namespace {

// Replaces the values of layers from `first` on by NaN.
template <typename Number>
void Blank(std::vector<Number>& by_layer, int64_t first, int64_t layers) {
  const auto each = static_cast<int64_t>(by_layer.size()) / layers;
  std::fill(by_layer.begin() + first * each, by_layer.end(),
            std::numeric_limits<Number>::quiet_NaN());
}

}  // namespace

RatiosSoFar::RatiosSoFar(const ModelConfig& config, const std::vector<AttentionPlan>& plans,
                         const std::vector<AttentionPlan>& kept,
                         const std::vector<int64_t>& first_row, int64_t rows)
    : config_(config), rules_(plans.size(), nullptr) {
  ratios_ = {config.layers, config.heads,
             std::vector<double>(static_cast<size_t>(config.layers * config.heads),
                                 std::numeric_limits<double>::quiet_NaN())};
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    const auto& rule = plans[layer].ratio_rule;
    const bool decided_in_run = rule && !RatiosAreFixed(*rule);
    const bool runs = first_row[layer] < rows;
    // Ratios are frozen if the rows that determine them are in the trace.
    const bool frozen =
        !kept.empty() &&
        (!runs || (decided_in_run && first_row[layer] > FirstSchemeRow(plans[layer])));
    if (frozen) {
      Fill(static_cast<int64_t>(layer), kept[layer].q_ratio);
    } else if (decided_in_run) {
      rules_[layer] = &*rule;
    } else {
      Fill(static_cast<int64_t>(layer), plans[layer].q_ratio);
    }
  }
}

void RatiosSoFar::Fill(int64_t layer, const std::vector<double>& ratios) {
  std::copy(ratios.begin(), ratios.end(), ratios_.values.begin() + layer * ratios_.heads);
}

HookRequest RatiosSoFar::Request(const HookPoint& point, const SequenceInfo& sequence) {
  if (point.site != HookSite::kPatternUnrotated || !rules_[static_cast<size_t>(point.layer)])
    return {};
  return {HookAccess::kRead, {sequence.prompt_tokens - 1, sequence.prompt_tokens}};
}

void RatiosSoFar::OnActivation(HookView& view) {
  const int64_t keys = view.shape[3];
  std::vector<float> row;
  row.reserve(static_cast<size_t>(config_.heads * keys));
  for (int64_t head = 0; head < config_.heads; ++head) {
    const float* source = static_cast<const float*>(view.data) + head * view.strides[1];
    row.insert(row.end(), source, source + keys);
  }
  const RatioRule& rule = *rules_[static_cast<size_t>(view.point.layer)];
  Fill(view.point.layer, ResolveRatiosOfRow(rule, row.data(), keys, config_.heads,
                                            config_.KeyValueHeads(view.point.layer))
                             .q);
}

WhatIf::PartReport::PartReport(const Decoder& decoder, Sequence& sequence,
                               const Intervention& intervention, const WhatIfShown& shown,
                               bool attention)
    : decoder_(decoder),
      sequence_(sequence),
      intervention_(intervention),
      shown_(shown),
      attention_(attention),
      ratios_(decoder.config(), sequence.plans,
              sequence.trace ? sequence.trace->plans() : std::vector<AttentionPlan>(),
              sequence.first_row, sequence.rows()),
      next_(std::chrono::steady_clock::now() + shown.first_after) {
  if (shown_.partial) sequence_.extra_hook = &ratios_;
}

JobContext WhatIf::PartReport::Observed(const JobContext& context) {
  JobContext observed = context;
  observed.progress = [this, before = context.progress](const Progress& progress) {
    if (before) before(progress);
    if (progress.stage == kRunStage) LayerDone(progress.done);
  };
  return observed;
}

void WhatIf::PartReport::LayerDone(int64_t layers_done) {
  const int64_t layers = decoder_.config().layers;
  const auto now = std::chrono::steady_clock::now();
  if (!shown_.partial || layers_done >= layers || now < next_) return;
  WhatIfPart part;
  part.layers_done = layers_done;
  if (attention_) {
    part.outcome.last_query_attention = LargeCopy(sequence_.attention->attention());
    Blank(part.outcome.last_query_attention, layers_done, layers);
  }
  sequence_.TellAwareness(intervention_, part.outcome);
  part.outcome.counted_keys.clear();  // only valid for complete runs
  Blank(part.outcome.position_awareness, layers_done, layers);
  part.outcome.position_ratio = ratios_.ratios();
  Blank(part.outcome.position_ratio.values, layers_done, layers);
  shown_.partial(part);
  next_ = std::chrono::steady_clock::now() + shown_.interval;
}

void WhatIf::PartReport::TellWhole() {
  if (!shown_.partial) return;
  WhatIfPart part;
  part.layers_done = decoder_.config().layers;
  part.outcome = sequence_.outcome;
  if (attention_) part.outcome.last_query_attention = LargeCopy(sequence_.attention->attention());
  sequence_.TellAwareness(intervention_, part.outcome);
  part.trace = sequence_.trace.get();
  shown_.partial(part);
}

}  // namespace midscope
