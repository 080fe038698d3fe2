// SPDX-License-Identifier: MIT
#include "probes/cli/commands/stored_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/compute/arithmetic.h"
#include "core/model/model_source.h"
#include "core/terms/intervention_text.h"
#include "data/store/unfinished_files.h"
#include "data/sweep/rank_parts.h"
#include "data/sweep/sweep_store.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/channels_table.h"
#include "probes/cli/text/scan_text.h"
#include "probes/model/model_options.h"
#include "probes/sweep/chosen_places.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/scan_effects.h"
#include "probes/sweep/stored_result.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {

namespace {

// Returns a summary of a sweep's file: "40 of 40 samples, 2 settings".
std::string SweepFileText(const RunReader& reader) {
  const auto plan = nlohmann::json::parse(reader.plan_json(), nullptr, false);
  if (!plan.is_object()) return "an invalid plan";
  if (IsChannelSearch(reader)) return "channel search";
  const bool of_probes = plan.value("command", "") == kProbeCommand;
  const bool known = !plan.contains("samples") || plan["samples"].is_number_integer();
  if (!known || (plan.contains("settings") && !plan["settings"].is_array()))
    return "a plan that is damaged";
  int64_t samples = 0;
  for (const std::string& name : reader.record_names()) {
    const Record frame = reader.Describe(name);
    if (const Axis* axis = frame.FindAxis("sample")) samples = std::max(samples, axis->size);
  }
  std::string text = fmt::format("{}, {}", of_probes ? "probes" : "sweep", samples);
  if (plan.contains("samples")) text += " of " + plan["samples"].dump();
  text += samples == 1 && !plan.contains("samples") ? " sample" : " samples";
  if (plan.contains("settings")) {
    text += ", " + CountText(std::ssize(plan["settings"]), "setting");
  }
  if (plan.contains("task") && plan["task"].is_string()) {
    text += ", " + DisplayText(plan["task"].get<std::string>());
  }
  return text;
}

}  // namespace

bool IsChannelSearch(const RunReader& reader) { return reader.Has("channel_search"); }

Parameter SliceOption() {
  return TextListParameter(
      "slice",
      "AXIS=PLACES: a part along one axis, by label or value: layer=8, key=0-99, place=10, "
      "sample=7, setting=none; may be given once an axis");
}

std::vector<std::string> ReadSlices(const OptionSet& options) {
  constexpr std::string_view kSetting = "setting=";
  std::vector<std::string> slices = options.TextList("slice");
  for (std::string& slice : slices) {
    if (!slice.starts_with(kSetting)) continue;
    try {
      const Intervention setting = ParseIntervention(slice.substr(kSetting.size()));
      slice = std::string(kSetting) + PrintIntervention(setting);
    } catch (const Error&) {
      continue;  // an index, or a mistake that is reported later with the list of settings
    }
  }
  return slices;
}

Parameter AddressOption(const std::string& name, const std::string& help) {
  Parameter file = OutOption(help);
  file.name = name;
  file.required = true;
  return file;
}

std::string TypeName(const ArrayData& data) {
  return std::visit(
      [](const auto& values) -> std::string {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, float>) return "float32";
        if constexpr (std::is_same_v<T, double>) return "float64";
        if constexpr (std::is_same_v<T, int64_t>) return "int64";
        if constexpr (std::is_same_v<T, uint8_t>) return "boolean";
        if constexpr (std::is_same_v<T, std::string>) return "text";
      },
      data);
}

std::string ShapeText(const Record& record, const Array& array) {
  std::string text;
  for (const std::string& name : array.axes) {
    const Axis* axis = record.FindAxis(name);
    text += text.empty() ? "[" : ", ";
    text.append(name).append(" ").append(std::to_string(axis ? axis->size : 0));
  }
  return text.empty() ? text : text + "]";
}

// Returns the number of part files, written by ranks, that were not joined into the file.
int64_t UnjoinedParts(const RunReader& reader) {
  const std::vector<std::string> joined = reader.parts();
  const std::vector<std::string> all = RankParts(reader.path());
  return std::count_if(all.begin(), all.end(), [&](const std::string& part) {
    const std::string name = std::filesystem::path(part).filename().string();
    return std::find(joined.begin(), joined.end(), name) == joined.end();
  });
}

