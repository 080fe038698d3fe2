// SPDX-License-Identifier: MIT
#include "probes/probe_registry.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/nearest_word.h"
#include "probes/hidden_channels_probe.h"
#include "probes/last_logits_probe.h"
#include "probes/last_query_attention_probe.h"
#include "probes/next_tokens_probe.h"
#include "probes/position_awareness_probe.h"
#include "probes/position_ratio_probe.h"
#include "probes/residual_rows_probe.h"

namespace midscope {

void ProbeRegistry::Add(ProbeType type) {
  const bool taken = std::any_of(types_.begin(), types_.end(),
                                 [&](const ProbeType& known) { return known.name == type.name; });
  if (taken) throw std::logic_error("probe '" + type.name + "' is registered twice");
  types_.push_back(std::move(type));
}

const ProbeType& ProbeRegistry::Find(std::string_view name) const {
  std::vector<std::string> known;
  for (const ProbeType& type : types_) {
    if (type.name == name) return type;
    known.push_back(type.name);
  }
  throw UsageError("probe '" + std::string(name) + "'", "there is no such probe",
                   KnownWordsHint(name, known));
}

std::vector<OptionDescription> ProbeRegistry::Options() const {
  std::vector<OptionDescription> all;
  for (const ProbeType& type : types_) {
    all.insert(all.end(), type.options.begin(), type.options.end());
  }
  return all;
}

ProbeRegistry BuiltInProbes() {
  ProbeRegistry registry;
  registry.Add(LastQueryAttentionProbe());
  registry.Add(PositionAwarenessProbe());
  registry.Add(PositionRatioProbe());
  registry.Add(HiddenChannelsProbe());
  registry.Add(ResidualRowsProbe());
  registry.Add(NextTokensProbe());
  registry.Add(LastLogitsProbe());
  return registry;
}

}  // namespace midscope
