// SPDX-License-Identifier: MIT
#include "probes/measure/builtin/hidden_sums.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/timing.h"
#include "core/decoder/captures.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/plan_difference.h"
#include "probes/base/records.h"
#include "probes/model/provenance.h"

namespace midscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kCharactersPerToken = 10;
constexpr uint64_t kTextStream = 0x7e87;  // differs from the random streams of tasks and bootstrap
// Seconds of work below which no checkpoint is written, because writing would take as long.
constexpr double kWorthKeeping = 5;  // seconds

HiddenSums Empty(const HiddenSumsRun& run) {
  HiddenSums sums;
  sums.positions = run.plan.tokens;
  sums.channels = run.decoder.config().hidden;
  sums.layers = run.plan.layers;
  sums.sums.resize(sums.layers.size() * static_cast<size_t>(sums.positions * sums.channels));
  return sums;
}

// Reads and writes the checkpoint file of the sums.
class Checkpoint {
 public:
  explicit Checkpoint(const HiddenSumsRun& run) : run_(run) {}

  HiddenSums Load() const {
    HiddenSums sums = Empty(run_);
    std::error_code ignored;
    if (run_.checkpoint.empty() || !std::filesystem::exists(run_.checkpoint, ignored)) return sums;
    RunFile file = ReadRecords(run_.checkpoint);
    if (file.plan_json != run_.plan_json) {
      throw Failure(
          run_.checkpoint,
          "holds a search of another plan: " + FirstPlanDifference(file.plan_json, run_.plan_json),
          "Resume with that plan, or write to another file");
    }
    Record& record = file.records.at(0);
    auto& data = std::get<std::vector<double>>(record.arrays.at(0).data);
    if (data.size() != sums.sums.size()) throw Failure(run_.checkpoint, "holds other sums");
    sums.sums = std::move(data);
    sums.prompts = std::get<int64_t>(record.attributes.at("prompts"));
    return sums;
  }

  // Called after a prompt: writes a checkpoint unless that would take more than a tenth of the
  // time.
  void PromptDone(const HiddenSums& sums) {
    const double since = SecondsSince(last_);
    if (since >= run_.checkpoint_seconds && since >= 9 * cost_seconds_) Write(sums);
  }

  // Writes a checkpoint at the end or on interruption.
  void Save(const HiddenSums& sums) {
    if (SecondsSince(last_) >= std::max(kWorthKeeping, cost_seconds_)) Write(sums);
  }

 private:
  void Write(const HiddenSums& sums) {
    if (run_.checkpoint.empty() || sums.prompts == 0) return;
    const Clock::time_point start = Clock::now();
    Record record;
    record.name = "hidden_sums";
    record.axes = {ValuedAxis("layer", sums.layers), CountedAxis("position", sums.positions),
                   CountedAxis("channel", sums.channels)};
    record.arrays = {{"hidden_sum", {"layer", "position", "channel"}, sums.sums, "", ""}};
    record.attributes["prompts"] = sums.prompts;
    WriteOptions options;
    options.overwrite = true;
    options.gzip_level = 0;
    options.plan_json = run_.plan_json;
    WriteRecords(run_.checkpoint, {record},
                 MakeProvenance(run_.decoder, "", static_cast<int64_t>(run_.plan.seed), ""),
                 options);
    last_ = Clock::now();
    cost_seconds_ = SecondsSince(start);
  }

  const HiddenSumsRun& run_;
  Clock::time_point last_ = Clock::now();
  double cost_seconds_ = 0;
};

void AddPrompt(const HiddenSumsRun& run, const JobContext& context, HiddenSums& sums) {
  const std::vector<int32_t> ids = RandomTextIds(run.decoder.tokenizer(), run.plan.seed,
                                                 sums.prompts, run.plan.tokens, run.plan.bos);
  ResidualRows rows(run.decoder.config(), run.plan.tokens);
  RunRequest request;
  request.ids = ids;
  request.hooks = run.hooks;
  request.hooks.push_back(&rows);
  run.decoder.RunOne(request, context);
  const auto layer_size = static_cast<size_t>(sums.positions * sums.channels);
  for (size_t index = 0; index < sums.layers.size(); ++index) {
    const float* values =
        rows.values().data() + static_cast<size_t>(sums.layers[index]) * layer_size;
    double* sum = sums.sums.data() + index * layer_size;
    for (size_t i = 0; i < layer_size; ++i) sum[i] += double{values[i]};
  }
  ++sums.prompts;
}

}  // namespace

std::vector<int32_t> RandomTextIds(const Tokenizer& tokenizer, uint64_t seed, int64_t prompt,
                                   int64_t tokens, bool bos) {
  static constexpr std::string_view kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ";
  SplitMix64 random(SplitMix64(seed, kTextStream).Next(), static_cast<uint64_t>(prompt));
  std::string text;
  for (int64_t i = 0; i < tokens * kCharactersPerToken; ++i) {
    text += kCharacters[random.Below(kCharacters.size())];
  }
  std::vector<int32_t> ids = tokenizer.EncodeIds(text);
  if (bos) {
    const std::vector<int32_t> begins = tokenizer.begin_ids();
    tokenizer.CheckRows(begins);
    ids.insert(ids.begin(), begins.begin(), begins.end());
  }
  if (static_cast<int64_t>(ids.size()) < tokens) {
    throw Failure(
        "random text",
        fmt::format("{} characters make only {} tokens in this model", text.size(), ids.size()),
        "Ask for shorter prompts");
  }
  ids.resize(static_cast<size_t>(tokens));
  return ids;
}

std::vector<double> HiddenSums::Series(size_t layer, int64_t channel, int64_t first) const {
  std::vector<double> series;
  series.reserve(static_cast<size_t>(positions - first));
  for (int64_t position = first; position < positions; ++position) {
    const int64_t row = static_cast<int64_t>(layer) * positions + position;
    series.push_back(sums[static_cast<size_t>(row * channels + channel)] /
                     static_cast<double>(prompts));
  }
  return series;
}

HiddenSums SumHiddenStates(const HiddenSumsRun& run, const JobContext& context) {
  HiddenSums sums;
  SumHiddenStates(run, sums, context);
  return sums;
}

void SumHiddenStates(const HiddenSumsRun& run, HiddenSums& sums, const JobContext& context) {
  Checkpoint checkpoint(run);
  if (sums.prompts == 0) sums = checkpoint.Load();
  // Progress counts prompts; progress within a prompt is not reported.
  JobContext inner = context;
  inner.progress = nullptr;
  const auto report = [&] {
    context.Report({"hidden states", sums.prompts, run.plan.prompts, "prompts"});
  };
  report();
  try {
    while (sums.prompts < run.plan.prompts) {
      context.ThrowIfCancelled();
      AddPrompt(run, inner, sums);
      report();
      if (run.on_prompt && sums.prompts < run.plan.prompts) run.on_prompt(sums);
      checkpoint.PromptDone(sums);
    }
  } catch (const Cancelled&) {
    checkpoint.Save(sums);
    throw;
  }
  checkpoint.Save(sums);
}

}  // namespace midscope
