// SPDX-License-Identifier: MIT
#include "probes/sweep/outcome_curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/nearest_word.h"
#include "core/base/number_text.h"
#include "core/base/record_names.h"
#include "core/intervention/intervention_json.h"
#include "probes/base/record_axes.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kTaskMark = "task.";  // in front of a parameter of the task

// Everything that tells a setting of a sweep from another one, by name: "model", "task",
// "task.lines", "seed", "setting" (its terms), "pi.ratio".
using Features = std::map<std::string, std::string>;

struct Point {
  size_t input = 0;
  size_t setting = 0;
  Features features;
};

std::string TextOf(const Json& value) {
  const Json& one = value.is_array() && value.size() == 1 ? value.front() : value;
  return one.is_string() ? one.get<std::string>() : one.dump();
}

void AddTask(const std::string& task, Features& features) {
  const size_t colon = std::min(task.find(':'), task.size());
  features["task"] = task.substr(0, colon);
  size_t begin = colon + 1;
  while (begin < task.size()) {
    const size_t end = std::min(task.find(',', begin), task.size());
    const std::string one = task.substr(begin, end - begin);
    const size_t equals = std::min(one.find('='), one.size());
    features[kTaskMark + one.substr(0, equals)] = equals < one.size() ? one.substr(equals + 1) : "";
    begin = end + 1;
  }
}

void AddSetting(const Intervention& setting, Features& features) {
  std::string terms;
  const Json json = Json::parse(InterventionToJson(setting));
  for (const Json& term : json["terms"]) {
    const std::string name = term["term"];
    terms.append(terms.empty() ? "" : " + ").append(name);
    for (const auto& [argument, value] : term.items()) {
      if (argument == "term") continue;
      std::string key = name;
      key.append(".").append(argument);
      while (features.contains(key)) key += "'";  // a term that occurs again
      features[key] = TextOf(value);
    }
  }
  features["setting"] = terms.empty() ? "none" : terms;
}

std::vector<Point> PointsOf(const std::vector<CurveInput>& inputs) {
  std::vector<Point> points;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const SweepPlan& plan = inputs[i].plan;
    for (size_t s = 0; s < plan.settings.size(); ++s) {
      Point point{i, s, {}};
      point.features["model"] = inputs[i].model;
      point.features["seed"] = std::to_string(plan.seed);
      AddTask(plan.task, point.features);
      AddSetting(plan.settings[s].intervention, point.features);
      points.push_back(std::move(point));
    }
  }
  return points;
}

// A number, or the first of a range: "8-25".
std::optional<double> NumberOf(const std::string& text) {
  double number = 0;
  if (ReadWhole(text, number)) return number;
  const size_t dash = text.find('-', 1);
  if (dash != std::string::npos && ReadWhole(text.substr(0, dash), number)) return number;
  return std::nullopt;
}

bool IsOfTask(const std::string& feature) { return feature.rfind(kTaskMark, 0) == 0; }

// "lines" for "task.lines".
std::string NameOf(const std::string& feature) {
  return IsOfTask(feature) ? feature.substr(std::string(kTaskMark).size()) : feature;
}

// How points are grouped by one parameter.
struct CurveParameter {
  std::string name;
  std::optional<double> ValueOf(const Point& point, const std::vector<CurveInput>& inputs) const {
    if (name == kCurveLength) return std::round(inputs[point.input].prompt_tokens);
    for (const auto& [feature, text] : point.features) {
      if (NameOf(feature) == name) return NumberOf(text);
    }
    return std::nullopt;
  }
  // All that points of a curve have in common.
  Features Rest(const Point& point) const {
    Features rest = point.features;
    std::erase_if(rest, [&](const auto& feature) {
      return NameOf(feature.first) == name || (name == kCurveLength && IsOfTask(feature.first));
    });
    return rest;
  }
};

struct Curve {
  Features rest;
  std::map<double, Point> points;
  std::optional<Point> constant;  // without the parameter: the same everywhere
};