// Returns the number of samples in the journal that are not in the file.
int64_t SamplesWaiting(const RunReader& reader, const std::string& journal) {
  if (!IsJournal(journal)) return 0;
  std::set<int64_t> waiting = SummariseJournal(journal).finished;
  for (const std::string& name : reader.record_names()) {
    const Record frame = reader.Describe(name);
    const Axis* axis = name == kSweepRecord ? frame.FindAxis("sample") : nullptr;
    for (size_t row = 0; axis && row < axis->values.size(); ++row) {
      std::erase_if(waiting, [&](int64_t sample) {
        return static_cast<double>(sample) == axis->values[row];
      });
    }
  }
  return static_cast<int64_t>(waiting.size());
}

std::string JournalLine(const std::string& path, const JournalSummary& journal) {
  std::string text = DisplayText(path) + ": journal of " + DisplayText(FileOfJournal(path)) + ": " +
                     CountText(std::ssize(journal.finished), "sample");
  text += journal.finished.size() == 1 ? " waits in it" : " wait in it";
  if (!journal.failed.empty()) text += fmt::format(", {} failed", journal.failed.size());
  if (journal.torn_bytes > 0)
    text += fmt::format("; {} bytes at its end are not whole", journal.torn_bytes);
  return text + "; midscope sweep --resume continues it";
}

nlohmann::ordered_json JournalJson(const std::string& path, const JournalSummary& journal) {
  nlohmann::ordered_json json = {{"file", path},
                                 {"journal_of", FileOfJournal(path)},
                                 {"samples", journal.finished},
                                 {"failed", journal.failed},
                                 {"torn_bytes", journal.torn_bytes}};
  const auto plan = nlohmann::ordered_json::parse(journal.plan_json, nullptr, false);
  if (plan.is_object()) json["plan"] = plan;
  return json;
}

std::string FileLine(const RunReader& reader) {
  const Provenance& origin = reader.provenance();
  std::string text = DisplayText(reader.path()) + ": ";
  text += reader.plan_json().empty() ? "results" : SweepFileText(reader);
  const auto add = [&](const std::string& what) {
    if (!what.empty()) text += "; " + DisplayText(what);
  };
  add(origin.model_path);
  add(origin.dtype);
  if (origin.products != "float") add("products " + origin.products);
  add(origin.created);
  add(origin.program + " " + origin.version);
  if (const int64_t parts = std::ssize(reader.parts()); parts > 0) {
    add("virtual, over " + CountText(parts, "file"));
  }
  const std::string journal = JournalPath(reader.path());
  if (const int64_t waiting = SamplesWaiting(reader, journal); waiting > 0) {
    text += "; unfinished: " + CountText(waiting, "more sample") + " in " + DisplayText(journal);
  }
  if (const int64_t parts = UnjoinedParts(reader); parts > 0)
    text += fmt::format("; unfinished: {} parts of ranks beside it", parts);
  return text;
}

nlohmann::ordered_json ProvenanceJson(const Provenance& provenance) {
  nlohmann::ordered_json json;
  ForEachField(provenance, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (value.empty()) return;
    }
    json[name] = value;
  });
  return json;
}

namespace {

constexpr size_t kChannelsShown = 10;
constexpr int64_t kScanItemsShown = 20;

std::string SweepTable(const RunReader& reader, const JobContext& job) {
  if (const SweepPlan plan = StoredPlan(reader); plan.scan) {
    return StoredScanTables(reader, plan, job).Text();
  }
  return SweepText({StoredReport(reader, "", job)});
}

// Returns the number of channels that the search printed.
size_t ChannelsShown(const std::string& plan_json) {
  const nlohmann::json plan = nlohmann::json::parse(plan_json, nullptr, false);
  return plan.is_object() ? plan.value("top", kChannelsShown) : kChannelsShown;
}

}  // namespace

Printout StoredScanTables(const RunReader& reader, const SweepPlan& plan, const JobContext& job) {
  const SweepResult result = ReadStoredResult(reader);
  return ScanTables(plan, ScanEffectsOf(plan, result.outcomes, job),
                    PromptCutsOf(plan, result.outcomes), kScanItemsShown);
}

