// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/session_view.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/intervention/term_type.h"
#include "core/terms/intervention_text.h"
#include "data/published/published_record.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "probes/engine/reply_cache.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/scan_effects.h"

namespace midscope {

namespace {

// Returns none if a file of another version has an unknown term, so that its plots are still shown.
Intervention SettingOrNone(const std::string& text) {
  try {
    return ParseIntervention(text);
  } catch (const Error&) {
    return {};
  }
}

// The setting's text without terms that change nothing; a text that cannot be parsed (another
// version) is returned unchanged.
std::string TextInEffect(const std::string& text) {
  try {
    return PrintIntervention(WithoutNeutralTerms(ParseIntervention(text)));
  } catch (const Error&) {
    return text;
  }
}

// The task in the sweep's plan, or in the prompt record that the window writes; "" if there is
// neither.
std::string TaskOf(const RunFile& file) {
  const nlohmann::json plan = nlohmann::json::parse(file.plan_json, nullptr, false);
  if (plan.is_object() && plan.contains("task") && plan["task"].is_string()) return plan["task"];
  const Record* prompt = FindRecord(file.records, kPromptRecord);
  return prompt ? TextAttribute(*prompt, "task").toStdString() : "";
}

// The difference between setting `second` and setting `first` in one record of means; nullopt if
// the record lacks it.
std::optional<Means> DifferenceIn(const MeansEntry& entry, const std::string& first,
                                  const std::string& second) {
  if (AttributeText(*entry.record, "against") != first) return std::nullopt;
  const std::vector<OutcomeSeries> all = SeriesOf(*entry.record, Measure::kDifference);
  const auto found = std::find_if(all.begin(), all.end(), [&second](const OutcomeSeries& series) {
    return series.setting.toStdString() == second;
  });
  if (found == all.end()) return std::nullopt;
  return Means{*found, entry.complete, false};
}

// B minus A of two models, over the samples that both have run at the same places.
std::optional<Means> DifferenceOfModels(const MeansEntry& a, const MeansEntry& b) {
  const QVector<double> places = AxisValues(*a.record, "place");
  if (places != AxisValues(*b.record, "place")) return std::nullopt;
  std::map<double, SampleOutcome> outcomes;
  for (const MeansEntry* entry : {&a, &b}) {
    const QVector<double> samples = AxisValues(*entry->record, "sample");
    for (qsizetype i = 0; i < samples.size(); ++i) {
      const QVector<double> row =
          LastAxisRow(*entry->record, kNllBySample, {static_cast<int64_t>(entry->index), i});
      std::vector<double>& nll = outcomes[samples[i]].answer_nll;
      nll.insert(nll.end(), row.begin(), row.end());
    }
  }
  std::vector<SampleOutcome> pairs;
  pairs.reserve(outcomes.size());
  for (auto& [sample, pair] : outcomes) {
    const bool of_both = static_cast<qsizetype>(pair.answer_nll.size()) == 2 * places.size() &&
                         std::none_of(pair.answer_nll.begin(), pair.answer_nll.end(),
                                      [](double nll) { return std::isnan(nll); });
    if (!of_both) continue;
    pair.sample = static_cast<int64_t>(sample);
    pair.correct.resize(pair.answer_nll.size());
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) return std::nullopt;
  Means means;
  means.complete = a.complete && b.complete;
  means.series.places = places;
  means.series.samples = static_cast<int64_t>(pairs.size());
  const auto count = static_cast<size_t>(places.size());
  const std::vector<CellStatistics> cells =
      SummariseOutcomes(std::move(pairs), 2, places.size(), 0);
  for (size_t cell = count; cell < cells.size(); ++cell) {
    means.series.values.append(cells[cell].difference);
    means.series.low.append(cells[cell].difference_interval.low);
    means.series.high.append(cells[cell].difference_interval.high);
  }
  return means;
}

}  // namespace

void SideView::Ask(const Intervention& wanted) {
  setting = wanted;
  text = PrintIntervention(wanted);
  in_effect = PrintIntervention(WithoutNeutralTerms(wanted));
}

QString SessionView::ModelLabel() const {
  if (!model) return {};
  return midscope::ModelLabel(QString::fromStdString(provenance.model_path),
                              QString::fromStdString(model->config.name));
}

const Record* SessionView::prompt() const {
  return place < prompts.size() ? &prompts[place] : nullptr;
}

const Record* SessionView::Find(Side side, const std::string& name) const {
  if (side == Side::kB && second) return second->Find(Side::kA, name);
  if (name == kPublishedRecord) return side == Side::kA ? reference.get() : nullptr;
  if (side == Side::kB && !differs()) return nullptr;
  if (name == kScanRecord && side == Side::kA && scan) return scan.get();
  const auto channel_record = channels.find(name);
  if (side == Side::kA && channel_record != channels.end()) return channel_record->second.get();
  const auto found = state(side).records.find(name);
  if (found != state(side).records.end()) return found->second.get();
  const SampleProbes* over_samples = SampleProbesOf(side);
  if (!over_samples) return nullptr;
  const auto of_samples = over_samples->records.find(name);
  return of_samples == over_samples->records.end() ? nullptr : of_samples->second.get();
}

const SampleProbes* SessionView::SampleProbesOf(Side side) const {
  if (side == Side::kB && second) return second->SampleProbesOf(Side::kA);
  const auto found = sample_probes.find(state(side).in_effect);
  return found == sample_probes.end() ? nullptr : &found->second;
}

std::vector<std::string> SessionView::RecordNames(Side side) const {
  std::vector<std::string> names;
  if (side == Side::kB && !differs()) return names;
  for (const auto& [name, record] : state(side).records) names.push_back(name);
  const auto add = [&names](const std::string& name) {
    names.insert(std::upper_bound(names.begin(), names.end(), name), name);
  };
  if (const SampleProbes* over_samples = SampleProbesOf(side)) {
    for (const auto& [name, record] : over_samples->records) add(name);
  }
  if (side == Side::kA && reference) add(kPublishedRecord);
  if (side == Side::kA && scan) add(kScanRecord);
  return names;
}

// Means over the samples of the other side's partial mean; nullptr if that mean is complete or
// missing.
const MeansEntry* SessionView::BesideOf(Side side) const {
  if (second || !differs()) return nullptr;
  const auto other = means.find(state(side == Side::kA ? Side::kB : Side::kA).in_effect);
  if (other == means.end() || other->second.complete) return nullptr;
  const auto same = beside.find(state(side).in_effect);
  return same != beside.end() && same->second.record == other->second.record ? &same->second
                                                                             : nullptr;
}

std::optional<Means> SessionView::MeansOf(Side side, Measure measure) const {
  if (side == Side::kB && second) return second->MeansOf(Side::kA, measure);
  const auto found = means.find(state(side).in_effect);
  if (found == means.end()) return std::nullopt;
  const MeansEntry* over_same = BesideOf(side);
  const MeansEntry& entry = over_same ? *over_same : found->second;
  const std::vector<OutcomeSeries> all = SeriesOf(*entry.record, measure);
  if (entry.index >= all.size()) return std::nullopt;
  return Means{all[entry.index], entry.complete, over_same != nullptr};
}

std::optional<Means> SessionView::MeansOfSetting(const std::string& text, Measure measure) const {
  const auto found = means.find(TextInEffect(text));
  if (found == means.end()) return std::nullopt;
  const std::vector<OutcomeSeries> all = SeriesOf(*found->second.record, measure);
  if (found->second.index >= all.size()) return std::nullopt;
  return Means{all[found->second.index], found->second.complete, false};
}

// For two settings that are equal in effect: a difference of zero over the samples that were run.
std::optional<Means> SessionView::NoDifference() const {
  std::optional<Means> zero = MeansOf(Side::kA, Measure::kNll);
  if (!zero) return std::nullopt;
  zero->series.setting = QString::fromStdString(b.text);
  for (QVector<double>* numbers : {&zero->series.values, &zero->series.low, &zero->series.high})
    numbers->fill(0);
  return zero;
}

std::optional<Means> SessionView::DifferenceOfMeans() const {
  if (!differs()) return std::nullopt;
  if (second) {
    const auto of_a = means.find(a.in_effect);
    const auto of_b = second->means.find(second->a.in_effect);
    if (of_a == means.end() || of_b == second->means.end()) return std::nullopt;
    return DifferenceOfModels(of_a->second, of_b->second);
  }
  if (a.in_effect == b.in_effect) return NoDifference();
  std::optional<Means> best;
  for (const auto& [text, entry] : means) {
    std::optional<Means> found = DifferenceIn(entry, a.in_effect, b.in_effect);
    if (!found) {
      found = DifferenceIn(entry, b.in_effect, a.in_effect);
      if (found) found->series = Negated(found->series, QString::fromStdString(b.in_effect));
    }
    if (found && (!best || found->series.samples > best->series.samples)) best = found;
  }
  return best;
}

const std::vector<OutcomeSeries>& SessionView::FileSeries(Measure measure) const {
  const auto known = file_series_.find(measure);
  if (known != file_series_.end()) return known->second;
  return file_series_[measure] = BestSeriesOf(file_records, measure);
}

void SessionView::TakeRecord(const Record& record) {
  const QString text = TextAttribute(record, "intervention");
  if (record.name == kPromptRecord) {
    prompts.push_back(record);
    a.Ask(SettingOrNone(text.toStdString()));
    return;
  }
  if (record.name == kPublishedRecord) {
    reference = std::make_shared<Record>(record);
    return;
  }
  const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
  SideView& side = is_b ? b : a;
  const bool suffixed = is_b && record.name.ends_with("_b");
  side.records[suffixed ? record.name.substr(0, record.name.size() - 2) : record.name] =
      std::make_shared<Record>(record);
  if (!text.isEmpty()) side.Ask(SettingOrNone(text.toStdString()));
}

std::unique_ptr<SessionView> ViewOfFile(RunFile file, const QString& path) {
  auto view = std::make_unique<SessionView>();
  view->is_file = true;
  view->path = path;
  view->provenance = file.provenance;
  view->task = TaskOf(file);
  for (const Record& record : file.records) view->TakeRecord(record);
  view->file_records = std::move(file.records);
  view->a.settled = view->b.settled = true;
  return view;
}

namespace {

size_t BytesOfSide(const SideView& side) {
  size_t bytes = 0;
  for (const auto& entry : side.records) bytes += BytesOf(*entry.second);
  return bytes;
}

bool SameSpans(const std::vector<SpanRequest>& a, const std::vector<SpanRequest>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SpanRequest& left, const SpanRequest& right) {
                      return left.span == right.span && left.text == right.text;
                    });
}

}  // namespace

