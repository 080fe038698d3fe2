// SPDX-License-Identifier: MIT
#include "probes/cli/commands/influence_scan.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/terms/intervention_text.h"
#include "data/store/record_reader.h"
#include "probes/base/records.h"
#include "probes/cli/text/record_text.h"
#include "probes/measure/influence/influence_records.h"
#include "probes/measure/statistics/rank_statistics.h"
#include "probes/prompt/prompt_format.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/stored_result.h"

namespace midscope::cli {
namespace {

constexpr size_t kShownEstimates = 10;

// Sets the fields `estimate` and `source` according to the scan's term.
void ReadTerm(const Scan& scan, const std::string& file, HeadScan* found) {
  if (scan.kind == "heads") {
    const Intervention term = ParseIntervention(TermOf(scan, {"L0H0", "L0H0", {0, 0}}));
    for (const bool mean : {false, true}) {
      for (const bool all : {false, true}) {
        const std::string text = fmt::format("ablate(L0H0, with={}, rows={})",
                                             mean ? "mean" : "zero", all ? "all" : "answer");
        if (term == ParseIntervention(text)) found->estimate = HeadEstimateName(mean, all);
      }
    }
    const Patch* patch = term.Find<Patch>();
    const bool is_sample = patch != nullptr && (patch->source.kind == PatchSource::Kind::kPlace ||
                                                patch->source.kind == PatchSource::Kind::kNext);
    if (is_sample &&
        term == ParseIntervention(fmt::format("patch(from={}, what=z, span=last, heads=L0H0)",
                                              patch->source.Text()))) {
      found->estimate = kHeadPatchEstimate;
      found->source = patch->source;
    }
  }
  if (!found->estimate.empty()) return;
  throw UsageError(file, fmt::format("it is a scan of {} over {}", Quote(scan.term), scan.kind),
                   "Give the file of a scan over heads with ablate({head}, with=zero or mean, "
                   "rows=answer or all), or patch(from=place:N or next:N, what=z, span=last, "
                   "heads={head})");
}

std::string NumbersOf(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

}  // namespace

HeadScan ReadHeadScan(const OptionSet& options, const ModelSource& model) {
  for (const char* name :
       {"prompt", "prompt-file", "span", "answer", "task", "place", "places", "sample", "samples",
        "seed", "with", "chat", "chat-template", "chat-option", "chat-date", "system", "bos"}) {
    if (!options.IsSet(name)) continue;
    throw UsageError("option --" + std::string(name), "the file of --scan states it",
                     "Leave it out");
  }
  const std::string& file = options.Text("scan");
  const RunReader reader(file);
  const SweepPlan plan = StoredPlan(reader);
  if (!plan.scan || !reader.Has(kScanRecord)) {
    throw UsageError(file, "it is not the file of a scan", "Give a file of midscope scan --out");
  }
  HeadScan scan{options, "", reader.Read(kScanRecord), {}, {}};
  ReadTerm(*plan.scan, file, &scan);
  if (reader.provenance().model_hash != model.Hash()) {
    throw Failure(file, "it is a scan of another model, " + reader.provenance().model_path,
                  "Give that model, or scan this one");
  }
  const OptionSet format = OptionsOf(plan.format);
  for (const Parameter& option : format.descriptions()) {
    if (format.IsSet(option.name)) scan.options.Set(option.name, format.Value(option.name));
  }
  scan.options.Set("task", plan.task);
  scan.options.Set("seed", static_cast<int64_t>(plan.seed));
  for (const SampleOutcome& outcome : ReadStoredResult(reader).outcomes)
    scan.samples.push_back(outcome.sample);
  scan.options.Set("sample", scan.samples.front());
  scan.options.Set("samples", std::ssize(scan.samples));
  scan.options.Set("places", NumbersOf(plan.places));
  scan.options.Set("with", std::vector<std::string>{plan.settings.front().canonical()});
  return scan;
}

namespace {

// Reads the estimates of head effects in record influence_by_place, [place, layer, head].
class Estimates {
 public:
  Estimates(const Record& by_place, const std::string& array)
      : values_(ArrayValues<double>(by_place, array)),
        places_(static_cast<size_t>(AxisOf(by_place, "place").size)),
        layers_(AxisOf(by_place, "layer").size),
        heads_(AxisOf(by_place, "head").size) {}

  size_t places() const { return places_; }
  double At(size_t place, int64_t layer, int64_t head) const {
    return values_[(place * static_cast<size_t>(layers_) + static_cast<size_t>(layer)) *
                       static_cast<size_t>(heads_) +
                   static_cast<size_t>(head)];
  }
  double Mean(int64_t layer, int64_t head) const {
    double sum = 0;
    for (size_t place = 0; place < places_; ++place) sum += At(place, layer, head);
    return sum / static_cast<double>(places_);
  }
  std::vector<ScannedHead> All() const {
    std::vector<ScannedHead> all;
    for (int64_t layer = 0; layer < layers_; ++layer) {
      for (int64_t head = 0; head < heads_; ++head)
        all.push_back({layer, head, Mean(layer, head), std::nan("")});
    }
    return all;
  }

