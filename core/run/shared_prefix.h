// SPDX-License-Identifier: MIT
// Runs the common prefix of several prompts once, such as of one sample with its gold piece at
// several places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/decoder/trace.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// A sequence that is run from its first row.
struct FreshSequence {
  std::span<const int32_t> ids;          // tokens of prompt and continuation
  int64_t prompt_tokens = 0;             // number of prompt tokens in ids
  std::span<const AttentionPlan> plans;  // [layer]
  Trace* trace =
      nullptr;  // not owned; stores its rows; null in all sequences: only the row counts are needed
};

// With fewer shared rows, running one sequence before the others does not pay.
inline constexpr int64_t kFewestSharedRows = 32;

// Returns the number of leading rows that are equal in both, before either's last prompt row: rows
// with equal tokens that precede the first difference between the plans. 0 if ratios depend on the
// last prompt row, if rows are added to a memory, if means of heads are taken, or if `taker` stores
// data that `donor` does not.
int64_t SharedRows(const FreshSequence& donor, const FreshSequence& taker);

// The sequence that runs before the others (the donor), and how many of its rows each other
// sequence copies.
struct PrefixSharing {
  size_t donor = 0;
  std::vector<int64_t> rows;  // [sequence]; 0: none
};

// Returns the donor that saves most rows; nullopt if no two sequences share kFewestSharedRows.
std::optional<PrefixSharing> FindPrefixSharing(std::span<const FreshSequence> sequences);
// Like FindPrefixSharing, with a fixed donor.
std::optional<PrefixSharing> PrefixSharingFrom(size_t donor,
                                               std::span<const FreshSequence> sequences);

// Copies the shared rows. Call it after the donor has been run.
void GiveRows(const PrefixSharing& sharing, std::span<const FreshSequence> sequences);

// Rows per batch; with more rows, matrix products are not faster.
inline constexpr int64_t kBatchRows = 2048;

// Packs sequences into batches of bounded size, in their order: returns the end of the batch that
// begins with item `begin` of `count`: as many items as fit into `most_rows` rows, but at least
// one. rows_of(item) -> int64_t.
template <typename RowsOf>
size_t BatchEnd(size_t begin, size_t count, const RowsOf& rows_of, int64_t most_rows = kBatchRows) {
  size_t end = begin;
  int64_t rows = 0;
  while (end < count && (end == begin || rows + rows_of(end) <= most_rows)) rows += rows_of(end++);
  return end;
}

}  // namespace midscope
