// SPDX-License-Identifier: MIT
// A probe measures one quantity in a run of a prompt. It has options, hooks, and a function that
// makes a record from the values that the hooks read. Probes in the same run share one prefill;
// each adds only the cost of the values that its hooks request.
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

// The inputs of a probe. The referenced objects must outlive the probe.
struct ProbeInput {
  const Decoder& decoder;
  const Prompt& prompt;
  const Intervention& intervention;
  const OptionSet& options;             // includes the options of the probe's type
  const JobContext* context = nullptr;  // for probes that run the decoder themselves; may be null

  int64_t prompt_tokens() const { return static_cast<int64_t>(prompt.ids.size()); }
};

class Probe {
 public:
  Probe() = default;
  virtual ~Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // The hooks that read values during the run; the probe owns them. Empty if Finish() only needs
  // the result.
  virtual std::vector<Hook*> Hooks() { return {}; }
  // Makes the record; called once, after the run. `result` has the logits from the last prompt row
  // on; it is empty if all probes run the decoder themselves. Throws Error, Cancelled.
  virtual Record Finish(const RunResult& result) = 0;
};

// Describes a kind of probe.
struct ProbeType {
  std::string name;          // the name of the probe's record
  std::string summary;       // one line for help
  std::string source{};      // the paper, with its equation or figure
  std::string departures{};  // differences between paper and public code
  std::string limits{};      // behaviour for grouped heads, ALiBi and layers without positions
  std::vector<Parameter> options{};
  // Returns whether the options request the probe. If empty, the probe always runs.
  std::function<bool(const OptionSet&)> wanted{};
  bool on_request = false;  // runs only if --probes names it
  bool large = false;       // whether it runs for several prompts only if --probes names it
  bool own_runs = false;    // runs the decoder itself, in Finish; prompts may have any length
  // Makes the probe. Throws Error if an option does not fit the model, or the prompt has nothing to
  // measure (no answer, for example).
  std::function<std::unique_ptr<Probe>(const ProbeInput&)> make{};
  // Makes additional records from the probe's records for several prompts, stacked over [sample,
  // place, ...] (record_stack.h). If empty, no additional records are made.
  std::function<std::vector<Record>(const Record& stacked)> summarise{};
};

}  // namespace midscope
