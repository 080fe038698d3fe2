// SPDX-License-Identifier: MIT
// Probes that a window can offer, and the options that made a record.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "probes/engine/engine.h"
#include "probes/plugin/probe_registry.h"

namespace midscope {

// Probes that run on request or have options.
std::vector<ProbeOffer> Offers(const ProbeRegistry& probes);

// Writes the probe's options to each record.
void NoteOptions(const ProbeRegistry& probes, const OptionSet& options,
                 std::vector<Record>& records);

}  // namespace midscope
