// SPDX-License-Identifier: MIT
#include "probes/sweep/outcome_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "probes/base/records.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

bool HasPerplexity(const CurveInput& input) {
  return std::any_of(input.means.begin(), input.means.end(),
                     [](const CellStatistics& cell) { return std::isfinite(cell.perplexity); });
}

// Returns whether the sweep prints all of its places as shares: "50 %".
bool HasPlacesByShare(const CurveInput& input) {
  const SweepPlan& plan = input.plan;
  return std::all_of(plan.places.begin(), plan.places.end(),
                     [&](int64_t place) { return PlaceText(plan, place).ends_with('%'); });
}

// Returns a place as a number as the sweep prints it: in percent, or as rank.
double PrintedPlace(const SweepPlan& plan, int64_t place, bool as_share) {
  double printed = static_cast<double>(place);
  const std::string text = PlaceText(plan, place);
  if (as_share) ReadWhole(text.substr(0, text.find(' ')), printed);
  return printed;
}

double CellValue(const CellStatistics& cell, const std::string& measure) {
  if (measure == kAnswerNll) return cell.answer_nll;
  return measure == "generation_score" ? cell.generation_score : cell.accuracy;
}

// Fills the arrays of one measure in record outcome_curves.
class MeasureArrays {
 public:
  MeasureArrays(const std::vector<CurveInput>& inputs, const std::vector<Curve>& curves,
                const std::vector<double>& values, std::string measure)
      : inputs_(inputs), curves_(curves), values_(values), measure_(std::move(measure)) {}

  void AddTo(const std::vector<std::string>& axes, bool with_places, Record& record) const {
    const std::string unit = measure_ == kAnswerNll ? "nats" : "";
    const auto add = [&](const std::string& ending, const std::string& described, const auto& read,
                         size_t least_places = 1) {
      const auto of_statistics = [&](const SweepPlan&, const SettingStatistics& s) {
        return read(s);
      };
      record.arrays.push_back(
          {measure_ + ending, axes, Over(of_statistics, least_places), unit, described});
    };
    using S = SettingStatistics;
    add("_mean", "mean over places", [](const S& s) { return s.mean; });
    add("_mean_low", "", [](const S& s) { return s.mean_interval.low; });
    add("_mean_high", "", [](const S& s) { return s.mean_interval.high; });
    const bool has_gaps = std::any_of(inputs_.begin(), inputs_.end(), [](const CurveInput& input) {
      return input.plan.places.size() > 1;
    });
    if (has_gaps) {
      add(
          "_gap", "best place less worst", [](const S& s) { return s.gap; }, 2);
      add(
          "_gap_low", "", [](const S& s) { return s.gap_interval.low; }, 2);
      add(
          "_gap_high", "", [](const S& s) { return s.gap_interval.high; }, 2);
      const bool as_share = std::all_of(inputs_.begin(), inputs_.end(), HasPlacesByShare);
      const auto worst = [&](const SweepPlan& plan, const S& s) {
        return s.worst_place ? PrintedPlace(plan, *s.worst_place, as_share) : kNoNumber;
      };
      record.arrays.push_back({measure_ + "_worst_place", axes, Over(worst, 2),
                               as_share ? "%" : "rank", "place with the worst mean"});
    }
    if (!with_places) return;
    std::vector<std::string> by_place = axes;
    by_place.emplace_back("place");
    record.arrays.push_back({measure_, std::move(by_place), OfPlaces(), unit, "mean over samples"});
  }

  // Running text has one place and no gap; its mean is computed from sums over all tokens.
  void AddPerplexityTo(const std::vector<std::string>& axes, Record& record) const {
    const auto add = [&](const std::string& name, const std::string& described, const auto& read) {
      record.arrays.push_back({name, axes, OverCells(read), "", described});
    };
    using C = CellStatistics;
    add("perplexity", "exp of the nats per token, over all tokens that are scored",
        [](const C& cell) { return cell.perplexity; });
    add("perplexity_low", "", [](const C& cell) { return cell.perplexity_interval.low; });
    add("perplexity_high", "", [](const C& cell) { return cell.perplexity_interval.high; });
  }

 private:
  // Computes values of cells with `read`; NaN for sweeps at several places.
  template <typename Read>
  std::vector<double> OverCells(const Read& read) const {
    std::vector<double> numbers;
    for (const Curve& curve : curves_) {
      for (const double value : values_) {
        const CurvePoint* point = At(curve, value);
        const CurveInput* input = point ? &inputs_[point->input] : nullptr;
        const bool takes = input && input->plan.places.size() == 1;
        numbers.push_back(takes ? read(input->means[point->setting]) : kNoNumber);
      }
    }
    return numbers;
  }

  // Returns the point of the curve at `value`; null if there is none.
  const CurvePoint* At(const Curve& curve, double value) const {
    if (curve.constant) return &*curve.constant;
    const auto found = curve.points.find(value);
    return found == curve.points.end() ? nullptr : &found->second;
  }

