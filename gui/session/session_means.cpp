// SPDX-License-Identifier: GPL-3.0-or-later
// Session: means over samples, which start automatically only if they are cheap.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/intervention/term_type.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "probes/measure/statistics/outcome_statistics.h"

namespace midscope {
namespace {

// Number of samples in a setting's means.
double SamplesIn(const Record& record, size_t setting) {
  const double samples = ValueAt(record, "samples", {static_cast<int64_t>(setting)});
  return std::isnan(samples) ? 0 : samples;
}

}  // namespace

void Session::SetSamples(int64_t samples) {
  if (samples == samples_) return;
  samples_ = samples;
  if (second_) second_->SetSamples(samples);
  CancelMeans();
  live_.means.clear();
  PauseSampleProbes();
  if (!live_.sample_probes.empty()) MarkLive(Change::kCaptureRecords);
  live_.sample_probes.clear();
  started_means_.clear();
  MarkLive(Change::kMeans);
  RequestMeans();
  ContinueBackground();
}

void Session::SetMeansWanted(bool wanted) {
  if (wanted == std::exchange(means_wanted_, wanted)) return;
  started_means_.clear();
  if (second_) second_->SetMeansWanted(wanted);
  if (!wanted) CancelMeans();
  MarkLive(Change::kMeans);
  RequestMeans();
  UpdateBusy();
}

void Session::CancelMeans() {
  if (MeansRun()) MarkLive(Change::kMeans);  // their button may be needed again
  means_ticket_ = 0;
  worker_.Cancel(RequestKind::kCompare, Side::kA);
}

void Session::ForgetMeans() {
  live_.means.clear();
  live_.sample_probes.clear();
  live_.beside.clear();
  started_means_.clear();
  means_stopped_ = false;
  sample_seconds_.reset();
  sample_seconds_whole_ = false;
}

Session::MissingMeans Session::FindMissingMeans() const {
  MissingMeans missing;
  if (samples_ <= 0 || !means_wanted_ || !EngineReady() || live_.task.empty()) return missing;
  CompareRequest& request = missing.request;
  request.samples = samples_;
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && second_) break;
    const SideView& view = live_.state(side);
    const auto known = live_.means.find(view.in_effect);
    const bool have = known != live_.means.end() && known->second.complete;
    const bool asked = std::find(missing.asking.begin(), missing.asking.end(), view.in_effect) !=
                       missing.asking.end();
    if (have) request.beside.push_back(WithoutNeutralTerms(view.setting));
    if (have || asked) continue;
    request.settings.push_back(WithoutNeutralTerms(view.setting));
    missing.asking.push_back(view.in_effect);
    missing.runs += samples_;
    if (known != live_.means.end()) {
      missing.runs -= static_cast<int64_t>(SamplesIn(*known->second.record, known->second.index));
    }
  }
  if (second_ || live_.a.in_effect == live_.b.in_effect) return missing;
  request.against = WithoutNeutralTerms(live_.a.setting);
  // The means of both are known but not their difference. The samples are cached, so requesting it
  // runs nothing.
  if (missing.asking.empty() && !live_.DifferenceOfMeans()) {
    request.settings = {WithoutNeutralTerms(live_.b.setting)};
    request.beside = {WithoutNeutralTerms(live_.a.setting)};
    missing.asking = {live_.b.in_effect};
  }
  return missing;
}

double Session::SecondsOf(const MissingMeans& missing) const {
  return missing.runs == 0 ? 0 : sample_seconds_.value_or(0) * static_cast<double>(missing.runs);
}

bool Session::MeansMayStart(const MissingMeans& missing) const {
  const bool user_started =
      std::all_of(missing.asking.begin(), missing.asking.end(),
                  [this](const std::string& text) { return started_means_.contains(text); });
  if (user_started || missing.runs == 0) return true;
  return means_start_automatically_ && sample_seconds_ &&
         SecondsOf(missing) < kMostAutomaticSeconds;
}

std::optional<Session::MeansOffer> Session::means_offer() const {
  const std::optional<MeansOffer> own = OwnMeansOffer();
  if (!second_ || shows_file()) return own;
  const std::optional<MeansOffer> of_b = second_->OwnMeansOffer();
  return own && of_b ? MeansOffer{samples_, own->seconds + of_b->seconds} : own ? own : of_b;
}

