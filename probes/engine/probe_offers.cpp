// SPDX-License-Identifier: MIT
#include "probes/engine/probe_offers.h"

#include <set>
#include <string>

#include "core/base/record_names.h"
#include "probes/measure/builtin/probes.h"

namespace midscope {
namespace {

// Whether a window offers the probe: not if the request sets its options itself, or if a window
// does not draw its record.
bool IsOffered(const ProbeType& type) {
  if (type.name == kHiddenChannelsRecord || type.name == kLastLogits) return false;
  return type.on_request || !type.options.empty();
}

}  // namespace

std::vector<ProbeOffer> Offers(const ProbeRegistry& probes) {
  std::vector<ProbeOffer> offers;
  std::set<std::string> offered;  // an option that probes share has one field, that of the first
  for (const ProbeType& type : probes.types()) {
    if (!IsOffered(type)) continue;
    std::vector<Parameter> own;
    for (const Parameter& option : type.options) {
      if (offered.insert(option.name).second) own.push_back(option);
    }
    offers.push_back(
        {type.name, type.summary, type.source, type.departures, type.limits, type.on_request, own});
  }
  return offers;
}

void NoteOptions(const ProbeRegistry& probes, const OptionSet& options,
                 std::vector<Record>& records) {
  for (const ProbeType& type : probes.types()) {
    if (type.options.empty()) continue;
    OptionSet own(type.options);
    for (const Parameter& option : type.options) {
      if (options.IsSet(option.name)) own.Set(option.name, options.Value(option.name));
    }
    for (Record& record : records) {
      if (record.name == type.name) record.attributes["options"] = own.ToJson();
    }
  }
}

}  // namespace midscope
