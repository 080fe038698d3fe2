// SPDX-License-Identifier: MIT
#include "probes/cli/commands/file_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "data/sweep/sweep_store.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/statistics.h"
#include "probes/sweep/chosen_places.h"
#include "probes/sweep/plan_texts.h"

namespace midscope::cli {
namespace {

// answer_nll [sample, setting, place] of a file, and its sample numbers.
struct SampleValues {
  std::vector<double> samples;
  std::vector<double> answer_nll;
};

std::optional<SampleValues> ReadSampleValues(const RunReader& reader, const FileOutcome& outcome) {
  if (!reader.Has(kSweepRecord)) return std::nullopt;
  const Record frame = reader.Describe(kSweepRecord);
  const Axis* axis = frame.FindAxis("sample");
  if (!axis || !frame.FindArray(kAnswerNll)) return std::nullopt;
  const Array array = reader.ReadArray(kSweepRecord, kAnswerNll);
  const auto* values = std::get_if<std::vector<double>>(&array.data);
  const size_t cells = outcome.settings.size() * outcome.places.size();
  if (!values || values->size() != axis->values.size() * cells) return std::nullopt;
  return SampleValues{axis->values, *values};
}

struct FileValues {
  FileOutcome outcome;
  std::optional<SampleValues> samples;
};

// Returns whether two files have equal tasks, seeds and sample numbers, thus equal prompts.
bool Paired(const FileValues& a, const FileValues& b) {
  return a.samples && b.samples && !a.outcome.task.empty() && a.outcome.asked == b.outcome.asked &&
         a.outcome.seed == b.outcome.seed && a.samples->samples == b.samples->samples;
}

// Returns the settings and places of all files, in the order of their first occurrence.
std::vector<std::pair<std::string, int64_t>> AllCells(const std::vector<FileValues>& files) {
  std::vector<std::pair<std::string, int64_t>> cells;
  for (const FileValues& file : files) {
    for (const std::string& setting : file.outcome.settings) {
      for (const int64_t place : file.outcome.places) {
        const std::pair cell(setting, place);
        if (std::find(cells.begin(), cells.end(), cell) == cells.end()) cells.push_back(cell);
      }
    }
  }
  return cells;
}

// Returns the indices of a setting's cells at the places; empty if the file lacks a place.
std::vector<size_t> CellsAt(const FileOutcome& outcome, const std::string& setting,
                            const std::vector<int64_t>& places) {
  std::vector<size_t> cells;
  for (const int64_t place : places) {
    const int64_t cell = outcome.Cell(setting, place);
    if (cell < 0) return {};
    cells.push_back(static_cast<size_t>(cell));
  }
  return cells;
}

double MeanAt(const std::vector<double>& values, const std::vector<size_t>& cells) {
  double sum = 0;
  for (const size_t cell : cells) sum += values[cell];
  return sum / static_cast<double>(cells.size());
}

// Returns for each sample the mean answer_nll over the cells.
std::vector<double> CellValues(const FileValues& file, const std::vector<size_t>& cells) {
  const size_t stride = file.outcome.settings.size() * file.outcome.places.size();
  std::vector<double> values(file.samples->samples.size());
  for (size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    for (const size_t cell : cells) sum += file.samples->answer_nll[i * stride + cell];
    values[i] = sum / static_cast<double>(cells.size());
  }
  return values;
}

void SetDifference(const FileValues& first, const FileValues& other,
                   const std::vector<int64_t>& places, ComparedCell& row) {
  const std::vector<size_t> first_cells = CellsAt(first.outcome, row.setting, places);
  if (first_cells.empty() || first.outcome.asked != other.outcome.asked) return;
  row.difference = row.answer_nll - MeanAt(first.outcome.answer_nll, first_cells);
  if (!Paired(first, other)) return;
  std::vector<double> differences = CellValues(other, CellsAt(other.outcome, row.setting, places));
  const std::vector<double> base = CellValues(first, first_cells);
  for (size_t i = 0; i < base.size(); ++i) differences[i] -= base[i];
  // NaN means that the setting was not run on the sample.
  std::erase_if(differences, [](double value) { return std::isnan(value); });
  row.difference = Mean(differences);
  row.interval = MeanInterval(differences);
}

double Magnitude(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  return a == b ? 0 : std::abs(a - b);
}

void CompareBlocks(const ArrayData& a, const ArrayData& b, ComparedArray& result) {
  std::visit(
      [&](const auto& left) {
        using Values = std::decay_t<decltype(left)>;
        using T = typename Values::value_type;
        const auto& right = std::get<Values>(b);
        for (size_t i = 0; i < left.size(); ++i) {
          if constexpr (std::is_arithmetic_v<T>) {
            const double difference =
                Magnitude(static_cast<double>(left[i]), static_cast<double>(right[i]));
            // The difference between NaN and a number is treated as infinite.
            const double size =
                std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
            result.largest = std::max(result.largest, size);
            if (size > 0) ++result.differing;
          } else if (left[i] != right[i]) {
            ++result.differing;
          }
        }
      },
      a);
}

bool SameShape(const Record& a, const Array& x, const Record& b, const Array& y) {
  if (x.axes.size() != y.axes.size()) return false;
  for (size_t i = 0; i < x.axes.size(); ++i) {
    if (AxisOf(a, x.axes[i]).size != AxisOf(b, y.axes[i]).size) return false;
  }
  return true;
}

// Returns whether two axes have equal labels; settings are compared by value, not as text.
bool SameLabels(const Axis& a, const Axis& b) {
  if (a.labels == b.labels) return true;
  return a.name == "setting" && std::equal(a.labels.begin(), a.labels.end(), b.labels.begin(),
                                           b.labels.end(), SameSetting);
}

// Returns the name of the first axis on which two arrays differ; "" if there is none.
std::string OtherPlaces(const Record& a, const Array& x, const Record& b, const Array& y) {
  for (size_t i = 0; i < x.axes.size(); ++i) {
    const Axis& left = AxisOf(a, x.axes[i]);
    const Axis& right = AxisOf(b, y.axes[i]);
    if (left.name != right.name || !SameLabels(left, right) || left.values != right.values) {
      return left.name;
    }
  }
  return "";
}

void CompareValues(const RunReader& a, const RunReader& b, const Record& frame,
                   const std::string& record, const Array& array, const JobContext& job,
                   ComparedArray& result) {
  constexpr int64_t kBlockElements = int64_t{1} << 22;
  result.elements = 1;
  for (const std::string& axis : array.axes) result.elements *= AxisOf(frame, axis).size;
  const int64_t rows = array.axes.empty() ? 1 : AxisOf(frame, array.axes.front()).size;
  const int64_t row_elements = rows == 0 ? 1 : std::max<int64_t>(1, result.elements / rows);
  const int64_t step = std::max<int64_t>(1, kBlockElements / row_elements);
  for (int64_t row = 0; row < rows; row += step) {
    job.ThrowIfCancelled();
    std::vector<AxisSlice> slice;
    if (!array.axes.empty()) slice = {{array.axes.front(), row, std::min(rows, row + step)}};
    CompareBlocks(a.ReadPart(record, array.name, slice).data,
                  b.ReadPart(record, array.name, slice).data, result);
  }
  if (result.verdict.empty()) result.verdict = result.differing == 0 ? "equal" : "differs";
}

void CompareRecord(const std::vector<RunReader>& readers, size_t file, const std::string& record,
                   const JobContext& job, std::vector<ComparedArray>& results) {
  const Record first = readers.front().Describe(record);
  const Record other = readers[file].Describe(record);
  for (const Array& array : first.arrays) {
    ComparedArray result{record + "/" + array.name, file, "", 0, 0, 0};
    const Array* twin = other.FindArray(array.name);
    if (twin && array.unit == kSeconds) {
      result.verdict = "wall time";
    } else if (!twin) {
      result.verdict = "only in A";
    } else if (twin->data.index() != array.data.index()) {
      result.verdict = "other type";
    } else if (!SameShape(first, array, other, *twin)) {
      result.verdict = "other shape";
    } else {
      const std::string axis = OtherPlaces(first, array, other, *twin);
      // Arrays are not compared if elements with the same index belong to different settings,
      // places or samples.
      if (!axis.empty()) {
        result.verdict = "other places on axis " + axis;
      } else {
        CompareValues(readers.front(), readers[file], first, record, array, job, result);
      }
    }
    results.push_back(std::move(result));
  }
  for (const Array& array : other.arrays) {
    if (first.FindArray(array.name)) continue;
    results.push_back({record + "/" + array.name, file,
                       std::string("only in ") + static_cast<char>('A' + file), 0, 0, 0});
  }
}

}  // namespace

namespace {

// Adds one row per file for the mean of a setting over the places; for one place, its own value.
void AddRows(const std::vector<FileValues>& files, const std::string& setting,
             const std::vector<int64_t>& places, bool is_mean,
             std::vector<ComparedCell>& compared) {
  for (size_t file = 0; file < files.size(); ++file) {
    const FileOutcome& outcome = files[file].outcome;
    const std::vector<size_t> cells = CellsAt(outcome, setting, places);
    if (cells.empty()) continue;
    ComparedCell row;
    row.setting = setting;
    row.place = is_mean ? 0 : places.front();
    row.place_text =
        is_mean ? "mean" : PlaceText(outcome.places, outcome.place_texts, places.front());
    row.is_mean = is_mean;
    row.file = file;
    row.samples = outcome.samples;
    row.accuracy = MeanAt(outcome.accuracy, cells);
    row.answer_nll = MeanAt(outcome.answer_nll, cells);
    row.difference = kUndefined;
    row.interval = {kUndefined, kUndefined};
    if (file > 0) SetDifference(files.front(), files[file], places, row);
    compared.push_back(std::move(row));
  }
}

}  // namespace

std::vector<ComparedCell> CompareOutcomes(const std::vector<RunReader>& readers,
                                          const std::vector<FileOutcome>& outcomes,
                                          const std::string& places) {
  std::vector<FileValues> files;
  std::vector<int64_t> chosen;
  files.reserve(readers.size());
  for (size_t file = 0; file < readers.size(); ++file) {
    const FileOutcome& outcome = outcomes[file];
    files.push_back({outcome, ReadSampleValues(readers[file], outcome)});
    if (places.empty()) continue;
    chosen.clear();
    for (const size_t at : ParseChosenPlaces(places, outcome.places, outcome.place_texts)) {
      chosen.push_back(outcome.places[at]);
    }
  }
  std::vector<ComparedCell> compared;
  const auto all = AllCells(files);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [setting, place] = all[i];
    if (places.empty() || std::find(chosen.begin(), chosen.end(), place) != chosen.end()) {
      AddRows(files, setting, {place}, false, compared);
    }
    const bool is_last = i + 1 == all.size() || all[i + 1].first != setting;
    if (is_last && chosen.size() > 1) AddRows(files, setting, chosen, true, compared);
  }
  return compared;
}

