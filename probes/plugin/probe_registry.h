// SPDX-License-Identifier: MIT
// The probes that there are. A value: whoever brings probes of their own adds them to a copy.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "probes/base/probe.h"

namespace midscope {

class ProbeRegistry {
 public:
  // Throws std::logic_error for a name that stands twice.
  void Add(ProbeType type);
  const std::vector<ProbeType>& types() const { return types_; }
  // Throws Error (usage), with the nearest known name.
  const ProbeType& Find(std::string_view name) const;
  // --probes, and the options of all probes in the order of the probes.
  std::vector<OptionDescription> Options() const;
  // Those that `options` ask for, in their order: all that run unasked where --probes is not given,
  // else those that it names (`default`: all that run unasked); and always those whose own option
  // asks for them. With `several_prompts` the large ones only where they are named. Throws Error
  // (usage) for an unknown name, and a named probe whose options ask for nothing.
  std::vector<const ProbeType*> Selected(const OptionSet& options,
                                         bool several_prompts = false) const;
  // Throws Error (usage) where an option is set of a probe that is not among those that run.
  void RefuseUnusedOptions(const OptionSet& options,
                           const std::vector<const ProbeType*>& selected) const;

 private:
  std::vector<ProbeType> types_;
};

// Those that come with Midscope, in the order in which their records are written.
ProbeRegistry BuiltInProbes();

}  // namespace midscope
