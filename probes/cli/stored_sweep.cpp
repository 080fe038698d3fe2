// SPDX-License-Identifier: MIT
#include "probes/cli/stored_sweep.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/decoder/arithmetic_choice.h"
#include "data/store/unfinished_files.h"
#include "data/sweep/sweep_store.h"
#include "probes/cli/channels_table.h"
#include "probes/cli/scan_text.h"
#include "probes/cli/sweep_table.h"
#include "probes/model/model_options.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/stored_result.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {
namespace {

constexpr const char* kSearch = "channel_search";
constexpr size_t kChannelsShown = 10;
constexpr int64_t kScanItemsShown = 20;

std::string SweepTable(const RunReader& reader, const JobContext& job) {
  const SweepPlan plan = StoredPlan(reader);
  if (plan.scan) {
    const SweepResult result = ReadStoredResult(reader);
    return ScanText(plan, ScanEffectsOf(plan, result.outcomes, job),
                    PromptCutsOf(plan, result.outcomes), kScanItemsShown);
  }
  return SweepText({StoredReport(reader, job)});
}

// As many as the search was given.
size_t ChannelsShown(const std::string& plan_json) {
  const nlohmann::json plan = nlohmann::json::parse(plan_json, nullptr, false);
  return plan.is_object() ? plan.value("top", kChannelsShown) : kChannelsShown;
}

}  // namespace

CellReport StoredReport(const RunReader& reader, const JobContext& job) {
  const SweepPlan plan = StoredPlan(reader);
  const SweepCell cell{reader.provenance().model_path, plan.task, plan.seed};
  return MakeReport(cell, reader.path(), plan, ReadStoredResult(reader), job);
}

std::string PrintedTable(const RunReader& reader, const JobContext& job) {
  if (reader.Has(kSearch)) {
    std::vector<Record> records;
    for (const std::string& name : reader.record_names()) records.push_back(reader.Read(name));
    return ChannelsText(records, ChannelsShown(reader.plan_json()));
  }
  if (!IsStoredSweep(reader)) return "";
  try {
    return SweepTable(reader, job);
  } catch (const Error& error) {
    // A setting of a later version, or one that names a deleted file: the rest is shown.
    return std::string("no table of the sweep: ") + error.what() + "\n";
  }
}

std::string ContinuedPlanJson(const std::string& file, const RankGroup& ranks) {
  try {
    if (std::filesystem::exists(file)) return RunReader(file).plan_json();
    if (ranks.size() == 1 && HasJournal(file)) return SweepStore::OpenForReading(file).plan_json();
    // Parts of ranks that were killed before they were joined.
    for (const std::string& part : RankParts(file)) {
      if (std::filesystem::exists(part)) return RunReader(part).plan_json();
      if (HasJournal(part)) return SweepStore::OpenForReading(part).plan_json();
    }
  } catch (const Error&) {
  }
  return "";
}

DecoderOptions SweepDecoderOptions(const std::string& model, const OptionSet& options,
                                   const std::string& continued_plan, RankGroup& ranks,
                                   const JobContext& job) {
  DecoderOptions resolved = ReadDecoderOptions(options);
  const bool leaves_products =
      !options.IsSet("products") || options.Text("products") == kAutoProducts;
  ranks.Agree([&] {
    if (ranks.rank() != 0) return;
    const std::string stored = PlanDtype(continued_plan);
    if (!stored.empty()) {
      if (resolved.fastest_dtype) resolved.dtype = ParseDtype(stored);
      if (leaves_products) resolved.products = ParseProducts(PlanProducts(continued_plan));
    } else if (resolved.fastest_dtype) {
      const Arithmetic fastest =
          FindArithmeticTimes(model, resolved, job).Fastest(resolved.fastest_products);
      resolved.dtype = fastest.dtype;
      resolved.products = fastest.products;
    }
  });
  resolved.dtype =
      static_cast<kernels::Dtype>(ranks.FromRankZero(static_cast<int64_t>(resolved.dtype)));
  resolved.products =
      static_cast<Products>(ranks.FromRankZero(static_cast<int64_t>(resolved.products)));
  resolved.fastest_dtype = false;
  resolved.fastest_products = false;
  return resolved;
}

}  // namespace midscope::cli
