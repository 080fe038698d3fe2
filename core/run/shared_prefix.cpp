// SPDX-License-Identifier: MIT
#include "core/run/shared_prefix.h"

#include <algorithm>
#include <numeric>

#include "core/plan/plan_changes.h"
#include "core/plan/row_plans.h"

namespace midscope {
namespace {

// Returns the first row that depends on later rows, or on data of earlier rows that a trace does
// not pass on.
int64_t FirstDependentRow(const AttentionPlan& plan) {
  if (LeavesData(plan)) return 0;
  return DecidedByLastRow(plan) ? FirstSchemeRow(plan) : kNoRow;
}

int64_t FirstDependentRow(std::span<const AttentionPlan> plans) {
  int64_t first = kNoRow;
  for (const AttentionPlan& plan : plans) first = std::min(first, FirstDependentRow(plan));
  return first;
}

int64_t EqualTokens(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

std::vector<int64_t> RowsFrom(size_t donor, std::span<const FreshSequence> sequences) {
  std::vector<int64_t> rows(sequences.size(), 0);
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (i == donor) continue;
    const int64_t shared = SharedRows(sequences[donor], sequences[i]);
    if (shared >= kFewestSharedRows) rows[i] = shared;
  }
  return rows;
}

}  // namespace

int64_t SharedRows(const FreshSequence& donor, const FreshSequence& taker) {
  if (taker.trace && !taker.trace->CanTakeFrom(*donor.trace)) return 0;
  const int64_t tokens =
      std::min({EqualTokens(donor.ids, taker.ids), donor.prompt_tokens - 1, taker.prompt_tokens - 1,
                FirstDependentRow(donor.plans), FirstDependentRow(taker.plans)});
  if (tokens < kFewestSharedRows) return 0;
  return std::min(tokens, FirstChangedRows(donor.plans, taker.plans).back());
}

std::optional<PrefixSharing> FindPrefixSharing(std::span<const FreshSequence> sequences) {
  PrefixSharing best;
  int64_t most = 0;
  for (size_t donor = 0; donor < sequences.size(); ++donor) {
    std::vector<int64_t> rows = RowsFrom(donor, sequences);
    const int64_t spared = std::accumulate(rows.begin(), rows.end(), int64_t{0});
    if (spared <= most) continue;
    most = spared;
    best = {donor, std::move(rows)};
  }
  if (most == 0) return std::nullopt;
  return best;
}

std::optional<PrefixSharing> PrefixSharingFrom(size_t donor,
                                               std::span<const FreshSequence> sequences) {
  PrefixSharing sharing{donor, RowsFrom(donor, sequences)};
  const bool any =
      std::any_of(sharing.rows.begin(), sharing.rows.end(), [](int64_t rows) { return rows > 0; });
  if (!any) return std::nullopt;
  return sharing;
}

void GiveRows(const PrefixSharing& sharing, std::span<const FreshSequence> sequences) {
  const Trace& donor = *sequences[sharing.donor].trace;
  for (size_t i = 0; i < sequences.size(); ++i) {
    if (sharing.rows[i] > 0) sequences[i].trace->TakeRows(donor, sharing.rows[i]);
  }
}

}  // namespace midscope