 private:
  const std::vector<double>& values_;
  size_t places_;
  int64_t layers_;
  int64_t heads_;
};

double Correlation(const std::vector<ScannedHead>& heads) {
  std::vector<double> estimates;
  std::vector<double> exact;
  for (const ScannedHead& head : heads) {
    estimates.push_back(head.estimate);
    exact.push_back(head.exact);
  }
  return SpearmanCorrelation(estimates, exact);
}

// Returns the scanned heads, with exact effect and estimate at one place.
std::vector<ScannedHead> ScannedAt(size_t place, const Estimates& estimates, const Record& scan) {
  const auto& effects = ArrayValues<double>(scan, "effect");  // [layer, head, place]
  const std::vector<double>& layers = AxisOf(scan, "layer").values;
  const std::vector<double>& heads = AxisOf(scan, "head").values;
  std::vector<ScannedHead> scanned;
  for (size_t i = 0; i < layers.size() * heads.size(); ++i) {
    const double effect = effects[i * estimates.places() + place];
    if (std::isnan(effect)) continue;
    const auto layer = static_cast<int64_t>(layers[i / heads.size()]);
    const auto head = static_cast<int64_t>(heads[i % heads.size()]);
    scanned.push_back({layer, head, estimates.At(place, layer, head), effect});
  }
  return scanned;
}

}  // namespace

std::optional<HeadEstimates> EstimatesOf(const Record& by_place,
                                         const std::optional<HeadScan>& scan) {
  HeadEstimates found;
  found.estimate = scan ? scan->estimate : HeadEstimateName(false, false);
  found.mean_correlation = std::nan("");
  if (by_place.FindArray(found.estimate) == nullptr) return std::nullopt;
  const Estimates estimates(by_place, found.estimate);
  for (size_t place = 0; scan && place < estimates.places(); ++place) {
    const std::vector<ScannedHead> heads = ScannedAt(place, estimates, scan->record);
    found.correlation.push_back(Correlation(heads));
    if (place == 0) found.heads.resize(heads.size());
    for (size_t i = 0; i < heads.size(); ++i) {
      ScannedHead& mean = found.heads[i];
      mean.layer = heads[i].layer;
      mean.head = heads[i].head;
      mean.estimate += heads[i].estimate / static_cast<double>(estimates.places());
      mean.exact += heads[i].exact / static_cast<double>(estimates.places());
    }
  }
  if (scan) {
    found.mean_correlation = Correlation(found.heads);
  } else {
    found.heads = estimates.All();
  }
  std::stable_sort(found.heads.begin(), found.heads.end(), [&](const auto& a, const auto& b) {
    return scan ? std::abs(a.exact) > std::abs(b.exact)
                : std::abs(a.estimate) > std::abs(b.estimate);
  });
  return found;
}

Printout HeadEstimatesText(const Record& by_place, const HeadEstimates& found) {
  const bool scanned = !found.correlation.empty();
  TextTable table({"head", "estimate", "exact"});
  for (size_t i = 0; i < std::min(kShownEstimates, found.heads.size()); ++i) {
    const ScannedHead& head = found.heads[i];
    table.Add({fmt::format("L{}H{}", head.layer, head.head), fmt::format("{:.4f}", head.estimate),
               scanned ? fmt::format("{:.4f}", head.exact) : "-"});
  }
  Printout text;
  text.AddTitled(fmt::format("First-order effects of heads on answer_nll ({}), means over "
                             "places, in nats; the largest {}",
                             found.estimate, scanned ? "exact ones" : "ones"),
                 std::move(table));
  if (!scanned) return text;
  text += fmt::format("Spearman's correlation with the scan over {} heads: {:.3f}",
                      found.heads.size(), found.mean_correlation);
  const Axis& places = AxisOf(by_place, "place");
  for (size_t place = 0; place < found.correlation.size(); ++place) {
    text += fmt::format("{}place {}: {:.3f}", place == 0 ? "; " : ", ", places.values[place],
                        found.correlation[place]);
  }
  text += "\n";
  return text;
}

nlohmann::ordered_json HeadEstimatesJson(const Record& by_place, const HeadEstimates& found) {
  nlohmann::ordered_json json = {{"estimate", found.estimate},
                                 {"correlation", NumberOrNull(found.mean_correlation)},
                                 {"places", nlohmann::ordered_json::array()},
                                 {"heads", nlohmann::ordered_json::array()}};
  const Axis& places = AxisOf(by_place, "place");
  for (size_t place = 0; place < found.correlation.size(); ++place) {
    json["places"].push_back({{"place", static_cast<int64_t>(places.values[place])},
                              {"correlation", NumberOrNull(found.correlation[place])}});
  }
  for (const ScannedHead& head : found.heads) {
    json["heads"].push_back({{"layer", head.layer},
                             {"head", head.head},
                             {"estimate", NumberOrNull(head.estimate)},
                             {"exact", NumberOrNull(head.exact)}});
  }
  return json;
}

}  // namespace midscope::cli