  // Computes values over places with `read`; NaN for sweeps at fewer than `least_places` places.
  template <typename Read>
  std::vector<double> Over(const Read& read, size_t least_places) const {
    std::vector<double> numbers;
    for (const Curve& curve : curves_) {
      for (const double value : values_) {
        const CurvePoint* point = At(curve, value);
        const bool takes = point && inputs_[point->input].plan.places.size() >= least_places;
        const SettingStatistics* of = takes ? StatisticsOf(*point) : nullptr;
        numbers.push_back(of ? read(inputs_[point->input].plan, *of) : kNoNumber);
      }
    }
    return numbers;
  }

  const SettingStatistics* StatisticsOf(const CurvePoint& point) const {
    for (const SettingStatistics& one : inputs_[point.input].statistics.settings) {
      if (one.setting == point.setting && one.measure == measure_) return &one;
    }
    return nullptr;
  }

  // Returns the mean over samples for a cell of [setting, place].
  double OfPlace(const CurvePoint& point, size_t cell) const {
    const CurveInput& input = inputs_[point.input];
    return input.gold_attention.empty() ? CellValue(input.means[cell], measure_)
                                        : input.gold_attention[cell];
  }

  std::vector<double> OfPlaces() const {
    std::vector<double> numbers;
    for (const Curve& curve : curves_) {
      for (const double value : values_) {
        const CurvePoint* point = At(curve, value);
        const size_t places = inputs_.front().plan.places.size();
        for (size_t place = 0; place < places; ++place) {
          numbers.push_back(point ? OfPlace(*point, point->setting * places + place) : kNoNumber);
        }
      }
    }
    return numbers;
  }

  const std::vector<CurveInput>& inputs_;
  const std::vector<Curve>& curves_;
  const std::vector<double>& values_;
  std::string measure_;
};

// Returns the axis of places, labelled as in the first input or, if inputs have different ranks, by
// shares.
Axis PlaceAxis(const std::vector<CurveInput>& inputs) {
  const SweepPlan& first = inputs.front().plan;
  const bool same = std::all_of(inputs.begin(), inputs.end(), [&](const CurveInput& input) {
    return input.plan.places == first.places;
  });
  Axis axis = CountedAxis("place", static_cast<int64_t>(first.places.size()));
  for (const int64_t place : first.places) {
    const double share = PlaceShare(first, place);
    axis.labels.push_back(same || std::isnan(share) ? PlaceText(first, place)
                                                    : NumberText(std::round(100 * share)) + " %");
  }
  return axis;
}

// Returns the measures of the curves. If all sweeps are of running text, omits accuracy, the share
// of texts that are continued word for word, which is not meaningful.
std::vector<std::string> MeasuresOf(const std::vector<CurveInput>& inputs) {
  const bool texts_alone = std::all_of(inputs.begin(), inputs.end(), HasPerplexity);
  std::vector<std::string> measures;
  for (const CurveInput& input : inputs) {
    for (const SettingStatistics& one : input.statistics.settings) {
      if (texts_alone && one.measure != kAnswerNll) continue;
      if (std::find(measures.begin(), measures.end(), one.measure) == measures.end())
        measures.push_back(one.measure);
    }
  }
  return measures;
}

}  // namespace

Record OutcomeCurves(const std::vector<CurveInput>& inputs, const std::string& parameter) {
  const std::vector<std::string> known = CurveParameters(inputs);
  if (known.empty()) {
    throw UsageError("curves", "no two settings differ in the number of one argument alone",
                     "Give sweeps of several, such as --with 'pi(1.2)' --with 'pi(1.5)'");
  }
  const CurveParameter over{parameter.empty() ? known.front() : parameter};
  if (std::find(known.begin(), known.end(), over.name) == known.end())
    throw UsageError("parameter '" + over.name + "'", "no curve goes over it",
                     KnownWordsHint(over.name, known));
  const std::vector<CurvePoint> points = PointsOf(inputs);
  std::vector<Curve> curves = CurvesOver(over, points, inputs);
  std::set<double> all;
  for (const Curve& curve : curves) {
    for (const auto& [value, point] : curve.points) all.insert(value);
  }
  const std::vector<double> values(all.begin(), all.end());
  AddConstants(over, points, inputs, curves);

  Record record;
  record.name = kOutcomeCurves;
  std::string axis = over.name;
  std::replace_if(
      axis.begin(), axis.end(), [](char c) { return c == '.' || c == '\''; }, '_');
  record.axes = {{"curve", static_cast<int64_t>(curves.size()), "", LabelsOf(curves), {}},
                 {axis,
                  static_cast<int64_t>(values.size()),
                  over.name == kCurveLength ? "tokens" : "",
                  {},
                  values}};
  const bool with_places = std::all_of(inputs.begin(), inputs.end(), [&](const CurveInput& input) {
    return input.plan.places.size() == inputs.front().plan.places.size();
  });
  if (with_places) record.axes.push_back(PlaceAxis(inputs));
  if (std::any_of(inputs.begin(), inputs.end(), HasPerplexity))
    MeasureArrays(inputs, curves, values, "").AddPerplexityTo({"curve", axis}, record);
  for (const std::string& measure : MeasuresOf(inputs))
    MeasureArrays(inputs, curves, values, measure).AddTo({"curve", axis}, with_places, record);
  record.attributes = {{"parameter", over.name},
                       {"model", inputs.front().model},
                       {"task", inputs.front().plan.task},
                       {"samples", inputs.front().statistics.samples}};
  record.signal = record.arrays.front().name;
  return record;
}

}  // namespace midscope
