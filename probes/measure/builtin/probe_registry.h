// SPDX-License-Identifier: MIT
// A list of probe types. The list is a value type: tests add probes to a copy.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "probes/base/probe.h"

namespace midscope {

class ProbeRegistry {
 public:
  // Adds a probe type. Throws std::logic_error for a duplicate name.
  void Add(ProbeType type);
  const std::vector<ProbeType>& types() const { return types_; }
  // Finds a probe type by name. Throws Error (usage), which suggests the nearest name, if there is
  // none.
  const ProbeType& Find(std::string_view name) const;
  // Returns the option --probes, then the options of all probes in the order of types().
  std::vector<Parameter> Options() const;
  // Returns the probes that `options` select, in the order of types(): those that --probes names
  // (`default`: all that run by default) or, without --probes, all that run by default; and always
  // those that their own options request. With `several_prompts`, probes with large records run
  // only if named. Throws Error (usage) for an unknown name, or for a named probe that its options
  // do not request.
  std::vector<const ProbeType*> Selected(const OptionSet& options,
                                         bool several_prompts = false) const;
  // Throws Error (usage) if an option of a probe that is not selected is set.
  void RefuseUnusedOptions(const OptionSet& options,
                           const std::vector<const ProbeType*>& selected) const;

 private:
  std::vector<ProbeType> types_;
};

// Returns the built-in probes, in the order in which their records are written.
ProbeRegistry BuiltInProbes();

}  // namespace midscope