Printout StoredChannelTables(const RunReader& reader) {
  std::vector<Record> records;
  for (const std::string& name : reader.record_names()) records.push_back(reader.Read(name));
  return ChannelTables(records, ChannelsShown(reader.plan_json()));
}

CellReport StoredReport(const RunReader& reader, const std::string& places, const JobContext& job) {
  SweepPlan plan = StoredPlan(reader);
  SweepResult result = ReadStoredResult(reader);
  std::string chosen_text;
  if (!places.empty()) {
    const std::vector<size_t> chosen = ParseChosenPlaces(places, plan.places, plan.place_texts);
    chosen_text = ChosenPlacesText(chosen, plan.places, plan.place_texts);
    KeepPlaces(chosen, plan, result);
  }
  const SweepCell cell{reader.provenance().model_path, plan.task, plan.seed};
  CellReport report = MakeReport(cell, reader.path(), plan, result, job);
  report.chosen_places = chosen_text;
  return report;
}

namespace {

// Limit of elements for which values are shown: computing the mean of more would take seconds.
constexpr int64_t kLargestSummarised = int64_t{1} << 24;

int64_t Elements(const Record& record, const Array& array) {
  int64_t count = 1;
  for (const std::string& axis : array.axes) count *= record.FindAxis(axis)->size;
  return count;
}

}  // namespace

SummarisedRecord ReadSummarised(const RunReader& reader, const std::string& name) {
  SummarisedRecord read{reader.Describe(name), ""};
  Record& record = read.record;
  std::erase_if(record.arrays, [&](const Array& array) {
    if (Elements(record, array) <= kLargestSummarised) return false;
    read.large += fmt::format("  {} {}: {} elements, see a part with --slice\n", array.name,
                              ShapeText(record, array), Elements(record, array));
    return true;
  });
  for (Array& array : record.arrays) array = reader.ReadArray(name, array.name);
  if (!record.FindArray(record.signal)) record.signal.clear();
  return read;
}

Parameter ChosenPlacesOption() {
  return TextParameter(
      "places", "only these places of a sweep, such as 10,15,20: their means, gaps and tests");
}

std::string PrintedTable(const RunReader& reader, const JobContext& job) {
  if (IsChannelSearch(reader)) return StoredChannelTables(reader).Text();
  if (!IsStoredSweep(reader)) return "";
  try {
    return SweepTable(reader, job);
  } catch (const Error& error) {
    // The plan has a setting of a later version, or of a deleted file; the rest of the file is
    // shown.
    return std::string("no table of the sweep: ") + error.what() + "\n";
  }
}

std::string ContinuedPlanJson(const std::string& file, const RankGroup& ranks) {
  try {
    if (std::filesystem::exists(file)) return RunReader(file).plan_json();
    if (ranks.size() == 1 && HasJournal(file)) return SweepStore::OpenForReading(file).plan_json();
    // Parts of ranks may remain if a job was killed before joining them.
    for (const std::string& part : RankParts(file)) {
      if (std::filesystem::exists(part)) return RunReader(part).plan_json();
      if (HasJournal(part)) return SweepStore::OpenForReading(part).plan_json();
    }
  } catch (const Error&) {
  }
  return "";
}

DecoderOptions SweepDecoderOptions(const std::string& model, const OptionSet& options,
                                   const std::string& continued_plan, RankGroup& ranks) {
  DecoderOptions resolved = ReadDecoderOptions(options);
  ranks.Agree([&] {
    if (ranks.rank() != 0) return;
    const std::string stored = PlanDtype(continued_plan);
    if (!stored.empty()) {
      if (resolved.auto_dtype) resolved.dtype = ParseDtype(stored);
      if (!options.IsSet("products"))
        resolved.products = ParseProducts(PlanProducts(continued_plan));
    } else if (resolved.auto_dtype) {
      resolved.dtype = AutoDtype(OpenModel(model)->config(), resolved.placement);
    }
  });
  resolved.dtype =
      static_cast<kernels::Dtype>(ranks.FromRankZero(static_cast<int64_t>(resolved.dtype)));
  resolved.products =
      static_cast<Products>(ranks.FromRankZero(static_cast<int64_t>(resolved.products)));
  resolved.auto_dtype = false;
  return resolved;
}

}  // namespace midscope::cli
