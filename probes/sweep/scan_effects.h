// SPDX-License-Identifier: MIT
// The effect of each item of a scan on the answer, by place of the gold piece: answer_nll under the
// item's setting minus that of the scan's base, in nats. Above 0: ablating or changing the item
// makes the answer less likely.
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

// The recovered share: the part of the difference between two runs that a patch transfers,
// (outcome(patched) - outcome(target)) / (outcome(source) - outcome(target)), with mean answer_nll
// over samples as the outcome (Meng et al. 2022, arXiv 2202.05262, use probability). 0: nothing; 1:
// the patched run is as good, or as bad, as the source.

// If the mean answer_nll of source and target differ by less, the recovered share is NaN, for
// example at the source's own place.
inline constexpr double kLeastDifference = 0.01;  // nats

struct RecoveredShare {
  double share = 0;   // share of the means; NaN if they differ by < kLeastDifference
  Interval interval;  // 95 %, by Student's t of patched - share * source; or NaN
};

// Computes the recovered share from one number per sample: the outcome of the patched run, and of
// the source run, minus the outcome of the target run.
RecoveredShare ShareOf(std::span<const double> patched, std::span<const double> source);

inline constexpr const char* kScanRecord = "scan";

struct ScanEffect {
  double effect = 0;  // mean over samples, in nats; NaN: no samples
  Interval interval;  // 95 %, by Student's t of the samples' differences
  double p = 0;       // p value from JointPValues, adjusted for all items (and places)
};

struct ScanEffects {
  int64_t samples = 0;             // samples on which every setting was run
  std::vector<ScanEffect> places;  // effects, [item, place]
  std::vector<ScanEffect> means;   // [item]: mean over places
  // [item]: effect at the middle place minus the mean of first and last place; empty for fewer than
  // three places.
  std::vector<ScanEffect> middles;
  // Recovered shares of a scan with patches; otherwise these arrays are empty.
  std::vector<RecoveredShare> shares;       // recovered shares, [item, place]
  std::vector<RecoveredShare> mean_shares;  // [item]: share of the sums over places
};

// Computes the effects of all items over finished samples. `plan` needs a scan. Throws Cancelled.
ScanEffects ScanEffectsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                          const JobContext& context = {});

// Computes effects of a running scan, without intervals and p (NaN). An item's mean is over the
// samples in which the item and the base have finished at all places; NaN if there are none.
// `samples` of the result: number of samples used for any item.
ScanEffects ScanEffectsSoFar(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes);

// Makes record scan, over the axes of the kind (for heads [layer, head]; NaN for items that were
// not scanned) and place: effect, effect_low, effect_high, effect_p [..., place]; mean_effect and
// middle_effect with the same suffixes [...]. If patches are scanned, share, share_low, share_high
// [..., place] and mean_share with the same suffixes [...].
Record ScanEffectsRecord(const SweepPlan& plan, const ScanEffects& effects);

}  // namespace midscope
