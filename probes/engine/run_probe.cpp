// SPDX-License-Identifier: MIT
#include "probes/engine/run_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/intervention/passage.h"
#include "core/run/scoring.h"
#include "probes/measure/builtin/probes.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/prompt/prompt_record.h"

namespace midscope {
namespace {

using Types = std::vector<const ProbeType*>;

// Runs `work`. If `failures` is given and `work` throws Error, adds the message to `failures` and
// returns false, except for errors of a device, which affect all probes.
template <typename Work>
bool Alone(std::vector<std::string>* failures, Work work) {
  try {
    work();
    return true;
  } catch (const DeviceError&) {
    throw;
  } catch (const Error& error) {
    if (!failures) throw;
    failures->push_back(error.what());
    return false;
  }
}

bool SharesRun(const Types& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const ProbeType* type) { return !type->own_runs; });
}

// Runs the prompt once for all `types`. If `failures` is given, omits probes that fail before or
// after the run; an Error of the run itself is thrown.
std::vector<Record> RunTogether(const ProbeInput& input, const Types& types,
                                std::vector<std::string>* failures,
                                const std::vector<Hook*>& more_hooks = {}) {
  std::vector<std::unique_ptr<Probe>> running;
  RunRequest request;
  Types made;
  for (const ProbeType* type : types) {
    Alone(failures, [&] {
      std::unique_ptr<Probe> probe = type->make(input);
      const std::vector<Hook*> hooks = probe->Hooks();
      request.hooks.insert(request.hooks.end(), hooks.begin(), hooks.end());
      running.push_back(std::move(probe));
      made.push_back(type);
    });
  }
  request.hooks.insert(request.hooks.end(), more_hooks.begin(), more_hooks.end());
  const std::vector<int32_t> ids = IdsToScore(input.prompt.ids, input.prompt.answer_ids);
  request.ids = ids;
  request.prompt_tokens = input.prompt_tokens();
  request.intervention = input.intervention;
  const bool shared_run = SharesRun(made) || !more_hooks.empty();
  RunResult result;
  if (shared_run) result = input.decoder.RunOne(request, *input.context);

  std::vector<Record> records;
  records.reserve(running.size() + 1);
  for (const std::unique_ptr<Probe>& probe : running) {
    Alone(failures, [&] { records.push_back(probe->Finish(result)); });
  }
  if (shared_run && !input.prompt.answer_ids.empty()) {
    records.push_back(AnswerRecord(
        input.prompt, ScoreAnswer(result, input.prompt_tokens(), input.prompt.answer_ids)));
  }
  return records;
}

// Marks the records of a run beyond the context; probes that run the decoder themselves mark
// theirs.
std::vector<Record> MarkedByContext(std::vector<Record> records, const Decoder& decoder,
                                    const Prompt& prompt, const Intervention& intervention,
                                    const Types& types) {
  if (!SharesRun(types) || !decoder.config().beyond_context) return records;
  const bool beyond = PromptIsBeyondContext(decoder.config(), prompt, intervention);
  for (Record& record : records) {
    const bool own_run = std::any_of(types.begin(), types.end(), [&](const ProbeType* type) {
      return type->own_runs && type->name == record.name;
    });
    if (!own_run) record.attributes["beyond_context"] = int64_t{beyond ? 1 : 0};
  }
  return records;
}

}  // namespace

std::vector<Record> RunProbes(const Decoder& decoder, const Prompt& prompt,
                              const Intervention& intervention, const ProbeRegistry& probes,
                              const OptionSet& options, const JobContext& context) {
  const Types types = probes.Selected(options);
  if (SharesRun(types) && decoder.config().beyond_context) {
    LogBeyondContext(decoder.config(), prompt, intervention, context);
  }
  return RunProbeTypes(decoder, prompt, intervention, types, options, context);
}

std::vector<Record> RunProbeTypes(const Decoder& decoder, const Prompt& prompt,
                                  const Intervention& intervention, const Types& types,
                                  const OptionSet& options, const JobContext& context) {
  if (SharesRun(types)) CheckPromptFits(decoder.config(), prompt, intervention);
  LogBytesWithoutToken(prompt, context);
  const Intervention resolved = ResolvePassages(intervention, prompt);
  return MarkedByContext(
      RunTogether({decoder, prompt, resolved, options, &context}, types, nullptr), decoder, prompt,
      intervention, types);
}

std::vector<Record> RunProbesApart(const Decoder& decoder, const Prompt& prompt,
                                   const Intervention& intervention, const Types& types,
                                   const OptionSet& options, const JobContext& context,
                                   std::vector<std::string>& failures,
                                   const std::vector<Hook*>& hooks) {
  if (SharesRun(types)) CheckPromptFits(decoder.config(), prompt, intervention);
  LogBytesWithoutToken(prompt, context);
  const Intervention resolved = ResolvePassages(intervention, prompt);
  const ProbeInput input{decoder, prompt, resolved, options, &context};
  Types usual;
  Types others;
  for (const ProbeType* type : types) (type->on_request ? others : usual).push_back(type);
  std::vector<std::string> found;
  try {
    std::vector<Record> records = RunTogether(input, types, &found, hooks);
    failures.insert(failures.end(), found.begin(), found.end());
    return MarkedByContext(std::move(records), decoder, prompt, intervention, types);
  } catch (const DeviceError&) {
    throw;
  } catch (const Error&) {
    if (others.empty() || !hooks.empty()) throw;
  }
  // The run failed, perhaps in a hook: repeats it without each probe in turn to find the probe.
  std::vector<Record> records = RunTogether(input, usual, &failures);
  for (const ProbeType* type : others) {
    Alone(&failures, [&] {
      for (Record& record : RunTogether(input, {type}, &failures)) {
        if (record.name == type->name) records.push_back(std::move(record));
      }
    });
  }
  return MarkedByContext(std::move(records), decoder, prompt, intervention, types);
}

namespace {

// Returns whether a window offers the probe: not if the request sets the probe's options itself, or
// if the window does not draw its record.
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