std::vector<Curve> CurvesOver(const CurveParameter& parameter, const std::vector<Point>& points,
                              const std::vector<CurveInput>& inputs) {
  std::vector<Curve> curves;
  for (const Point& point : points) {
    const std::optional<double> value = parameter.ValueOf(point, inputs);
    if (!value) continue;
    const Features rest = parameter.Rest(point);
    auto curve = std::find_if(curves.begin(), curves.end(),
                              [&](const Curve& one) { return one.rest == rest; });
    if (curve == curves.end()) curve = curves.insert(curves.end(), Curve{rest, {}, {}});
    curve->points.emplace(*value, point);
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.points.size() < 2; });
  return curves;
}

size_t PointCount(const std::vector<Curve>& curves) {
  size_t count = 0;
  for (const Curve& curve : curves) count += curve.points.size();
  return count;
}

// Settings of the same sweeps that have no such parameter.
void AddConstants(const CurveParameter& parameter, const std::vector<Point>& points,
                  const std::vector<CurveInput>& inputs, std::vector<Curve>& curves) {
  const size_t drawn = curves.size();
  for (const Point& point : points) {
    if (parameter.ValueOf(point, inputs)) continue;
    const bool beside = std::any_of(
        curves.begin(), curves.begin() + static_cast<ptrdiff_t>(drawn), [&](const Curve& curve) {
          return std::any_of(curve.points.begin(), curve.points.end(),
                             [&](const auto& other) { return other.second.input == point.input; });
        });
    if (beside) curves.push_back({point.features, {}, point});
  }
}

// Whether the feature tells the curve from another one: of the same terms, where it is an argument.
bool TellsApart(const std::string& feature, const Curve& curve, const std::vector<Curve>& curves) {
  const bool of_setting = feature.find('.') != std::string::npos && !IsOfTask(feature);
  return std::any_of(curves.begin(), curves.end(), [&](const Curve& other) {
    if (of_setting && other.rest.at("setting") != curve.rest.at("setting")) return false;
    const auto found = other.rest.find(feature);
    return found == other.rest.end() || found->second != curve.rest.at(feature);
  });
}

// What curves have in common is not in their labels: "ms-poe, ms-poe.alpha 3".
std::vector<std::string> LabelsOf(const std::vector<Curve>& curves) {
  std::vector<std::string> labels;
  for (const Curve& curve : curves) {
    std::string label = curve.rest.at("setting");
    for (const auto& [feature, text] : curve.rest) {
      if (feature != "setting" && TellsApart(feature, curve, curves))
        label.append(", ").append(NameOf(feature)).append(" ").append(text);
    }
    while (std::find(labels.begin(), labels.end(), label) != labels.end()) label += "'";
    labels.push_back(std::move(label));
  }
  return labels;
}

double CellValue(const CellStatistics& cell, const std::string& measure) {
  if (measure == kAnswerNll) return cell.answer_nll;
  return measure == "generation_score" ? cell.generation_score : cell.accuracy;
}

// Fills the arrays of one measure.
class MeasureArrays {
 public:
  MeasureArrays(const std::vector<CurveInput>& inputs, const std::vector<Curve>& curves,
                const std::vector<double>& values, std::string measure)
      : inputs_(inputs), curves_(curves), values_(values), measure_(std::move(measure)) {}

  void AddTo(const std::vector<std::string>& axes, bool with_places, Record& record) const {
    const std::string unit = measure_ == kAnswerNll ? "nats" : "";
    const auto add = [&](const std::string& ending, const std::string& described, const auto& read,
                         size_t least_places = 1) {
      record.arrays.push_back({measure_ + ending, axes, Over(read, least_places), unit, described});
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
      add(
          "_worst_place", "place with the worst mean",
          [](const S& s) { return s.worst_place ? static_cast<double>(*s.worst_place) : kNone; },
          2);
      record.arrays.back().unit = "rank";
    }
    if (!with_places) return;
    std::vector<std::string> by_place = axes;
    by_place.emplace_back("place");
    record.arrays.push_back({measure_, std::move(by_place), OfPlaces(), unit, "mean over samples"});
  }

