// SPDX-License-Identifier: MIT
#include "probes/cli/commands/positions_file.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "data/export/npz.h"
#include "data/store/run_store.h"
#include "probes/cli/commands/stored_file.h"
#include "probes/cli/console/output.h"
#include "probes/cli/text/export_table.h"
#include "probes/model/provenance.h"

namespace midscope::cli {
namespace {

constexpr int64_t kMostIdsInRecord = 1 << 27;  // 1 GiB per array

enum class FileKind { kNone, kHdf5, kJsonLines, kNpz };

FileKind KindOf(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (file.empty()) return FileKind::kNone;
  if (ending == ".h5" || ending == ".hdf5") return FileKind::kHdf5;
  if (ending == ".jsonl") return FileKind::kJsonLines;
  if (ending == ".npz") return FileKind::kNpz;
  throw UsageError("option --out", "the format of '" + file + "' is unknown",
                   "Give a name that ends in .h5, .jsonl or .npz");
}

// Returns the record's metadata as scalar arrays, because NPZ has no attributes.
Record Scalars(const Provenance& provenance, const Record& samples) {
  Record record;
  record.name = "about";
  const auto text = [](std::string value) { return std::vector<std::string>{std::move(value)}; };
  record.arrays = {
      {"seed", {}, std::vector<int64_t>{provenance.seed}, "", "seed"},
      {"sampler_name",
       {},
       text(std::get<std::string>(samples.attributes.at("sampler"))),
       "",
       "sampler"},
      {"options", {}, text(provenance.options_json), "", "all options of the command, as JSON"},
      {"provenance", {}, text(ProvenanceJson(provenance).dump()), "", "provenance, as JSON"}};
  return record;
}

void WriteJsonLines(const SampleRange& range, const SampledPositions& positions,
                    const Provenance& provenance, const JobContext& job, std::ostream& out) {
  const std::string about = nlohmann::json(positions.sampler).dump() +
                            ",\"seed\":" + std::to_string(provenance.seed) +
                            ",\"provenance\":" + ProvenanceJson(provenance).dump();
  for (int64_t sample = range.first; sample < range.first + range.samples; ++sample) {
    job.ThrowIfCancelled();
    const PositionSample drawn = positions.draw(sample);
    out << "{\"sample\":" << sample << ",\"position_id\":";
    WriteIds(drawn.position_id, out);
    out << ",\"token_index\":";
    WriteIds(drawn.token_index, out);
    out << ",\"sampler\":" << about << "}\n";
  }
}

}  // namespace

void WriteIds(const std::vector<int64_t>& ids, std::ostream& out) {
  std::string text = "[";
  char digits[24];
  for (const int64_t id : ids) {
    if (text.size() > 1) text += ',';
    text.append(digits, std::to_chars(digits, digits + sizeof(digits), id).ptr);
  }
  out << text << ']';
}

void CheckPositionsFile(const SampleRange& range, int64_t tokens, bool coverage,
                        const OptionSet& options) {
  const std::string& file = options.Text("out");
  const FileKind kind = KindOf(file);
  CheckOutOption(options);
  if (kind == FileKind::kNone) return;
  if (kind == FileKind::kJsonLines && coverage) {
    throw UsageError("option --out", "JSON lines hold samples and no coverage",
                     "Give a name that ends in .h5 or .npz, or leave --coverage away");
  }
  if (kind != FileKind::kJsonLines && range.samples > kMostIdsInRecord / tokens) {
    throw UsageError("option --samples",
                     fmt::format("{} samples of {} tokens are more than one such file is made of",
                                 range.samples, tokens),
                     "Write .jsonl, or several files with --first");
  }
}

void WritePositionsFile(const CommandInput& input, const SampledPositions& positions,
                        const SampleRange& range, const std::vector<Record>& coverage) {
  const OptionSet& options = input.options;
  const std::string& file = options.Text("out");
  const FileKind kind = KindOf(file);
  if (kind == FileKind::kNone) return;
  const Provenance provenance =
      ProgramProvenance(input.command_line, options.Integer("seed"), options.ToJson());
  if (kind == FileKind::kJsonLines) {
    WriteTextFile(file, [&](std::ostream& out) {
      WriteJsonLines(range, positions, provenance, input.job, out);
    });
    return;
  }
  std::vector<Record> records = {PositionSamples(positions, range.first, range.samples, input.job)};
  records.insert(records.end(), coverage.begin(), coverage.end());
  if (kind == FileKind::kHdf5) {
    WriteRecords(file, records, provenance,
                 {.overwrite = options.Flag("overwrite"), .plan_json = {}});
    return;
  }
  records.push_back(Scalars(provenance, records.front()));
  WriteTextFile(file, [&](std::ostream& out) { WriteNpz(MergeRecords(records), out); });
}

}  // namespace midscope::cli
