// SPDX-License-Identifier: MIT
// Compares two models on one task: the same samples on both by the commands `sweep` and `probe`,
// and the differences of their files.
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

// Runs another command of the program without its output. Its options are those of the same name in
// `input`, except those in `left_out`, and `own`.
void RunOther(const std::string& name, const CommandInput& input,
              const std::vector<std::pair<std::string, ParameterValue>>& own,
              const std::set<std::string>& left_out = {});

struct HeadMeasure {
  std::string name;    // "gold attention"
  std::string record;  // in a file of midscope probe
  std::string array;   // [..., layer, head]
};
// The measures that are compared by head.
const std::vector<HeadMeasure>& HeadMeasures();

// A measure of every head, as mean over samples and places; empty if there is none.
struct HeadMeans {
  int64_t layers = 0;
  int64_t heads = 0;
  std::vector<double> values;  // [layer, head]
  // Returns the indices of the `count` largest values, the largest first.
  std::vector<size_t> Largest(size_t count) const;
};

struct ModelComparison {
  std::string task;                     // with all parameters
  std::vector<ComparedCell> before;     // by setting and place, and the mean over places
  std::vector<ComparedCell> after;      // likewise, with the difference after - before
  std::vector<HeadMeans> heads_before;  // [measure]
  std::vector<HeadMeans> heads_after;
};

// Throws Error (failure) if the task makes other texts for one model than for the other, as tasks
// do whose items are single tokens.
void CheckSameTexts(const std::string& before, const std::string& after, const std::string& task,
                    uint64_t seed, int64_t samples);

// Runs the task on both models into files whose names begin with `stem`. Options: those of
// compare-models. Throws as the commands do.
ModelComparison CompareModels(const CommandInput& input, const std::string& task,
                              const std::string& stem);

// Returns one sentence per setting: which model answers better, and by how much.
std::vector<std::string> ComparisonVerdicts(const ModelComparison& comparison);

// Returns the comparison as a record.
Record ComparisonRecord(const ModelComparison& comparison, const std::string& name);

}  // namespace midscope::cli
