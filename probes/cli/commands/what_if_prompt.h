// SPDX-License-Identifier: MIT
// The prompt of `midscope whatif`: one setting per line, its outcome at once.
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
  // At a terminal: lines are read during a run, the newest supersedes it; errors and Ctrl-C do not
  // end the program. Otherwise each line waits for the one before, and the first error ends it.
  bool terminal = false;
  bool keep_going = false;             // away from a terminal: continue after failed lines
  int64_t top = 5;                     // most likely next tokens shown
  int64_t layers = 0;                  // of the model
  std::vector<Record> prompt_records;  // of the engine's prompt request
  Provenance provenance;               // of what `out` writes
};

class WhatIfPrompt {
 public:
  // `engine` must have a model open and a prompt request of one prompt. Lines come from the
  // descriptor `input`. `interrupted` (Ctrl-C) is reset when handled; `job` ends the prompt when it
  // is cancelled, and gets messages.
  WhatIfPrompt(std::unique_ptr<Engine> engine, WhatIfPromptOptions options, int input,
               std::ostream& out, std::atomic<bool>& interrupted, const JobContext& job);
  ~WhatIfPrompt();
  WhatIfPrompt(const WhatIfPrompt&) = delete;
  WhatIfPrompt& operator=(const WhatIfPrompt&) = delete;

  // Reads all lines. Throws Error (failure) with the line's number if a line fails away from a
  // terminal and keep_going is not set; Cancelled.
  void Run();

 private:
  using ReplyPointer = EngineService::ReplyPointer;

  // A requested setting.
  struct Asked {
    int64_t line = 0;  // 0: the run of `none` before the first line
    std::string text;
    Intervention intervention;
  };

  bool MayReadOn() const { return options_.terminal || requested_.empty(); }
  // Waits for input, a reply or a signal, and handles it.
  void Wait();
  void HeedSignals();
  // False: the prompt ends.
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
  std::map<uint64_t, Asked> requested_;  // running or waiting, by ticket
  std::vector<Intervention> history_;    // requested settings; undo removes the last
  std::vector<WhatIfOutcomeRow> tried_;  // each setting once, in the order of its first outcome
  std::optional<double> plain_nll_;      // of `none`
  std::string why_not_plain_;            // its first run failed
  std::vector<Record> shown_;            // of the last outcome
  std::string shown_setting_;
  std::mutex mutex_;
  std::deque<ReplyPointer> replies_;        // guarded by mutex_
  int wake_[2] = {-1, -1};                  // a pipe: one byte per reply
  std::unique_ptr<EngineService> service_;  // last: its thread uses the members above
};

}  // namespace midscope::cli
