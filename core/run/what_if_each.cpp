// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <utility>

#include "core/plan/plan_changes.h"
#include "core/run/what_if.h"
#include "core/run/what_if_sequence.h"

namespace midscope {
namespace {

// Maximum number of rows in a batch of settings: with more, products are hardly faster, and their
// logits take memory.
constexpr int64_t kMostRows = 256;
// With fewer rows than this, a batch also takes settings that begin in a higher layer.
constexpr int64_t kFewRows = 64;

// A setting that changes only the last rows.
struct LateSetting {
  size_t index = 0;
  int64_t first_layer = 0;  // the number of layers: it changes nothing
};

// Settings that are run together.
struct Batch {
  std::vector<size_t> settings;
  int64_t first_layer = 0;
};

// Groups settings by similar first layers; batches are in the order in which their first setting
// was given.
std::vector<Batch> Batches(std::vector<LateSetting> settings, int64_t rows_of_setting) {
  std::stable_sort(
      settings.begin(), settings.end(),
      [](const LateSetting& a, const LateSetting& b) { return a.first_layer < b.first_layer; });
  std::vector<Batch> batches;
  int64_t rows = 0;
  for (const LateSetting& setting : settings) {
    const bool joins = !batches.empty() && rows + rows_of_setting <= kMostRows &&
                       (setting.first_layer == batches.back().first_layer || rows < kFewRows);
    if (!joins) {
      batches.push_back({{}, setting.first_layer});
      rows = 0;
    }
    batches.back().settings.push_back(setting.index);
    rows += rows_of_setting;
  }
  const auto first = [](const Batch& batch) {
    return *std::min_element(batch.settings.begin(), batch.settings.end());
  };
  std::sort(batches.begin(), batches.end(),
            [&](const Batch& a, const Batch& b) { return first(a) < first(b); });
  return batches;
}

}  // namespace

// Returns the first layer that `intervention` changes, if it only changes rows from the last prompt
// row on and stores nothing in the traces, which must be those of `none`.
std::optional<int64_t> WhatIf::LateFirstLayer(const Intervention& intervention,
                                              const JobContext& context) const {
  const int64_t layers = decoder_->config().layers;
  int64_t first_layer = layers;
  for (const Sequence& sequence : sequences_) {
    if (!sequence.trace) return std::nullopt;
    const std::vector<AttentionPlan> plans =
        CompilePlans(Resolved(intervention, sequence, context), decoder_->config(),
                     sequence.prompt_tokens(), sequence.rows());
    if (std::any_of(plans.begin(), plans.end(), LeavesData)) return std::nullopt;
    const std::vector<int64_t> changed = FirstChangedRows(sequence.trace->plans(), plans);
    if (changed.back() < sequence.prompt_tokens() - 1) return std::nullopt;
    const auto first =
        std::find_if(changed.begin(), changed.end(), [](int64_t row) { return row != kNoRow; });
    first_layer = std::min(first_layer, static_cast<int64_t>(first - changed.begin()));
  }
  if (first_layer < first_layer_) return std::nullopt;
  return first_layer;
}

void WhatIf::RunTogether(std::span<const Intervention> settings,
                         std::span<const size_t> of_settings, int64_t first_layer,
                         const OnOutcome& on_outcome, const JobContext& context) {
  std::vector<RunRequest> requests;
  requests.reserve(of_settings.size() * sequences_.size());
  for (const size_t setting : of_settings) {
    for (Sequence& sequence : sequences_) {
      RunRequest request;
      request.ids = sequence.ids;
      request.prompt_tokens = sequence.prompt_tokens();
      request.intervention = Resolved(settings[setting], sequence, context);
      request.trace = sequence.trace.get();
      std::vector<int64_t> first_row(static_cast<size_t>(decoder_->config().layers),
                                     sequence.prompt_tokens() - 1);
      std::fill_n(first_row.begin(), first_layer, sequence.rows());
      request.rerun = RunRequest::Rerun{std::move(first_row), /*keep=*/false};
      requests.push_back(std::move(request));
    }
  }
  const std::vector<RunResult> results = decoder_->Run(requests, context);
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t prompt = i % sequences_.size();
    WhatIfOutcome outcome;
    SetOutcome(sequences_[prompt], results[i], outcome);
    on_outcome(of_settings[i / sequences_.size()], prompt, outcome);
  }
}

void WhatIf::EvaluateEach(std::span<const Intervention> settings, const OnOutcome& on_outcome,
                          const JobContext& context) {
  const auto evaluate = [&](size_t setting, const Intervention& intervention) {
    const WhatIfResult result = Evaluate(intervention, context, /*attention=*/false);
    for (size_t prompt = 0; prompt < prompts_.size(); ++prompt)
      on_outcome(setting, prompt, result.outcomes[prompt]);
  };
  const WhatIfResult unchanged = Evaluate(Intervention{}, context, /*attention=*/false);
  std::vector<LateSetting> late;
  std::vector<size_t> others;
  for (size_t i = 0; i < settings.size(); ++i) {
    context.ThrowIfCancelled();
    const std::optional<int64_t> first_layer = LateFirstLayer(settings[i], context);
    if (!first_layer) {
      others.push_back(i);
    } else if (*first_layer == decoder_->config().layers) {
      for (size_t prompt = 0; prompt < prompts_.size(); ++prompt)
        on_outcome(i, prompt, unchanged.outcomes[prompt]);
    } else {
      late.push_back({i, *first_layer});
    }
  }
  int64_t rows = 0;
  for (const Sequence& sequence : sequences_)
    rows += sequence.rows() - sequence.prompt_tokens() + 1;
  for (const Batch& batch : Batches(std::move(late), rows))
    RunTogether(settings, batch.settings, batch.first_layer, on_outcome, context);
  for (const size_t setting : others) evaluate(setting, settings[setting]);
}

}  // namespace midscope
