// SPDX-License-Identifier: MIT
// What each probe measures, for `midscope probe --list` and `midscope help probes`.
#pragma once

#include <string>

#include "probes/plugin/probe_registry.h"

namespace midscope::cli {

// A paragraph a probe: what it measures, from which paper, what public code does otherwise, what
// grouped heads and other positions mean for it, its options.
std::string ProbeHelp(const ProbeRegistry& probes);

// [{"name", "summary", "source", "plugin": file name or null, "options": [{"name", "help", "unit",
// "allowed", "default"}]}]; a default is as it is written on the command line, null for none.
std::string ProbeListJson(const ProbeRegistry& probes);

// A line a probe.
std::string ProbeSummaries(const ProbeRegistry& probes);

}  // namespace midscope::cli
