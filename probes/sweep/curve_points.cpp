// SPDX-License-Identifier: MIT
#include "probes/sweep/curve_points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/terms/intervention_json.h"
#include "data/store/record_reader.h"
#include "data/sweep/sweep_store.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/probe_curves.h"
#include "probes/sweep/stored_result.h"

namespace midscope {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTaskMark = "task.";  // prefix of parameters of the task

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
      while (features.contains(key)) key += "'";  // another term of the same name
      features[key] = TextOf(value);
    }
  }
  features["setting"] = terms.empty() ? "none" : terms;
}

// Parses a number, or the first number of a range: "8-25".
std::optional<double> NumberOf(const std::string& text) {
  double number = 0;
  if (ReadWhole(text, number)) return number;
  const size_t dash = text.find('-', 1);
  if (dash != std::string::npos && ReadWhole(text.substr(0, dash), number)) return number;
  return std::nullopt;
}

bool IsOfTask(const std::string& feature) { return feature.rfind(kTaskMark, 0) == 0; }

// Returns the name of a parameter for a feature: "lines" for "task.lines".
std::string NameOf(const std::string& feature) {
  return IsOfTask(feature) ? feature.substr(std::string(kTaskMark).size()) : feature;
}

size_t PointCount(const std::vector<Curve>& curves) {
  size_t count = 0;
  for (const Curve& curve : curves) count += curve.points.size();
  return count;
}

// Returns whether a feature distinguishes the curve from another one; if it is an argument of a
// term, from a curve with the same terms.
bool Distinguishes(const std::string& feature, const Curve& curve,
                   const std::vector<Curve>& curves) {
  const bool of_setting = feature.find('.') != std::string::npos && !IsOfTask(feature);
  return std::any_of(curves.begin(), curves.end(), [&](const Curve& other) {
    if (of_setting && other.rest.at("setting") != curve.rest.at("setting")) return false;
    const auto found = other.rest.find(feature);
    return found == other.rest.end() || found->second != curve.rest.at(feature);
  });
}

}  // namespace

std::vector<CurvePoint> PointsOf(const std::vector<CurveInput>& inputs) {
  std::vector<CurvePoint> points;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const SweepPlan& plan = inputs[i].plan;
    for (size_t s = 0; s < plan.settings.size(); ++s) {
      CurvePoint point{i, s, {}};
      point.features["model"] = inputs[i].model;
      point.features["seed"] = std::to_string(plan.seed);
      AddTask(plan.task, point.features);
      AddSetting(plan.settings[s].intervention, point.features);
      points.push_back(std::move(point));
    }
  }
  return points;
}

std::optional<double> CurveParameter::ValueOf(const CurvePoint& point,
                                              const std::vector<CurveInput>& inputs) const {
  if (name == kCurveLength) return std::round(inputs[point.input].prompt_tokens);
  for (const auto& [feature, text] : point.features) {
    if (NameOf(feature) == name) return NumberOf(text);
  }
  return std::nullopt;
}

Features CurveParameter::Rest(const CurvePoint& point) const {
  Features rest = point.features;
  std::erase_if(rest, [&](const auto& feature) {
    return NameOf(feature.first) == name || (name == kCurveLength && IsOfTask(feature.first));
  });
  return rest;
}

std::vector<Curve> CurvesOver(const CurveParameter& parameter,
                              const std::vector<CurvePoint>& points,
                              const std::vector<CurveInput>& inputs) {
  std::vector<Curve> curves;
  for (const CurvePoint& point : points) {
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

void AddConstants(const CurveParameter& parameter, const std::vector<CurvePoint>& points,
                  const std::vector<CurveInput>& inputs, std::vector<Curve>& curves) {
  const size_t drawn = curves.size();
  for (const CurvePoint& point : points) {
    if (parameter.ValueOf(point, inputs)) continue;
    const bool beside = std::any_of(
        curves.begin(), curves.begin() + static_cast<ptrdiff_t>(drawn), [&](const Curve& curve) {
          return std::any_of(curve.points.begin(), curve.points.end(),
                             [&](const auto& other) { return other.second.input == point.input; });
        });
    if (beside) curves.push_back({point.features, {}, point});
  }
}

std::vector<std::string> LabelsOf(const std::vector<Curve>& curves) {
  std::vector<std::string> labels;
  for (const Curve& curve : curves) {
    std::string label = curve.rest.at("setting");
    for (const auto& [feature, text] : curve.rest) {
      if (feature != "setting" && Distinguishes(feature, curve, curves))
        label.append(", ").append(NameOf(feature)).append(" ").append(text);
    }
    while (std::find(labels.begin(), labels.end(), label) != labels.end()) label += "'";
    labels.push_back(std::move(label));
  }
  return labels;
}

std::vector<std::string> CurveParameters(const std::vector<CurveInput>& inputs) {
  const std::vector<CurvePoint> points = PointsOf(inputs);
  std::set<std::string> names;
  bool of_task = false;
  std::vector<std::pair<size_t, std::string>> found;
  for (const CurvePoint& point : points) {
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

namespace {

namespace fs = std::filesystem;

double MeanPromptTokens(const RunReader& reader) {
  const Array tokens = reader.ReadArray(kSweepRecord, "prompt_tokens");
  const auto& counts = std::get<std::vector<int64_t>>(tokens.data);
  double sum = 0;
  for (const int64_t count : counts) sum += static_cast<double>(count);
  return counts.empty() ? 0 : sum / static_cast<double>(counts.size());
}

}  // namespace

std::vector<std::string> SweepFilesOf(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& one : given) {
    if (!fs::is_directory(one)) {
      files.push_back(one);
      continue;
    }
    std::vector<std::string> inside;
    std::vector<std::string> probed;
    for (const auto& entry : fs::directory_iterator(one)) {
      if (entry.path().extension() != ".h5") continue;
      const RunReader reader(entry.path().string());
      if (IsStoredSweep(reader)) inside.push_back(reader.path());
      if (HasGoldAttention(reader)) probed.push_back(reader.path());
    }
    if (inside.empty()) inside = std::move(probed);
    if (inside.empty()) throw Failure(one, "the folder must contain a file of midscope sweep");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

CurveInput ReadCurveInput(const std::string& file, const JobContext& context) {
  const RunReader reader(file);
  if (HasGoldAttention(reader)) return ReadProbeCurve(reader);
  if (!IsStoredSweep(reader)) {
    throw UsageError(
        file, "it is not a file of midscope sweep",
        "Give files with samples of a sweep, or of midscope probe --task with --places "
        "and --probes key_information");
  }
  SweepPlan plan = StoredPlan(reader);
  const SweepResult result = ReadStoredResult(reader);
  std::vector<CellStatistics> means = Summarise(plan, result);
  SweepStatistics statistics = AnalyseSweep(plan, result.outcomes, result.tests, context);
  return {reader.provenance().model_path, std::move(plan), std::move(means), std::move(statistics),
          MeanPromptTokens(reader)};
}

std::vector<CurveInput> ReadCurveInputs(const std::vector<std::string>& given,
                                        const JobContext& context) {
  std::vector<CurveInput> inputs;
  for (const std::string& file : SweepFilesOf(given)) {
    context.ThrowIfCancelled();
    inputs.push_back(ReadCurveInput(file, context));
    if (inputs.back().gold_attention.empty() != inputs.front().gold_attention.empty()) {
      throw UsageError(file, "files of sweeps and files of probes have no measure in common",
                       "Give files of one kind");
    }
  }
  return inputs;
}

}  // namespace midscope