bool SamePrompts(const PromptRequest& a, const PromptRequest& b) {
  const auto values = [](const PromptRequest& request) {
    return std::tie(request.task, request.seed, request.sample, request.places, request.text,
                    request.gold_begin, request.gold_end, request.answer, request.pieces,
                    request.question, request.format, request.kept_limit);
  };
  const bool same_given = std::equal(a.given.begin(), a.given.end(), b.given.begin(), b.given.end(),
                                     [](const SourceText& left, const SourceText& right) {
                                       return left.name == right.name &&
                                              left.own.text == right.own.text &&
                                              left.own.answer == right.own.answer &&
                                              SameSpans(left.own.spans, right.own.spans);
                                     });
  return values(a) == values(b) && SameSpans(a.spans, b.spans) && a.sources.empty() &&
         b.sources.empty() && same_given;
}

const SideView* KeptView::Find(const Intervention& setting) const {
  for (const SideView* side : {&a, &b}) {
    if (side->settled && side->setting == setting) return side;
  }
  return nullptr;
}

void KeptViews::Keep(KeptView view) {
  std::erase_if(views_, [&view](const Entry& entry) {
    return entry.view.place == view.place && SamePrompts(entry.view.request, view.request);
  });
  const size_t bytes = BytesOfSide(view.a) + BytesOfSide(view.b);
  views_.push_front({std::move(view), bytes});
  size_t all = 0;
  const auto first_beyond = std::find_if(views_.begin(), views_.end(), [&](const Entry& entry) {
    all += entry.bytes;
    return all > limit_;
  });
  views_.erase(first_beyond, views_.end());
}

const KeptView* KeptViews::Find(const PromptRequest& request, size_t place) const {
  const auto found = std::find_if(views_.begin(), views_.end(), [&](const Entry& entry) {
    return entry.view.place == place && SamePrompts(entry.view.request, request);
  });
  return found == views_.end() ? nullptr : &found->view;
}

void KeptViews::Forget(const PromptRequest& request) {
  std::erase_if(
      views_, [&request](const Entry& entry) { return SamePrompts(entry.view.request, request); });
}

}  // namespace midscope
