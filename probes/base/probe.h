// SPDX-License-Identifier: MIT
// A probe is one thing to measure in a run of a prompt: the options it takes, the hooks it needs,
// and how it turns what it saw into a record. Probes of one run share one prefill; each costs only
// what it asks for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/decoder/hooks.h"
#include "core/intervention/intervention.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// What a probe is made for. The references outlive the probe.
struct ProbeInput {
  const Decoder& decoder;
  const Prompt& prompt;
  const Intervention& intervention;
  const OptionSet& options;             // holds at least what the probe's type describes
  const JobContext* context = nullptr;  // for probes with runs of their own; may be null

  int64_t prompt_tokens() const { return static_cast<int64_t>(prompt.ids.size()); }
};

class Probe {
 public:
  Probe() = default;
  virtual ~Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // What reads along while the prompt runs, owned by the probe; none where the result is enough.
  virtual std::vector<Hook*> Hooks() { return {}; }
  // Called once, after the run. `result` holds the logits from the last prompt row on; nothing
  // where all probes make their own runs. Throws Error, Cancelled.
  virtual Record Finish(const RunResult& result) = 0;
};

// A kind of probe.
struct ProbeType {
  std::string name;          // the name of its record
  std::string summary;       // one line for help
  std::string source{};      // the paper, with its equation or figure
  std::string departures{};  // what the paper's public code does otherwise
  std::string limits{};      // what grouped heads, ALiBi and layers without positions mean for it
  std::vector<OptionDescription> options{};
  // Whether the options ask for it; empty: it always runs.
  std::function<bool(const OptionSet&)> wanted{};
  bool on_request = false;  // runs only where --probes names it
  bool large = false;       // with several prompts too: its record is large
  bool own_runs = false;    // runs the decoder itself, in Finish, and takes prompts of any length
  // Throws Error where an option does not fit the model, or the prompt lacks what is measured.
  std::function<std::unique_ptr<Probe>(const ProbeInput&)> make{};
  // The library that brought it (a file's name); empty for those that come with Midscope.
  std::string plugin{};
  // What several prompts show together, from their records stacked [sample, place, ...]
  // (record_stack.h). Empty: nothing more.
  std::function<std::vector<Record>(const Record& stacked)> summarise{};
};

}  // namespace midscope