std::vector<ComparedArray> CompareArrays(const std::vector<RunReader>& readers,
                                         const JobContext& job) {
  std::vector<ComparedArray> results;
  for (size_t file = 1; file < readers.size(); ++file) {
    for (const std::string& record : readers.front().record_names()) {
      if (readers[file].Has(record)) {
        CompareRecord(readers, file, record, job, results);
      } else {
        results.push_back({record, file, "only in A", 0, 0, 0});
      }
    }
    for (const std::string& record : readers[file].record_names()) {
      if (readers.front().Has(record)) continue;
      results.push_back(
          {record, file, std::string("only in ") + static_cast<char>('A' + file), 0, 0, 0});
    }
  }
  return results;
}

std::vector<std::pair<std::string, std::vector<std::string>>> DifferentFields(
    const std::vector<RunReader>& readers) {
  std::map<std::string, std::vector<std::string>> fields;
  for (size_t file = 0; file < readers.size(); ++file) {
    const auto note = [&](const std::string& name, const std::string& value) {
      std::vector<std::string>& held = fields[name];
      held.resize(readers.size());
      held[file] = value;
    };
    ForEachField(readers[file].provenance(), [&](const char* name, const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
        // Options are compared one by one, to name those that differ.
        const nlohmann::json options = std::string_view(name) == "options_json"
                                           ? nlohmann::json::parse(value, nullptr, false)
                                           : nlohmann::json();
        if (!options.is_object()) note(name, value);
        if (!options.is_object()) return;
        for (const auto& [key, held] : options.items()) note("option --" + key, held.dump());
      } else {
        note(name, std::to_string(value));
      }
    });
    const nlohmann::json plan = PlanOf(readers[file]);
    for (const auto& [key, value] : plan.items()) note("plan." + key, value.dump());
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> different;
  for (const auto& field : fields) {
    const std::vector<std::string>& held = field.second;
    const bool same = std::all_of(held.begin(), held.end(),
                                  [&](const std::string& value) { return value == held.front(); });
    if (!same) different.emplace_back(field);
  }
  return different;
}

}  // namespace midscope::cli
