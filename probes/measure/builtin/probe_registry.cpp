// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/probe_registry.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "probes/measure/builtin/probes.h"

namespace midscope {
namespace {

constexpr const char* kDefaultProbes = "default";

std::set<std::string> ReadNames(std::string_view text) {
  std::set<std::string> names;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    names.emplace(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

// Returns whether the list has an option of that name, because probes may share an option.
bool HasOption(const std::vector<Parameter>& options, const std::string& name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const Parameter& option) { return option.name == name; });
}

}  // namespace

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
  throw UsageError("probe '" + std::string(name) + "'", "the probe is unknown",
                   KnownWordsHint(name, known));
}

std::vector<Parameter> ProbeRegistry::Options() const {
  std::vector<Parameter> all = {
      TextParameter("probes",
                    "which probes run, by name, joined by commas; default: those that run when "
                    "nothing is said")};
  for (const ProbeType& type : types_) {
    for (const Parameter& option : type.options) {
      if (!HasOption(all, option.name)) all.push_back(option);
    }
  }
  return all;
}

std::vector<const ProbeType*> ProbeRegistry::Selected(const OptionSet& options,
                                                      bool several_prompts) const {
  const std::set<std::string> named = ReadNames(options.Text("probes"));
  for (const std::string& name : named) {
    if (name != kDefaultProbes) Find(name);
  }
  const bool unasked = named.empty() || named.contains(kDefaultProbes);
  std::vector<const ProbeType*> selected;
  for (const ProbeType& type : types_) {
    const bool is_named = named.contains(type.name);
    if (type.wanted) {
      const bool wanted = type.wanted(options);
      if (is_named && !wanted) {
        throw UsageError("probe '" + type.name + "'", "none of its options is set",
                         "Give --" + type.options.front().name);
      }
      if (wanted) selected.push_back(&type);
      continue;
    }
    const bool left_out = type.on_request || (several_prompts && type.large);
    if (is_named || (unasked && !left_out)) selected.push_back(&type);
  }
  return selected;
}

void ProbeRegistry::RefuseUnusedOptions(const OptionSet& options,
                                        const std::vector<const ProbeType*>& selected) const {
  for (const ProbeType& type : types_) {
    if (std::find(selected.begin(), selected.end(), &type) != selected.end()) continue;
    for (const Parameter& option : type.options) {
      const bool is_used = std::any_of(
          selected.begin(), selected.end(),
          [&](const ProbeType* other) { return HasOption(other->options, option.name); });
      if (is_used || !options.IsSet(option.name)) continue;
      throw UsageError("option --" + option.name,
                       "it belongs to the probe " + type.name + ", which does not run",
                       "Give --probes " + type.name + " too, or leave it out");
    }
  }
}

ProbeRegistry BuiltInProbes() {
  ProbeRegistry registry;
  registry.Add(LastQueryAttentionProbe());
  registry.Add(PositionAwarenessProbe());
  registry.Add(CountedKeysProbe());
  registry.Add(PositionRatioProbe());
  registry.Add(HiddenChannelsProbe());
  registry.Add(ResidualRowsProbe());
  registry.Add(AttentionRowsProbe());
  registry.Add(NextTokensProbe());
  registry.Add(LastLogitsProbe());
  registry.Add(SpanAttentionProbe());
  registry.Add(KeyInformationProbe());
  registry.Add(HeadScoresProbe());
  registry.Add(LogitLensProbe());
  registry.Add(JacobianLensProbe());
  registry.Add(RetrievalHeadsProbe());
  registry.Add(AnswerAttributionProbe());
  registry.Add(RopeBandsProbe());
  registry.Add(AttentionRolloutProbe());
  registry.Add(SinkShareProbe());
  registry.Add(MassiveActivationsProbe());
  registry.Add(ExpertUseProbe());
  registry.Add(EffectiveAttentionProbe());
  registry.Add(PositionEmbeddingsProbe());
  registry.Add(QrHeadsProbe());
  registry.Add(KeyDriftProbe());
  registry.Add(PositionDirectionProbe());
  registry.Add(PerplexityProbe());
  return registry;
}

}  // namespace midscope
