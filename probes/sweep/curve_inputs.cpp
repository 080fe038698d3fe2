// SPDX-License-Identifier: MIT
#include "probes/sweep/curve_inputs.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/stored_result.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

double MeanPromptTokens(const RunReader& reader) {
  const Array tokens = reader.ReadArray("sweep", "prompt_tokens");
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
    for (const auto& entry : fs::directory_iterator(one)) {
      std::string file = entry.path().string();
      if (entry.path().extension() == ".h5" && IsStoredSweep(RunReader(file)))
        inside.push_back(std::move(file));
    }
    if (inside.empty()) throw Failure(one, "it holds no file of midscope sweep");
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

CurveInput ReadCurveInput(const std::string& file, const JobContext& context) {
  const RunReader reader(file);
  if (!IsStoredSweep(reader)) {
    throw UsageError(file, "it is no file of midscope sweep", "Give files with samples of a sweep");
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
  }
  return inputs;
}

}  // namespace midscope