 private:
  // Null where the curve has no such value.
  const Point* At(const Curve& curve, double value) const {
    if (curve.constant) return &*curve.constant;
    const auto found = curve.points.find(value);
    return found == curve.points.end() ? nullptr : &found->second;
  }

  // NaN for sweeps at fewer places.
  template <typename Read>
  std::vector<double> Over(const Read& read, size_t least_places) const {
    std::vector<double> numbers;
    for (const Curve& curve : curves_) {
      for (const double value : values_) {
        const Point* point = At(curve, value);
        const bool takes = point && inputs_[point->input].plan.places.size() >= least_places;
        const SettingStatistics* of = takes ? StatisticsOf(*point) : nullptr;
        numbers.push_back(of ? read(*of) : kNone);
      }
    }
    return numbers;
  }

  const SettingStatistics* StatisticsOf(const Point& point) const {
    for (const SettingStatistics& one : inputs_[point.input].statistics.settings) {
      if (one.setting == point.setting && one.measure == measure_) return &one;
    }
    return nullptr;
  }

  std::vector<double> OfPlaces() const {
    std::vector<double> numbers;
    for (const Curve& curve : curves_) {
      for (const double value : values_) {
        const Point* point = At(curve, value);
        const size_t places = inputs_.front().plan.places.size();
        for (size_t place = 0; place < places; ++place) {
          numbers.push_back(
              point ? CellValue(inputs_[point->input].means[point->setting * places + place],
                                measure_)
                    : kNone);
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

// As the first input prints them, or where inputs differ in ranks as shares of the way.
Axis PlaceAxis(const std::vector<CurveInput>& inputs) {
  const SweepPlan& first = inputs.front().plan;
  const bool same = std::all_of(inputs.begin(), inputs.end(), [&](const CurveInput& input) {
    return input.plan.places == first.places;
  });
  Axis axis = CountedAxis("place", static_cast<int64_t>(first.places.size()));
  for (const int64_t place : first.places) {
    axis.labels.push_back(same ? PlaceText(first, place)
                               : NumberText(std::round(100 * PlaceShare(first, place))) + " %");
  }
  return axis;
}

}  // namespace

std::vector<std::string> CurveParameters(const std::vector<CurveInput>& inputs) {
  const std::vector<Point> points = PointsOf(inputs);
  std::set<std::string> names;
  bool of_task = false;
  std::vector<std::pair<size_t, std::string>> found;
  for (const Point& point : points) {
    for (const auto& [feature, text] : point.features) {
      if (feature == "seed" || !NumberOf(text) || !names.insert(NameOf(feature)).second) continue;
      const size_t count = PointCount(CurvesOver(CurveParameter{NameOf(feature)}, points, inputs));
      if (count == 0) continue;
      found.emplace_back(count, NameOf(feature));
      of_task = of_task || IsOfTask(feature);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parameters;
  parameters.reserve(found.size() + 1);
  for (const auto& [count, name] : found) parameters.push_back(name);
  if (of_task) parameters.emplace_back(kCurveLength);
  return parameters;
}

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
  const std::vector<Point> points = PointsOf(inputs);
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
  std::vector<std::string> measures;
  for (const CurveInput& input : inputs) {
    for (const SettingStatistics& one : input.statistics.settings) {
      if (std::find(measures.begin(), measures.end(), one.measure) == measures.end())
        measures.push_back(one.measure);
    }
  }
  for (const std::string& measure : measures)
    MeasureArrays(inputs, curves, values, measure).AddTo({"curve", axis}, with_places, record);
  record.attributes = {{"parameter", over.name},
                       {"model", inputs.front().model},
                       {"task", inputs.front().plan.task},
                       {"samples", inputs.front().statistics.samples}};
  record.signal = measures.front() + "_mean";
  return record;
}

}  // namespace midscope
