// SPDX-License-Identifier: MIT
// Prompts with a common prefix, such as one sample with its gold piece at several places: the
// prefix is run once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/decoder/trace.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// A sequence that is run from its first row on.
struct FreshSequence {
  std::span<const int32_t> ids;          // prompt and continuation
  int64_t prompt_tokens = 0;             // of ids
  std::span<const AttentionPlan> plans;  // [layer]
  Trace* trace =
      nullptr;  // not owned; where its rows are kept; null in all: to know the rows alone
};

// Sharing fewer rows does not repay running one sequence before the others.
inline constexpr int64_t kFewestSharedRows = 32;

// Number of first rows that are equal in both, before either's last prompt row: those of equal
// tokens before anything in which the plans differ. 0 where the last prompt row decides ratios,
// where rows are added to a memory, where means of heads are taken, and where `taker` keeps data
// that `donor` does not.
int64_t SharedRows(const FreshSequence& donor, const FreshSequence& taker);

// One sequence that runs before the others, and how many of its rows each of these takes over.
struct PrefixSharing {
  size_t donor = 0;
  std::vector<int64_t> rows;  // [sequence]; 0: none
};

// The donor that saves most rows; nullopt where no two sequences share kFewestSharedRows.
std::optional<PrefixSharing> FindPrefixSharing(std::span<const FreshSequence> sequences);
// As above, with this donor.
std::optional<PrefixSharing> PrefixSharingFrom(size_t donor,
                                               std::span<const FreshSequence> sequences);

// Call it after the donor has been run.
void GiveRows(const PrefixSharing& sharing, std::span<const FreshSequence> sequences);

}  // namespace midscope