std::optional<Session::MeansOffer> Session::OwnMeansOffer() const {
  if (MeansRun() || shows_file()) return std::nullopt;
  // The cost of prompts whose records were restored without a run is unknown.
  if (!sample_seconds_ && !live_.a.settled) return std::nullopt;
  const MissingMeans missing = FindMissingMeans();
  if (missing.asking.empty() || (MeansMayStart(missing) && !stopped_)) return std::nullopt;
  const bool known = sample_seconds_ || missing.runs == 0;
  return MeansOffer{samples_,
                    known ? SecondsOf(missing) : std::numeric_limits<double>::quiet_NaN()};
}

std::optional<double> Session::prompt_seconds() const {
  if (!sample_seconds_ || live_.prompts.empty()) return std::nullopt;
  return *sample_seconds_ / static_cast<double>(live_.prompts.size());
}

void Session::SetMeansStartAutomatically(bool start) {
  if (start == means_start_automatically_) return;
  means_start_automatically_ = start;
  if (second_) second_->SetMeansStartAutomatically(start);
  MarkLive(Change::kMeans);
  if (start && sample_seconds_ && !MeansRun()) RequestMeans();
}

void Session::StartMeans() {
  if (second_) second_->StartMeans();
  const MissingMeans missing = FindMissingMeans();
  started_means_.insert(missing.asking.begin(), missing.asking.end());
  RequestMeans();
}

void Session::RequestMeans() {
  const MissingMeans missing = FindMissingMeans();
  if (MeansRun() && missing.asking == running_means_) return;
  CancelMeans();
  running_means_ = missing.asking;
  if (missing.asking.empty() || !MeansMayStart(missing)) return;
  means_ticket_ = Post(missing.request);
  means_stopped_ = false;
  MarkLive(Change::kMeans);
}

void Session::NoteCost(double seconds, bool whole) {
  if (sample_seconds_ && sample_seconds_whole_ && !whole) return;
  sample_seconds_ = seconds;
  sample_seconds_whole_ = whole;
  MarkLive(Change::kMeans);
  if (!dragging_ && !release_timer_.isActive() && !stopped_ && !MeansRun()) RequestMeans();
}

void Session::StoreMeans(const std::shared_ptr<const Record>& record, bool complete) {
  for (size_t i = 0; i < running_means_.size(); ++i) {
    // A new comparison does not replace an earlier one with more samples.
    const auto known = live_.means.find(running_means_[i]);
    if (!complete && known != live_.means.end() &&
        SamplesIn(*known->second.record, known->second.index) > SamplesIn(*record, i)) {
      continue;
    }
    live_.means[running_means_[i]] = MeansEntry{record, i, complete};
  }
  live_.beside.clear();
  const QStringList labels = AxisLabels(*record, "setting");
  for (size_t i = running_means_.size(); i < static_cast<size_t>(labels.size()); ++i) {
    const std::string setting = labels[static_cast<qsizetype>(i)].toStdString();
    live_.beside[setting] = MeansEntry{record, i, false};
  }
  MarkLive(Change::kMeans);
}

void Session::OnMeans(const EngineReply& reply) {
  if (reply.ticket != means_ticket_ || reply.records.empty()) return;
  StoreMeans(std::make_shared<Record>(reply.records.front()), true);
}

// Means of A and B may be in one record or two; a record may contain other settings, which are not
// on the screen and are omitted.
void Session::CollectMeans(std::vector<Record>& records) const {
  for (const Side side : {Side::kA, Side::kB}) {
    if (side == Side::kB && !shown_->differs()) break;
    const SideView& view = shown_->state(side);
    const auto& means = side == Side::kB && shown_->second ? shown_->second->means : shown_->means;
    const auto found = means.find(view.in_effect);
    if (found == means.end()) continue;
    Record copy =
        AtIndex(*found->second.record, "setting", static_cast<int64_t>(found->second.index));
    std::erase_if(copy.arrays, [](const Array& array) { return array.name == kNllBySample; });
    std::erase_if(copy.axes, [](const Axis& axis) { return axis.name == "sample"; });
    if (side == Side::kB) copy.name += "_b";
    copy.attributes["side"] = std::string(side == Side::kA ? "A" : "B");
    const std::string run = AxisLabels(copy, "setting").value(0).toStdString();
    // Stores it under the side's setting, even if an equivalent setting was run instead.
    if (run != view.text) {
      for (Axis& axis : copy.axes) {
        if (axis.name == "setting") axis.labels = {view.text};
      }
      copy.attributes["run_as"] = run;
    }
    copy.attributes["intervention"] = view.text;
    copy.attributes["complete"] = int64_t{found->second.complete ? 1 : 0};
    records.push_back(std::move(copy));
  }
}

}  // namespace midscope
