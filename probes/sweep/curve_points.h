// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_plan.h"
#include "probes/sweep/sweep_statistics.h"

namespace midscope {

// One sweep.
struct CurveInput {
  std::string model;
  SweepPlan plan;
  std::vector<CellStatistics> means;  // [setting, place]
  SweepStatistics statistics;
  double prompt_tokens = 0;  // the mean over its prompts
};

// The mean number of tokens of the prompts, whichever parameter of the task makes them longer.
inline constexpr const char* kCurveLength = "length";

// All features that distinguish a setting of a sweep from another one, by name: "model", "task",
// "task.lines", "seed", "setting" (its terms), "pi.ratio".
using Features = std::map<std::string, std::string>;

// A setting of an input.
struct CurvePoint {
  size_t input = 0;
  size_t setting = 0;
  Features features;
};

// How points are grouped by one parameter.
struct CurveParameter {
  std::string name;
  // Nothing where the point has no such number; of a range it is the first.
  std::optional<double> ValueOf(const CurvePoint& point,
                                const std::vector<CurveInput>& inputs) const;
  // All that points of a curve have in common.
  Features Rest(const CurvePoint& point) const;
};

struct Curve {
  Features rest;
  std::map<double, CurvePoint> points;
  std::optional<CurvePoint> constant;  // without the parameter: the same everywhere
};

std::vector<CurvePoint> PointsOf(const std::vector<CurveInput>& inputs);

// Curves of two points or more.
std::vector<Curve> CurvesOver(const CurveParameter& parameter,
                              const std::vector<CurvePoint>& points,
                              const std::vector<CurveInput>& inputs);

// Adds settings of the curves' sweeps that have no such parameter.
void AddConstants(const CurveParameter& parameter, const std::vector<CurvePoint>& points,
                  const std::vector<CurveInput>& inputs, std::vector<Curve>& curves);

// Labels of the curves, without their common features: "ms-poe, ms-poe.alpha 3".
std::vector<std::string> LabelsOf(const std::vector<Curve>& curves);

// Parameters over which the inputs have curves, the one with the most points first: arguments of
// the settings' terms ("pi.ratio", "channel.factor", "ms-poe.alpha"; "crop.layers" is the first
// layer of a range), parameters of the task ("lines") and, with these, kCurveLength.
std::vector<std::string> CurveParameters(const std::vector<CurveInput>& inputs);


// The files, and of folders those that are sweeps, by name. Throws Error (failure): a folder
// without a sweep, a damaged file.
std::vector<std::string> SweepFilesOf(const std::vector<std::string>& given);

// Throws Error: (usage) a file that is not a sweep's, (failure) a damaged one.
CurveInput ReadCurveInput(const std::string& file, const JobContext& context = {});

// Both. Throws Cancelled, too.
std::vector<CurveInput> ReadCurveInputs(const std::vector<std::string>& given,
                                        const JobContext& context);

}  // namespace midscope
