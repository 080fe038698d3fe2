// SPDX-License-Identifier: MIT
// A list of probe types. A value: plugins add theirs to a copy.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "probes/base/probe.h"

namespace midscope {

class ProbeRegistry {
 public:
  // Throws std::logic_error for a duplicate name.
  void Add(ProbeType type);
  const std::vector<ProbeType>& types() const { return types_; }
  // Throws Error (usage) with the nearest known name.
  const ProbeType& Find(std::string_view name) const;
  // --probes, then the options of all probes in their order.
  std::vector<Parameter> Options() const;
  // The probes that `options` select, in their order: without --probes all that run by default,
  // else those that it names (`default`: all that run by default); and always those whose own
  // options request them. With `several_prompts` large ones only if they are named. Throws Error
  // (usage) for an unknown name, and for a named probe whose options request nothing.
  std::vector<const ProbeType*> Selected(const OptionSet& options,
                                         bool several_prompts = false) const;
  // Throws Error (usage) if an option is set of a probe that is not selected.
  void RefuseUnusedOptions(const OptionSet& options,
                           const std::vector<const ProbeType*>& selected) const;

 private:
  std::vector<ProbeType> types_;
};

// Midscope's own probes, in the order in which their records are written.
ProbeRegistry BuiltInProbes();

}  // namespace midscope
