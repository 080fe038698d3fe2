// SPDX-License-Identifier: MIT
// FakeEngine: scans.
#include <limits>
#include <utility>

#include "core/terms/intervention_text.h"
#include "probes/sweep/scan_effects.h"
#include "tests/gui/support/fake_engine.h"

namespace midscope {
namespace {

Record PlantedScan(const ScanRequest& request, size_t done) {
  SweepPlan plan;
  plan.places = {1, 10};
  plan.scan =
      MakeScan(FindScanKind(request.over), request.term, request.range, FakeEngine::Config());
  if (!request.base.empty()) plan.scan->base = PrintIntervention(request.base);
  ScanEffects effects;
  effects.samples = request.samples;
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (size_t item = 0; item < plan.scan->items.size(); ++item) {
    const double effect = item < done ? static_cast<double>(item) : none;
    effects.places.insert(effects.places.end(), 2, {effect, {none, none}, none});
    effects.means.push_back({effect, {none, none}, none});
  }
  Record record = ScanEffectsRecord(plan, effects);
  record.attributes["complete"] = int64_t{done < plan.scan->items.size() ? 0 : 1};
  return record;
}

}  // namespace

Record FakeEngine::Scan(const ScanRequest& request,
                        const std::function<void(const Record&)>& partial,
                        const JobContext& context) {
  const size_t items = FindScanKind(request.over).items(FakeEngine::Config(), request.range).size();
  context.Report({"scan", 1, request.samples, "samples"});
  partial(PlantedScan(request, items / 2));
  control_->NoteScan(request);
  control_->WaitAtGate(&FakeControl::hold_scans_, context);
  return PlantedScan(request, items);
}

}  // namespace midscope
