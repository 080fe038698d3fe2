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

std::vector<Record> FakeEngine::ProbeSamples(const ProbeSamplesRequest& request,
                                             const std::function<void(const Record&)>& partial,
                                             const JobContext& context) {
  const auto planted = [&](int64_t samples) {
    Record record;
    record.name = "gold_following";
    record.axes = {{"place", std::ssize(places_), "rank", {}, {places_.begin(), places_.end()}},
                   {"layer", kLayers, "", {}, {}},
                   {"head", kHeads, "", {}, {}}};
    std::vector<double> values;
    for (const int64_t place : places_) {
      for (int64_t layer = 0; layer < kLayers; ++layer) {
        for (int64_t head = 0; head < kHeads; ++head) {
          values.push_back(Score(layer, head, Strength(request.intervention)) +
                           static_cast<double>(place));
        }
      }
    }
    const std::vector<double> half_widths(values.size(), 0.25);
    const std::vector<std::string> axes = {"place", "layer", "head"};
    record.arrays = {{"mean_gold_attention", axes, values, "", "planted"},
                     {"mean_gold_attention_half_width", axes, half_widths, "", "planted"}};
    record.attributes = {{"samples", samples},
                         {"complete", int64_t{samples == request.samples ? 1 : 0}}};
    Stamp(request.intervention, std::nullopt, record);
    record.attributes["subject_hash"] = std::string();
    return record;
  };
  partial(planted(request.samples / 2));
  control_->WaitAtGate(&FakeControl::hold_scans_, context);
  return {planted(request.samples)};
}

}  // namespace midscope
