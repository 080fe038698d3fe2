// SPDX-License-Identifier: MIT
// The interactive prompt of `midscope whatif`: reads one setting per line and prints its outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "probes/cli/console/terminal.h"
#include "probes/cli/text/what_if_text.h"
#include "probes/engine/engine_service.h"

namespace midscope::cli {

struct WhatIfPromptOptions {
  bool json = false;
  // Whether the input is a terminal. If true, lines are also read during a run, and the newest one
  // supersedes the running one; errors and Ctrl-C do not end the program. If false, each line waits
  // until the previous one has finished, and the first error ends the program.
  bool terminal = false;
  bool keep_going = false;             // if not a terminal: continue after lines that fail
  int64_t top = 5;                     // number of likeliest next tokens to show
  int64_t layers = 0;                  // number of layers of the model
  std::vector<Record> prompt_records;  // records `prompt` that the engine's SetPrompt returned
  Provenance provenance;               // for files that the command `out` writes
};

class WhatIfPrompt {
 public:
  // `engine` must have an open model and exactly one prompt. Lines are read from the descriptor
  // `input`. `interrupted` (Ctrl-C) is reset when it is handled. `job` gets messages; cancelling it
  // ends the prompt.
  WhatIfPrompt(std::unique_ptr<Engine> engine, WhatIfPromptOptions options, int input,
               std::ostream& out, std::atomic<bool>& interrupted, const JobContext& job);
  ~WhatIfPrompt();
  WhatIfPrompt(const WhatIfPrompt&) = delete;
  WhatIfPrompt& operator=(const WhatIfPrompt&) = delete;

  // Reads all lines. Throws Error (failure) with the line's number if a line fails without a
  // terminal and keep_going is not set; Cancelled.
  void Run();

 private:
  using ReplyPointer = EngineService::ReplyPointer;

  // A setting that the user requested.
  struct Asked {
    int64_t line = 0;  // number of the input line; 0: the initial run of `none`
    std::string text;
    Intervention intervention;
  };

  bool MayReadOn() const { return options_.terminal || requested_.empty(); }
  // Waits for input, a reply or a signal, and handles the first that arrives.
  void Wait();
  void HeedSignals();
  // Handles an input line; returns false if the program should end.
  bool Handle(const std::string& line);
  void Ask(const std::string& text);
  void Post(Asked asked);
  void Undo();
  void SaveRecords(const std::string& path) const;
  void OnReply(const EngineReply& reply);
  void OnOutcome(const Asked& asked, const EngineReply& reply);
  void Fail(int64_t line, const std::string& text, const std::string& why);
  void Print(const std::string& text);
  void Invite() const;
  ReplyPointer TakeReply();

  WhatIfPromptOptions options_;
  std::unique_ptr<LineSource> lines_;
  std::ostream& out_;
  std::atomic<bool>& interrupted_;
  const JobContext& job_;
  int64_t line_ = 0;
  std::map<uint64_t, Asked> requested_;  // running or waiting requests by ticket
  std::vector<Intervention> history_;    // requested settings; undo removes the last
  std::vector<WhatIfOutcomeRow> tried_;  // each setting once, in the order of its first outcome
  std::optional<double> plain_nll_;      // answer_nll of `none`
  std::string why_not_plain_;            // reason why the run of `none` failed
  std::vector<Record> shown_;            // records of the last outcome
  std::string shown_setting_;
  std::mutex mutex_;
  std::deque<ReplyPointer> replies_;        // guarded by mutex_
  int wake_[2] = {-1, -1};                  // a pipe: one byte per reply
  std::unique_ptr<EngineService> service_;  // last member, because its thread uses the others
};

}  // namespace midscope::cli
