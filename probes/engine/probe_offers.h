// SPDX-License-Identifier: MIT
// Lists the probes that a window can offer, and notes options in records.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "probes/engine/engine.h"
#include "probes/measure/builtin/probe_registry.h"

namespace midscope {

// Returns the probes that run only on request or have options.
std::vector<ProbeOffer> Offers(const ProbeRegistry& probes);

// Writes the options of its probe to each record.
void NoteOptions(const ProbeRegistry& probes, const OptionSet& options,
                 std::vector<Record>& records);

}  // namespace midscope
