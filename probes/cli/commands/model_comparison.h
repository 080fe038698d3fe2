// SPDX-License-Identifier: MIT
// Compares two models on one task: runs the same samples on both with the commands `sweep` and
// `probe`, and compares the results files.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/record.h"
#include "probes/cli/commands/file_comparison.h"
#include "probes/cli/program/command.h"

namespace midscope::cli {

// Runs another command of the program without printing its output. Its options are the options of
// the same names in `input`, except those in `left_out`, plus the options in `own`.
void RunOther(const std::string& name, const CommandInput& input,
              const std::vector<std::pair<std::string, ParameterValue>>& own,
              const std::set<std::string>& left_out = {});

struct HeadMeasure {
  std::string name;    // "gold attention"
  std::string record;  // name of a record in a file of midscope probe
  std::string array;   // [..., layer, head]
};
// Returns the measures of heads that are compared.
const std::vector<HeadMeasure>& HeadMeasures();

// A measure of every head, averaged over samples and places; empty if the files do not have it.
struct HeadMeans {
  int64_t layers = 0;
  int64_t heads = 0;
  std::vector<double> values;  // mean of the measure, [layer, head]
  // Returns the indices of the `count` largest values, the largest first.
  std::vector<size_t> Largest(size_t count) const;
};

struct ModelComparison {
  std::string task;                     // task with all parameters
  std::vector<ComparedCell> before;     // outcomes by setting and place, and mean over places
  std::vector<ComparedCell> after;      // as `before`, with the difference after - before
  std::vector<HeadMeans> heads_before;  // means by head, [measure]
  std::vector<HeadMeans> heads_after;
};

// Throws Error (failure) if the task makes different texts for the two models, as
// single-token tasks do.
void CheckSameTexts(const std::string& before, const std::string& after, const std::string& task,
                    uint64_t seed, int64_t samples);

// Runs the task on both models and writes files whose names begin with `stem`. Uses the options of
// compare-models. Throws in the same cases as `sweep` and `probe`.
ModelComparison CompareModels(const CommandInput& input, const std::string& task,
                              const std::string& stem);

// Returns one sentence per setting: which model answers better, and by how much.
std::vector<std::string> ComparisonVerdicts(const ModelComparison& comparison);

// Returns the comparison as a record.
Record ComparisonRecord(const ModelComparison& comparison, const std::string& name);

}  // namespace midscope::cli
