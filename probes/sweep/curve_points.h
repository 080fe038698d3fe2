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

// A sweep, or a file of midscope probe, as input for curves.
struct CurveInput {
  std::string model;
  SweepPlan plan;
  std::vector<CellStatistics> means;  // statistics of each cell, [setting, place]
  SweepStatistics statistics;
  double prompt_tokens = 0;  // mean number of tokens of the prompts
  // Mean attention on the gold over samples, [place], for a file of midscope probe
  // (probe_curves.h); `means` is then empty. Empty for a sweep.
  std::vector<double> gold_attention = {};
};

// Name of the curve parameter that is the mean number of tokens of the prompts.
inline constexpr const char* kCurveLength = "length";

// Values that can differ between settings and sweeps, by name of the feature: "model", "task",
// "task.lines", "seed", "setting" (its terms), "pi.ratio".
using Features = std::map<std::string, std::string>;

// One setting of one input file: a point of a curve.
struct CurvePoint {
  size_t input = 0;
  size_t setting = 0;
  Features features;
};

// The parameter over which points form curves.
struct CurveParameter {
  std::string name;
  // Returns the parameter's value at a point (a range's first number); nullopt if there is none.
  std::optional<double> ValueOf(const CurvePoint& point,
                                const std::vector<CurveInput>& inputs) const;
  // Returns a point's features without the parameter; they are equal for all points of a curve.
  Features Rest(const CurvePoint& point) const;
};

struct Curve {
  Features rest;
  std::map<double, CurvePoint> points;
  std::optional<CurvePoint> constant;  // the point of a setting without the parameter
};

std::vector<CurvePoint> PointsOf(const std::vector<CurveInput>& inputs);

// Returns the curves over the parameter that have at least two points.
std::vector<Curve> CurvesOver(const CurveParameter& parameter,
                              const std::vector<CurvePoint>& points,
                              const std::vector<CurveInput>& inputs);

// Adds a constant curve for each setting of the same sweeps that does not have the parameter.
void AddConstants(const CurveParameter& parameter, const std::vector<CurvePoint>& points,
                  const std::vector<CurveInput>& inputs, std::vector<Curve>& curves);

// Returns labels of the curves, without the features common to all: "ms-poe, ms-poe.alpha 3".
std::vector<std::string> LabelsOf(const std::vector<Curve>& curves);

// Returns the parameters over which the inputs have curves, those with the most points first:
// arguments of the settings' terms ("pi.ratio", "channel.factor", "ms-poe.alpha"; "crop.layers" is
// the first layer of a range), parameters of the task ("lines") and, if there are any,
// kCurveLength.
std::vector<std::string> CurveParameters(const std::vector<CurveInput>& inputs);

// Returns the paths of the given files and, for folders, the sweeps in them or, if there are none,
// the files of midscope probe with attention on the gold by place, ordered by name. Throws Error
// (failure) if a folder contains neither or a file is damaged.
std::vector<std::string> SweepFilesOf(const std::vector<std::string>& given);

// Reads the file of a sweep or of midscope probe over places. Throws Error: (usage) if the file is
// not one of these, (failure) if it is damaged.
CurveInput ReadCurveInput(const std::string& file, const JobContext& context = {});

// Reads the sweeps or probe files that SweepFilesOf finds. Throws Error (usage) if there are both
// kinds of files, and in the cases of SweepFilesOf and ReadCurveInput; Cancelled.
std::vector<CurveInput> ReadCurveInputs(const std::vector<std::string>& given,
                                        const JobContext& context);

}  // namespace midscope
