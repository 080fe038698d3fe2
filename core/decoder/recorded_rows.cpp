// SPDX-License-Identifier: MIT
#include "core/decoder/recorded_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "core/decoder/attention/scaled_projections.h"
#include "core/decoder/run_sequences.h"
#include "core/plan/plan_changes.h"

namespace midscope {
namespace {

std::vector<AttentionPlan> WithoutFactors(std::vector<AttentionPlan> plans) {
  for (AttentionPlan& plan : plans) {
    if (!plan.row_override) continue;
    for (ScaledChannel& scaled : plan.row_override->channels) scaled.factor = 1.0;
  }
  return plans;
}

// Calls visit(layer, channels) for the scaled channels of every layer that runs, in order.
template <class Visit>
void VisitChannels(const SequencePass& sequence, const Visit& visit) {
  for (size_t layer = 0; layer < sequence.plans.size(); ++layer) {
    const auto& change = sequence.plans[layer].row_override;
    if (change && sequence.Runs(static_cast<int64_t>(layer))) visit(layer, change->channels);
  }
}

std::vector<float> Amounts(const SequencePass& sequence) {
  std::vector<float> amounts;
  VisitChannels(sequence, [&](size_t, const std::vector<ScaledChannel>& channels) {
    for (const ScaledChannel& scaled : channels) amounts.push_back(AmountOf(scaled));
  });
  return amounts;
}

// Whether a layer with this plan neither reads from nor writes to host memory while it runs.
bool StaysOnDevice(const AttentionPlan& plan) {
  return !DecidedByLastRow(plan) && !LeavesData(plan) && plan.edits == AttentionEdits{} &&
         plan.patches.empty() && plan.residual.empty();
}

// Limit on the bytes of rows for hooks, which stay on the device until the work is done.
constexpr int64_t kMostShownBytes = int64_t{512} << 20;

// Whether hooks only read values that the device computes, and no more than kMostShownBytes.
bool CanShow(const SequencePass& sequence, const ModelConfig& config) {
  if (sequence.hooks->writes()) return false;
  int64_t bytes = 0;
  for (const auto& [point, rows] : sequence.hooks->AllWanted()) {
    const HookSite site = point.first;
    // Rotated queries and keys for hooks are computed in host memory.
    if (site == HookSite::kRotatedQuery || site == HookSite::kRotatedKey) return false;
    const bool pattern = site == HookSite::kPattern || site == HookSite::kPatternUnrotated;
    const int64_t width =
        pattern
            ? config.heads * sequence.rows
            : std::max({config.hidden, config.heads * config.head_dim, 2 * config.feed_forward});
    const int64_t first = std::max(rows.first, sequence.first_row.back());
    bytes += std::max<int64_t>(0, rows.last - first) * width * static_cast<int64_t>(sizeof(float));
  }
  return bytes <= kMostShownBytes;
}

bool OnOneDevice(const LayerDevices& devices, int64_t first_layer, int64_t layers) {
  const LayerOps* last = &devices.Of(layers);
  for (int64_t layer = first_layer; layer < layers; ++layer) {
    if (&devices.Of(layer) != last) return false;
  }
  return !last->host_memory();
}

}  // namespace

RecordedRows::RecordedRows(const SequencePass& sequence)
    : ids_(sequence.request->ids.begin(), sequence.request->ids.end()),
      request_(*sequence.request),
      first_row_(sequence.first_row),
      plans_(WithoutFactors(sequence.plans)),
      wanted_(sequence.hooks->AllWanted()) {
  request_.ids = ids_;
}

bool RecordedRows::CanRecord(const SequencePass& sequence, const PassParts& parts) {
  const RunRequest& request = *sequence.request;
  const ModelConfig& config = parts.config;
  if (!request.rerun || !sequence.keeps() || sequence.end_layer != config.layers ||
      request.likeliest > 0 || request.ratios || config.HasMixers()) {
    return false;
  }
  const int64_t first_layer = sequence.FirstLayer();
  const int64_t first_row = sequence.first_row.back();
  const auto from = sequence.first_row.begin() + first_layer;
  // The first layer's input depends on tokens, which are in host memory.
  if (first_layer == 0 || sequence.rows - first_row > ForwardPass::kLogitRows ||
      sequence.first_row != sequence.changed_row ||
      std::any_of(from, sequence.first_row.end(),
                  [first_row](int64_t row) { return row != first_row; })) {
    return false;
  }
  if (config.latent.used() || config.layer_input_width > 0 || !config.experts.layers.empty() ||
      !OnOneDevice(parts.devices, first_layer, config.layers)) {
    return false;
  }
  return std::all_of(sequence.plans.begin() + first_layer, sequence.plans.end(), StaysOnDevice) &&
         !Amounts(sequence).empty() && CanShow(sequence, config);
}

bool RecordedRows::IsLike(const SequencePass& sequence) const {
  return static_cast<int64_t>(ids_.size()) == sequence.rows &&
         request_.prompt_tokens == sequence.request->prompt_tokens &&
         request_.first_logit_row == sequence.request->first_logit_row &&
         first_row_ == sequence.first_row && plans_ == WithoutFactors(sequence.plans) &&
         wanted_ == sequence.hooks->AllWanted();
}

void RecordedRows::Pass(const PassParts& parts) {
  std::vector<SequencePass> sequences;
  sequences.push_back(
      PrepareSequence(request_, 0, parts.config, parts.dtype, parts.devices.Devices()));
  SequencePass& sequence = sequences.front();
  shown_.clear();
  sequence.recorded = &shown_;
  sequence.channel_amounts.resize(sequence.plans.size());
  int64_t begin = 0;
  VisitChannels(sequence, [&](size_t layer, const std::vector<ScaledChannel>& channels) {
    const auto count = static_cast<int64_t>(channels.size());
    sequence.channel_amounts[layer] = amounts_.narrow(0, begin, count);
    begin += count;
  });
  const JobContext quiet;
  ForwardPass pass(parts, quiet);
  pass.Run(sequences);
  logits_ = pass.LogitsOnDevice(sequence, sequence.first_reported_row());
}

void RecordedRows::Show(const SequencePass& sequence) const {
  ShownCopies copies;
  for (const ShownRows& shown : shown_) {
    const at::Tensor& rows = shown.rows;
    const at::Tensor copy =
        at::empty(rows.sizes(), rows.options().device(at::kCPU).pinned_memory(rows.is_cuda()));
    HookView view = shown.view;
    view.sequence = sequence.index;
    view.data = copy.data_ptr();
    copies.Add(*sequence.hooks, view, rows, copy, /*steady=*/true);
  }
  copies.TellAll();
}

bool RecordedRows::Record(const PassParts& parts) {
  work_ = parts.devices.Of(parts.config.layers).Record([this, parts] { Pass(parts); });
  refused_ = !work_;
  return !refused_;
}

at::Tensor RecordedRows::Run(const SequencePass& sequence, const PassParts& parts) {
  if (refused_) return {};
  const std::vector<float> amounts = Amounts(sequence);
  const at::Tensor on_host = at::tensor(at::ArrayRef<float>(amounts));
  if (!amounts_.defined()) {
    amounts_ = on_host.to(parts.devices.Of(parts.config.layers).device(), /*non_blocking=*/false,
                          /*copy=*/true);
  } else {
    amounts_.copy_(on_host);
  }
  request_.hooks = sequence.request->hooks;
  if (!work_ && !Record(parts)) return {};
  work_->Start();
  ++starts_;
  Show(sequence);
  return logits_;
}

at::Tensor RunRecorded(std::span<const SequencePass> sequences, const PassParts& parts) {
  const SequencePass& sequence = sequences.front();
  if (sequences.size() != 1 || !RecordedRows::CanRecord(sequence, parts)) return {};
  std::shared_ptr<RecordedRows>& recorded = sequence.trace->storage().recorded;
  if (recorded && recorded->IsLike(sequence)) return recorded->Run(sequence, parts);
  recorded = std::make_shared<RecordedRows>(sequence);
  return {};
}

}  // namespace midscope
