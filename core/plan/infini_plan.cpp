// SPDX-License-Identifier: MIT
#include "core/plan/infini_plan.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/plan/plan_checks.h"

namespace midscope {
namespace {

constexpr const char* kTerm = "infini";

void CheckGates(const std::vector<double>& gates, int64_t heads) {
  const auto count = static_cast<int64_t>(gates.size());
  if (count != 1 && count != heads) {
    throw UsageError(kTerm,
                     std::to_string(count) + " gates for " + std::to_string(heads) + " heads",
                     "Give one gate, or one for each query head");
  }
  const bool inside =
      std::all_of(gates.begin(), gates.end(), [](double gate) { return gate >= 0 && gate <= 1; });
  if (!inside) {
    throw UsageError(kTerm, "a gate is the memory's share of a head's output", "Give 0 to 1");
  }
}

void CheckSegment(const InfiniAttention& scheme, const ModelConfig& config) {
  if (scheme.segment < 1) throw UsageError(kTerm, "segment must be at least 1 token");
  if (config.trained_context > 0 && scheme.segment > config.trained_context) {
    throw UsageError(kTerm,
                     "segments of " + std::to_string(scheme.segment) +
                         " tokens are longer than the model's context",
                     "Give at most " + std::to_string(config.trained_context));
  }
}

}  // namespace

void ApplyInfiniAttention(const InfiniAttention& scheme, const Intervention& intervention,
                          const ModelConfig& config, std::vector<AttentionPlan>& plans) {
  CheckSegment(scheme, config);
  CheckGates(scheme.gates, config.heads);
  if (!intervention.crops.empty() || !intervention.moves.empty() || !intervention.boosts.empty()) {
    throw UsageError(kTerm,
                     "it does not go together with crop, move or boost: what is in the memory has "
                     "no tokens any more",
                     "Leave one of the two out");
  }
  CheckNoWindow(plans, kTerm, ": tokens of a segment that are beyond would be in neither part");
  CompressiveMemory memory{scheme.segment, scheme.gates, scheme.update};
  if (memory.gates.size() == 1)
    memory.gates.assign(static_cast<size_t>(config.heads), scheme.gates.front());
  for (AttentionPlan& plan : plans) plan.memory = memory;
}

int64_t SegmentStart(const CompressiveMemory& memory, int64_t row) {
  return row / memory.segment * memory.segment;
}

std::vector<RowRange> SegmentParts(const CompressiveMemory& memory, RowRange rows) {
  std::vector<RowRange> parts;
  for (int64_t first = rows.first; first < rows.last; first = parts.back().last)
    parts.push_back({first, std::min(rows.last, SegmentStart(memory, first) + memory.segment)});
  return parts;
}

std::vector<float> LocalShares(const CompressiveMemory& memory) {
  std::vector<float> shares(memory.gates.size());
  std::transform(memory.gates.begin(), memory.gates.end(), shares.begin(),
                 [](double gate) { return static_cast<float>(1.0 - gate); });
  return shares;
}

}  // namespace midscope
