// SPDX-License-Identifier: MIT
// The effect of each item of a scan on the answer, by place of the gold piece: answer_nll under the
// item's setting minus that of `none`, in nats. Above 0: without the item, or with it changed, the
// answer is less likely.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/measure/statistics/statistics.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// How much of the difference between two runs a patch brings over: (outcome(patched) -
// outcome(target)) / (outcome(source) - outcome(target)), with answer_nll as the outcome (as in
// Meng et al. 2022, arXiv 2202.05262, of their probability; here of means over samples). 0:
// nothing, 1: the patched run is as good, or as bad, as the source.

// Where source and target differ by less on the mean there is nothing to recover: the place of
// the source itself.
inline constexpr double kLeastDifference = 0.01;  // nats

struct RecoveredShare {
  double share = 0;   // of the means; NaN for a difference below kLeastDifference
  Interval interval;  // 95 %: Student's t of what `patched` has beyond share * `source`; or NaN
};

// One number per sample: of the patched run and of the source, each minus that of the target.
RecoveredShare ShareOf(std::span<const double> patched, std::span<const double> source);

inline constexpr const char* kScanRecord = "scan";

struct ScanEffect {
  double effect = 0;  // mean over samples, nats; NaN for none
  Interval interval;  // Student's t over the samples' differences
  double p = 0;       // joint_test.h: adjusted for all items (and places)
};

struct ScanEffects {
  int64_t samples = 0;             // on which every setting was run
  std::vector<ScanEffect> places;  // [item, place]
  std::vector<ScanEffect> means;   // [item]: mean over places
  // [item]: at the middle place minus the mean of the first and the last one; empty for fewer than
  // three places.
  std::vector<ScanEffect> middles;
  // Share of the source's outcome that a scan with patches recovers (recovered_share.h), else
  // empty.
  std::vector<RecoveredShare> shares;       // [item, place]
  std::vector<RecoveredShare> mean_shares;  // [item]: of the sums over places
};

// `plan` must have a scan. Throws Cancelled.
ScanEffects ScanEffectsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                          const JobContext& context = {});

// Means alone of what has been run so far, intervals and p NaN: of each item over the outcomes that
// have numbers for it and for `none` at all places (else NaN). `samples` counts those of any item.
ScanEffects ScanEffectsSoFar(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes);

// Record scan, over the axes of the kind (for heads [layer, head]; NaN if nothing was scanned) and
// place: effect, effect_low, effect_high, effect_p [..., place]; mean_effect and middle_effect with
// theirs [...]. Where patches are scanned share, share_low, share_high [..., place] and mean_share
// with its own [...].
Record ScanEffectsRecord(const SweepPlan& plan, const ScanEffects& effects);

}  // namespace midscope
