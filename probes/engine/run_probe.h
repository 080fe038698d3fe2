// SPDX-License-Identifier: MIT
// Runs a prompt through the model once, with the hooks of all probes.
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"
#include "probes/engine/engine.h"
#include "probes/measure/builtin/probe_registry.h"

namespace midscope {

// Returns the records of the probes that `options` request, in the order of `probes`, and record
// `answer` (AnswerRecord) if the prompt has an answer. `options` must include probes.Options().
// Throws Error (also if the prompt does not fit the model's context), Cancelled.
std::vector<Record> RunProbes(const Decoder& decoder, const Prompt& prompt,
                              const Intervention& intervention, const ProbeRegistry& probes,
                              const OptionSet& options, const JobContext& context = {});

// Returns the records of the probes of the given types, and record `answer` if the prompt has an
// answer. If all of them run the decoder themselves, there is no shared run and no record `answer`,
// and the prompt may have any length. Throws Error, Cancelled.
std::vector<Record> RunProbeTypes(const Decoder& decoder, const Prompt& prompt,
                                  const Intervention& intervention,
                                  const std::vector<const ProbeType*>& types,
                                  const OptionSet& options, const JobContext& context = {});

// Returns the records of the probes of the given types that succeed, and record `answer` if the
// prompt has an answer; the messages of probes that fail are added to `failures`. `hooks` of the
// caller run after those of the probes. Throws Error only if the setting or the prompt is invalid
// or the run itself fails; Cancelled.
std::vector<Record> RunProbesApart(const Decoder& decoder, const Prompt& prompt,
                                   const Intervention& intervention,
                                   const std::vector<const ProbeType*>& types,
                                   const OptionSet& options, const JobContext& context,
                                   std::vector<std::string>& failures,
                                   const std::vector<Hook*>& hooks = {});

// Returns the probes that a window can offer: those that run only on request or have options.
std::vector<ProbeOffer> Offers(const ProbeRegistry& probes);

// Writes to each record, as attribute `options`, the options of the probe that made the record.
void NoteOptions(const ProbeRegistry& probes, const OptionSet& options,
                 std::vector<Record>& records);

}  // namespace midscope
