// SPDX-License-Identifier: MIT
#include "probes/cli/commands/what_if_prompt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "data/store/run_store.h"
#include "probes/cli/program/help.h"

namespace midscope::cli {
namespace {

// Interval of checks of the interrupt flag, because a signal may reach a thread that does not poll.
constexpr int kSignalMilliseconds = 50;
constexpr const char* kInvitation = "> ";
constexpr std::string_view kBlanks = " \t";

bool Readable(const pollfd& descriptor) {
  return (descriptor.revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

}  // namespace

WhatIfPrompt::WhatIfPrompt(std::unique_ptr<Engine> engine, WhatIfPromptOptions options, int input,
                           std::ostream& out, std::atomic<bool>& interrupted, const JobContext& job)
    : options_(std::move(options)), out_(out), interrupted_(interrupted), job_(job) {
  if (options_.terminal && input == STDIN_FILENO && ::isatty(input) == 1)
    lines_ = MakeTerminalLines(kInvitation);
  if (!lines_) lines_ = std::make_unique<LineReader>(input, options_.terminal ? kInvitation : "");
  if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw Failure("pipe", std::string("it cannot be made: ") + std::strerror(errno));
  EngineService::Listener listener;
  listener.replied = [this](const ReplyPointer& reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(reply);
    // If the pipe is full, the write fails, but the reader is woken by the earlier bytes.
    [[maybe_unused]] const ssize_t written = ::write(wake_[1], "", 1);
  };
  service_ = std::make_unique<EngineService>(std::move(engine), std::move(listener));
}

WhatIfPrompt::~WhatIfPrompt() {
  service_.reset();
  for (const int end : wake_) ::close(end);
}

void WhatIfPrompt::Run() {
  Post({0, "none", {}});
  Invite();
  for (;;) {
    if (MayReadOn()) {
      if (const std::optional<std::string> line = lines_->Next()) {
        ++line_;
        if (!Handle(*line)) return;
        Invite();
        continue;
      }
      if (lines_->at_end() && requested_.empty()) break;
    }
    Wait();
  }
  if (tried_.empty() && !why_not_plain_.empty()) throw Failure("the run of none", why_not_plain_);
}

void WhatIfPrompt::Wait() {
  std::array<pollfd, 2> waited = {{{wake_[0], POLLIN, 0}, {lines_->descriptor(), POLLIN, 0}}};
  const bool reads = MayReadOn() && !lines_->at_end();
  const int ready = ::poll(waited.data(), reads ? 2 : 1, kSignalMilliseconds);
  HeedSignals();
  if (ready <= 0) return;
  if (Readable(waited[0])) {
    std::array<char, 64> bytes;
    while (::read(wake_[0], bytes.data(), bytes.size()) > 0) {
    }
    while (const ReplyPointer reply = TakeReply()) OnReply(*reply);
  }
  if (reads && Readable(waited[1])) lines_->Fill();
}

void WhatIfPrompt::HeedSignals() {
  job_.ThrowIfCancelled();
  if (!interrupted_.exchange(false)) return;
  if (!requested_.empty()) {
    service_->CancelAll();
  } else if (options_.terminal) {
    std::fputs("\n", stderr);
    Invite();
  } else {
    throw Cancelled();
  }
}

WhatIfPrompt::ReplyPointer WhatIfPrompt::TakeReply() {
  const std::lock_guard lock(mutex_);
  if (replies_.empty()) return nullptr;
  ReplyPointer reply = std::move(replies_.front());
  replies_.pop_front();
  return reply;
}

bool WhatIfPrompt::Handle(const std::string& line) {
  const std::string text(Trimmed(line, kBlanks));
  if (text.empty() || text.front() == '#') return true;
  if (text == "quit" || text == "exit") return false;
  try {
    if (text == "help") {
      Print(options_.json ? HelpJson(WhatIfPromptHelp()) : WhatIfPromptHelp());
    } else if (text == "help terms") {
      Print(options_.json ? HelpJson(InterventionHelp()) : InterventionHelp());
    } else if (text == "undo") {
      Undo();
    } else if (text == "compare") {
      Print(options_.json ? TriedJson(tried_, plain_nll_) : TriedText(tried_, plain_nll_));
    } else if (text == "out" || text.starts_with("out ")) {
      SaveRecords(std::string(Trimmed(std::string_view(text).substr(3), kBlanks)));
    } else {
      Ask(text);
    }
  } catch (const Error& error) {
    Fail(line_, text, error.what());
  }
  return true;
}

void WhatIfPrompt::Ask(const std::string& text) { Post({line_, text, ParseIntervention(text)}); }

void WhatIfPrompt::Post(Asked asked) {
  history_.push_back(asked.intervention);
  WhatIfRequest request;
  request.intervention = asked.intervention;
  const uint64_t ticket = service_->Post(request);
  requested_[ticket] = std::move(asked);
}

void WhatIfPrompt::Undo() {
  if (history_.size() < 2) {
    throw UsageError("undo", "this is the first setting");
  }
  history_.pop_back();
  Intervention before = history_.back();
  history_.pop_back();
  Post({line_, "undo", std::move(before)});
}

void WhatIfPrompt::SaveRecords(const std::string& path) const {
  if (path.empty()) throw UsageError("out", "it names no file", "Say out FILE.h5");
  if (shown_.empty())
    throw UsageError("out", "no setting has been run yet", "Give a setting first");
  std::vector<Record> records = shown_;
  // The records of the prompts are written last, because viewers open a file's first record.
  records.insert(records.end(), options_.prompt_records.begin(), options_.prompt_records.end());
  for (Record& record : records) record.attributes["intervention"] = shown_setting_;
  WriteRecords(path, records, options_.provenance);
  job_.Log("file: " + path);
}

void WhatIfPrompt::OnReply(const EngineReply& reply) {
  const auto found = requested_.find(reply.ticket);
  if (found == requested_.end()) return;
  const Asked asked = std::move(found->second);
  requested_.erase(found);
  // A failed setting is not added to the history.
  const bool is_current = history_.size() > 1 && history_.back() == asked.intervention;
  if (reply.outcome.end != JobEnd::kDone && is_current) history_.pop_back();
  const bool replaced = !requested_.empty() && requested_.rbegin()->first > reply.ticket;
  switch (reply.outcome.end) {
    case JobEnd::kDone:
      OnOutcome(asked, reply);
      break;
    case JobEnd::kCancelled:
      if (!replaced) Fail(asked.line, asked.text, "cancelled");
      break;
    case JobEnd::kFailed:
      if (asked.line == 0) {
        // Other settings may still work: position schemes may allow positions beyond the context.
        why_not_plain_ = reply.outcome.why;
        // The remedy is printed only when a line fails for the same reason.
        job_.Log("no changes against none: " + reply.outcome.problem);
        Invite();
        break;
      }
      Fail(asked.line, asked.text, reply.outcome.why);
      break;
  }
}

void WhatIfPrompt::OnOutcome(const Asked& asked, const EngineReply& reply) {
  WhatIfOutcomeRow row = OutcomeRow(reply, options_.top);
  if (asked.intervention.empty() && !std::isnan(row.answer_nll)) plain_nll_ = row.answer_nll;
  shown_ = reply.records;
  shown_setting_ = row.setting;
  const auto same = std::find_if(tried_.begin(), tried_.end(), [&](const WhatIfOutcomeRow& other) {
    return other.setting == row.setting;
  });
  // Scripts get exactly one outcome per input line; the initial run of `none` has no line.
  if (asked.line > 0 || options_.terminal) {
    Print(options_.json ? WhatIfJson(row, plain_nll_, asked.text)
                        : WhatIfText(row, plain_nll_, options_.layers));
  }
  if (same == tried_.end()) {
    tried_.push_back(std::move(row));
  } else {
    *same = std::move(row);
  }
}

// Reports an input line that failed; without a terminal, this may end the program.
void WhatIfPrompt::Fail(int64_t line, const std::string& text, const std::string& why) {
  if (options_.json) Print(LineErrorJson(line, text, why));
  const std::string where = line > 0 ? fmt::format("line {}", line) : "the run of none";
  if (!options_.terminal && !options_.keep_going)
    throw Failure(where, why, "With --keep-going, later lines are still run");
  if (options_.terminal) lines_->Hide();
  job_.Warn(options_.terminal ? why : where + ": " + why);
  Invite();
}

void WhatIfPrompt::Print(const std::string& text) {
  // Erases the input prompt first.
  if (options_.terminal) lines_->Hide();
  out_ << text << std::flush;
  Invite();
}

void WhatIfPrompt::Invite() const {
  if (options_.terminal) lines_->Invite();
}

}  // namespace midscope::cli
