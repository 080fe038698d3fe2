// SPDX-License-Identifier: MIT
// A probe measures one thing in a run of a prompt: it has options, hooks, and a function that makes
// a record from what they read. Probes of one run share one prefill; each costs only what its hooks
// request.
//
// Example:
//
// clang-format off
//   class LargestLogit : public Probe {
//    public:
//     explicit LargestLogit(const ProbeInput& input) : row_(input.prompt_tokens() - 1) {}
//     Record Finish(const RunResult& result) override {
//       const std::span<const float> logits = result.Logits(row_);
//       Record record;
//       record.name = "largest_logit";
//       record.attributes["logit"] = double{*std::max_element(logits.begin(), logits.end())};
//       return record;
//     }
//
//    private:
//     int64_t row_;
//   };
//
//   ProbeType LargestLogitType() {
//     ProbeType type;
//     type.name = "largest_logit";
//     type.make = [](const ProbeInput& input) { return std::make_unique<LargestLogit>(input); };
//     return type;
//   }
// clang-format on
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

// The inputs of a probe. The references must outlive it.
struct ProbeInput {
  const Decoder& decoder;
  const Prompt& prompt;
  const Intervention& intervention;
  const OptionSet& options;             // holds at least the options of the probe's type
  const JobContext* context = nullptr;  // for probes with runs of their own; may be null

  int64_t prompt_tokens() const { return static_cast<int64_t>(prompt.ids.size()); }
};

class Probe {
 public:
  Probe() = default;
  virtual ~Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // The hooks that read during the run, owned by the probe; empty if the result suffices.
  virtual std::vector<Hook*> Hooks() { return {}; }
  // Called once, after the run. `result` holds the logits from the last prompt row on; it is empty
  // if all probes make their own runs. Throws Error, Cancelled.
  virtual Record Finish(const RunResult& result) = 0;
};

// A kind of probe.
struct ProbeType {
  std::string name;          // the name of its record
  std::string summary;       // one line for help
  std::string source{};      // the paper, with its equation or figure
  std::string departures{};  // differences of the paper's public code
  std::string limits{};      // the effect of grouped heads, ALiBi and layers without positions
  std::vector<Parameter> options{};
  // Whether the options request the probe; empty: it always runs.
  std::function<bool(const OptionSet&)> wanted{};
  bool on_request = false;  // runs only where --probes names it
  bool large =
      false;  // its record is large: with several prompts it runs only where --probes names it
  bool own_runs = false;  // runs the decoder itself, in Finish; prompts may have any length
  // Throws Error if an option does not fit the model, or the prompt lacks what is measured.
  std::function<std::unique_ptr<Probe>(const ProbeInput&)> make{};
  // File name of the plugin's library; empty for Midscope's own probes.
  std::string plugin{};
  // Makes a further record of several prompts' records, stacked [sample, place, ...]
  // (record_stack.h). Empty: none.
  std::function<std::vector<Record>(const Record& stacked)> summarise{};
};

}  // namespace midscope
