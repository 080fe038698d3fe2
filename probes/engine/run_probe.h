// SPDX-License-Identifier: MIT
// Runs one prompt through the model once, with the hooks of all probes.
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"
#include "probes/plugin/probe_registry.h"

namespace midscope {

// Returns the records of those of `probes` that `options` request, in their order, and where the
// prompt has an answer the record `answer` (answer_record.h). `options` describes at least
// probes.Options(). Throws Error (also if the prompt does not fit the model's context), Cancelled.
std::vector<Record> RunProbes(const Decoder& decoder, const Prompt& prompt,
                              const Intervention& intervention, const ProbeRegistry& probes,
                              const OptionSet& options, const JobContext& context = {});

// As above, for these types of probe. If all of them make runs of their own there is no shared run,
// no record `answer`, and the prompt may have any length.
std::vector<Record> RunProbeTypes(const Decoder& decoder, const Prompt& prompt,
                                  const Intervention& intervention,
                                  const std::vector<const ProbeType*>& types,
                                  const OptionSet& options, const JobContext& context = {});

// As above, but a failing probe does not end the others: their records are returned, and its
// message is added to `failures`. Throws Error if the setting, the prompt or the run itself fails,
// Cancelled.
std::vector<Record> RunProbesApart(const Decoder& decoder, const Prompt& prompt,
                                   const Intervention& intervention,
                                   const std::vector<const ProbeType*>& types,
                                   const OptionSet& options, const JobContext& context,
                                   std::vector<std::string>& failures);

}  // namespace midscope
