// SPDX-License-Identifier: MIT
// Resource limits of chat templates. A template comes with a model's files and is not trusted;
// known templates need less than a tenth of these. Exceeding a limit throws an Error that names
// "chat template" and the limit, after less than a second. Internal to core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace midscope::jinja {

inline constexpr size_t kMaxTemplateBytes = size_t{1} << 20;
inline constexpr size_t kMaxNameBytes = 200;
inline constexpr int kMaxParseDepth = 150;       // nesting of tags, brackets and operators
inline constexpr int kMaxHeight = 300;           // of the syntax tree
inline constexpr int kMaxEvaluationDepth = 500;  // nesting of nodes and macro calls
inline constexpr int kMaxValueDepth = 100;       // nesting of lists and mappings
inline constexpr int64_t kMaxSteps = 5'000'000;
inline constexpr size_t kMaxTextBytes = size_t{16} << 20;   // of one string, and of the result
inline constexpr size_t kMaxItems = 1'000'000;              // of one list or mapping
inline constexpr size_t kMaxNames = 20'000;                 // variables that exist at the same time
inline constexpr size_t kMaxMadeBytes = size_t{256} << 20;  // of all values ever created

// Throws Error: "chat template, line 3: goes beyond the limit of 100 LIMIT".
[[noreturn]] void FailLimit(size_t line, int64_t limit, const std::string& what);

// The work and memory that a rendering has used so far.
class Budget {
 public:
  // A step is one part of an expression or statement, or 64 bytes searched.
  void Step(size_t line, size_t count = 1) {
    steps_ += static_cast<int64_t>(count);
    if (steps_ > kMaxSteps) FailLimit(line, kMaxSteps, "steps");
  }
  void Make(size_t line, size_t bytes) {
    made_ += bytes;
    if (made_ > kMaxMadeBytes) FailLimit(line, int64_t{kMaxMadeBytes} >> 20, "MiB of values made");
  }

 private:
  int64_t steps_ = 0;
  size_t made_ = 0;
};

// An operation's position in the template, and the budget that it uses.
struct At {
  Budget& budget;
  size_t line;

  void Step(size_t count = 1) const { budget.Step(line, count); }
  // Must be called before `bytes` bytes are searched.
  void Scan(size_t bytes) const { Step(1 + bytes / 64); }
  // Must be called before a string of `bytes` bytes is made.
  void MakeText(size_t bytes) const {
    if (bytes > kMaxTextBytes) FailLimit(line, int64_t{kMaxTextBytes} >> 20, "MiB in one text");
    budget.Make(line, bytes + 64);
  }
  // Must be called before a list or mapping of `items` items is made.
  void MakeItems(size_t items) const {
    if (items > kMaxItems) FailLimit(line, kMaxItems, "items in one list or mapping");
    budget.Make(line, 64 + items * 32);
  }
};

}  // namespace midscope::jinja
