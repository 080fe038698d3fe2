// SPDX-License-Identifier: MIT
#include "data/sweep/sample_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/store/record_group.h"
#include "data/store/record_reader.h"
#include "data/store/sample_rows.h"
#include "data/sweep/sweep_settings.h"

namespace midscope {

namespace {

constexpr const char* kPlaceAxis = "place";
constexpr const char* kValuesSuffix =
    "_values";  // AXIS_values [sample, AXIS]: values of an axis if they differ between samples

constexpr int64_t kLongestPrompt = int64_t{1} << 26;  // in tokens; beyond any model

bool IsChosen(const std::string& axis) {
  return axis == kSampleAxis || axis == kSettingAxis || axis == kPlaceAxis;
}

bool IsOverSamples(const Array& array) { return HasAxis(array, kSampleAxis); }

// Whether the array has no other axes than sample, setting and place.
bool IsCell(const Array& array) {
  return std::all_of(array.axes.begin(), array.axes.end(), IsChosen);
}

bool HasOwnAxes(const Array& array) { return IsOverSamples(array) && !IsCell(array); }

// Whether the record contains outcomes of a sweep: a score or loss [sample, setting, place].
bool IsSweep(const Record& frame) {
  const std::vector<std::string> axes = {kSampleAxis, kSettingAxis, kPlaceAxis};
  for (const char* name : {kAnswerNll, "generation_score"}) {
    const Array* array = frame.FindArray(name);
    if (array && array->axes == axes) return true;
  }
  return false;
}

int64_t NumberAt(const Axis& axis, int64_t index) {
  return SampleNumber(axis, index).value_or(index);
}

std::optional<int64_t> WholeAt(const Record& record, const std::string& array, int64_t index) {
  const Array* found = record.FindArray(array);
  const auto* values = found ? std::get_if<std::vector<int64_t>>(&found->data) : nullptr;
  if (!values || index < 0 || index >= static_cast<int64_t>(values->size())) return std::nullopt;
  return (*values)[static_cast<size_t>(index)];
}

// Reads the part of one record that belongs to a chosen sample, setting and place.
class SampleCut {
 public:
  SampleCut(const RunReader& reader, const std::string& name, const SampleChoice& choice)
      : reader_(reader), name_(name), frame_(reader.Describe(name)), choice_(choice) {}

  const Record& frame() const { return frame_; }

  // Reads the arrays that have other axes than sample, setting and place, at the chosen sample,
  // setting and place.
  Record Own() const {
    Record record = Empty();
    for (const Axis& axis : frame_.axes) {
      if (!IsChosen(axis.name)) record.axes.push_back(WithoutPadding(axis));
    }
    for (const Array& array : frame_.arrays) {
      if (HasOwnAxes(array)) AddOwn(array, record);
    }
    std::erase_if(record.axes, [&record](const Axis& axis) {
      return std::none_of(record.arrays.begin(), record.arrays.end(),
                          [&axis](const Array& array) { return HasAxis(array, axis.name); });
    });
    return record;
  }

  // Reads the chosen sample of arrays that have only the axes sample, setting and place: all
  // settings and places or, if `at_choice`, the chosen ones.
  Record Cells(bool at_choice) const {
    Record record = Empty();
    for (const Array& array : frame_.arrays) {
      if (!IsOverSamples(array) || !IsCell(array) || IsCount(array)) continue;
      Array cell = reader_.ReadPart(name_, array.name, Slices(array, at_choice, record));
      std::erase_if(cell.axes, [at_choice](const std::string& axis) {
        return at_choice || axis == kSampleAxis;
      });
      record.arrays.push_back(std::move(cell));
    }
    for (const char* axis : {kSettingAxis, kPlaceAxis}) {
      const bool used = std::any_of(record.arrays.begin(), record.arrays.end(),
                                    [axis](const Array& array) { return HasAxis(array, axis); });
      if (used) record.axes.push_back(*frame_.FindAxis(axis));
    }
    return record;
  }

 private:
  Record Empty() const {
    Record record;
    record.name = frame_.name;
    record.attributes = frame_.attributes;
    record.attributes["sample"] = NumberAt(*frame_.FindAxis(kSampleAxis), choice_.sample);
    return record;
  }

  // Whether the array is AXIS_count (sizes of a ragged axis) for an axis of the record.
  bool IsCount(const Array& array) const {
    return std::any_of(frame_.axes.begin(), frame_.axes.end(), [&array](const Axis& axis) {
      return array.name == axis.name + kCountSuffix;
    });
  }

  // Returns the slices of `array` to read. `sizes`: a record with this sample's unpadded axes.
  std::vector<AxisSlice> Slices(const Array& array, bool at_choice, const Record& sizes) const {
    std::vector<AxisSlice> slices;
    for (const std::string& axis : array.axes) {
      if (axis == kSampleAxis) {
        slices.push_back({axis, choice_.sample, choice_.sample + 1});
      } else if (IsChosen(axis) && at_choice) {
        const int64_t at = axis == kPlaceAxis ? choice_.place : choice_.setting;
        slices.push_back({axis, at, at + 1});
      } else if (const Axis* cut = sizes.FindAxis(axis)) {
        slices.push_back({axis, 0, cut->size});
      }
    }
    return slices;
  }

  Axis WithoutPadding(Axis axis) const {
    const Array* count = frame_.FindArray(axis.name + kCountSuffix);
    if (!count || !IsOverSamples(*count) || !IsCell(*count)) return axis;
    const Array value = reader_.ReadPart(name_, count->name, Slices(*count, true, {}));
    const auto* sizes = std::get_if<std::vector<int64_t>>(&value.data);
    if (!sizes || sizes->size() != 1 || sizes->front() < 0 || sizes->front() > axis.size) {
      throw Failure(reader_.path(), count->name + " is not a size of axis '" + axis.name + "'",
                    "The file is damaged");
    }
    axis.size = sizes->front();
    const auto size = static_cast<size_t>(axis.size);
    if (axis.values.size() > size) axis.values.resize(size);
    if (axis.labels.size() > size) axis.labels.resize(size);
    return axis;
  }

  void AddOwn(const Array& array, Record& record) const {
    Array own = reader_.ReadPart(name_, array.name, Slices(array, true, record));
    std::erase_if(own.axes, IsChosen);
    Axis* axis = nullptr;
    for (Axis& candidate : record.axes) {
      if (own.axes.size() == 1 && candidate.name == own.axes.front()) axis = &candidate;
    }
    auto* labels = std::get_if<std::vector<std::string>>(&own.data);
    auto* values = std::get_if<std::vector<double>>(&own.data);
    if (axis && labels && own.name == axis->name + kLabelSuffix) {
      axis->labels = std::move(*labels);
    } else if (axis && values && own.name == axis->name + kValuesSuffix) {
      axis->values = std::move(*values);
    } else {
      record.arrays.push_back(std::move(own));
    }
  }

  const RunReader& reader_;
  const std::string& name_;
  Record frame_;
  SampleChoice choice_;
};

// Makes record `prompt` (size, gold position) of a sweep's sample; nullopt if data are missing.
std::optional<Record> PromptOf(const std::string& file, const Record& cells, int64_t place) {
  const auto tokens = WholeAt(cells, "prompt_tokens", place);
  const auto begin = WholeAt(cells, "gold_token_begin", place);
  const auto end = WholeAt(cells, "gold_token_end", place);
  if (!tokens || !begin || !end) return std::nullopt;
  // Prompts that could not be run have -1 tokens.
  if (*tokens < 0) return std::nullopt;
  const bool cut = *begin == -1 && *end == -1;
  if (*tokens > kLongestPrompt || (!cut && *begin < 0) || *begin > *end || *end > *tokens) {
    throw Failure(
        file,
        fmt::format("has a prompt of {} tokens with the gold at {} to {}", *tokens, *begin, *end),
        "The file is damaged");
  }
  Record prompt;
  prompt.name = kPromptRecord;
  prompt.axes = {{"token", *tokens, "", {}, {}}, {"span", 1, "", {}, {}}};
  prompt.arrays = {
      {kSpanName, {"span"}, std::vector<std::string>{"gold"}, "", ""},
      {"span_token_begin", {"span"}, std::vector<int64_t>{cut ? 0 : *begin}, "tokens", ""},
      {"span_token_end", {"span"}, std::vector<int64_t>{cut ? 0 : *end}, "tokens", ""}};
  prompt.attributes = {{"gold", int64_t{*end > *begin ? 0 : -1}}, {"prompt_tokens", *tokens}};
  return prompt;
}

// Adds records of a sweep's sample for the window. If attention lacks axes setting and place, it is
// of the first setting and place.
void AddSweepRecords(const std::string& file, const SampleCut& cut, const SampleChoice& choice,
                     std::vector<Record>& records) {
  Record outcome = cut.Cells(false);
  outcome.name = kOutcomeRecord;
  outcome.signal = outcome.FindArray(cut.frame().signal) ? cut.frame().signal : "";
  Record own = cut.Own();
  const Axis& settings = *cut.frame().FindAxis(kSettingAxis);
  const auto chosen = static_cast<size_t>(choice.setting);
  if (std::optional<Record> prompt = PromptOf(file, outcome, choice.place)) {
    prompt->attributes["place"] = NumberAt(*cut.frame().FindAxis(kPlaceAxis), choice.place);
    prompt->attributes["sample"] = outcome.attributes.at("sample");
    if (chosen < settings.labels.size()) {
      prompt->attributes["intervention"] = settings.labels[chosen];
    }
    records.push_back(std::move(*prompt));
  }
  records.push_back(std::move(outcome));
  if (own.arrays.empty()) return;
  const bool attention = own.FindArray(kLastQueryAttention) != nullptr;
  own.name = attention ? kLastQueryAttention : own.name + "_sample";
  own.signal = attention ? kLastQueryAttention : "";
  if (chosen < settings.labels.size()) own.attributes["intervention"] = settings.labels[chosen];
  records.push_back(std::move(own));
}

// Returns one record of a batch of probes, cut to the chosen sample and place.
Record BatchRecord(const SampleCut& cut, const SampleChoice& choice) {
  Record record = cut.Own();
  const bool prompt = record.name == kPromptRecord;
  Record cells = cut.Cells(prompt);
  if (const Axis* places = cut.frame().FindAxis(kPlaceAxis)) {
    record.attributes["place"] = NumberAt(*places, choice.place);
  }
  for (Array& array : cells.arrays) {
    // Converts arrays back to attributes: attributes that differ between prompts become arrays.
    const auto* texts = std::get_if<std::vector<std::string>>(&array.data);
    const auto* whole = std::get_if<std::vector<int64_t>>(&array.data);
    if (prompt && texts && texts->size() == 1) {
      record.attributes[array.name] = texts->front();
    } else if (prompt && whole && whole->size() == 1) {
      record.attributes[array.name] = whole->front();
    } else {
      record.arrays.push_back(std::move(array));
    }
  }
  for (Axis& axis : cells.axes) record.axes.push_back(std::move(axis));
  record.signal = record.FindArray(cut.frame().signal) ? cut.frame().signal : "";
  return record;
}

}  // namespace

SampleView::SampleView(const std::string& address)
    : address_(address), reader_(ParseRunAddress(address).path) {
  const std::string inside = FindRunAddress(address, reader_).inside;
  if (inside.find('/') != std::string::npos) return;  // one array: read as a whole
  names_ = inside.empty() ? reader_.record_names() : std::vector<std::string>{inside};
  for (const std::string& name : names_) {
    const Record frame = reader_.Describe(name);
    const bool with_arrays = std::any_of(frame.arrays.begin(), frame.arrays.end(), HasOwnAxes);
    const Axis* axis = frame.FindAxis(kSampleAxis);
    if (!axis || axis->size == 0 || (!with_arrays && !IsSweep(frame))) continue;
    if (samples_.size > 0 && (axis->size != samples_.size || axis->values != samples_.values)) {
      continue;  // has other samples
    }
    samples_ = *axis;
    sampled_.push_back(name);
    AddAxes(frame);
  }
}

void SampleView::AddAxes(const Record& frame) {
  for (const Array& array : frame.arrays) {
    if (!HasOwnAxes(array)) continue;
    if (HasAxis(array, kSettingAxis)) settings_ = *frame.FindAxis(kSettingAxis);
    if (HasAxis(array, kPlaceAxis)) places_ = *frame.FindAxis(kPlaceAxis);
  }
}

RunFile SampleView::Overview() const {
  if (names_.empty()) return ReadRecords(address_);
  RunFile file{{}, reader_.provenance(), reader_.plan_json()};
  for (const std::string& name : names_) {
    const bool sampled = std::find(sampled_.begin(), sampled_.end(), name) != sampled_.end();
    if (sampled && name == kPromptRecord) continue;
    Record record = reader_.Describe(name);
    if (sampled) {
      std::erase_if(record.arrays, HasOwnAxes);
      std::erase_if(record.arrays, [](const Array& array) {
        return array.name.ends_with(kCountSuffix) && IsOverSamples(array);
      });
    }
    DropLarge(record, kLargestViewed);
    for (Array& array : record.arrays) array = reader_.ReadArray(name, array.name);
    if (!sampled || !record.arrays.empty()) file.records.push_back(std::move(record));
  }
  return file;
}

std::vector<Record> SampleView::Read(const SampleChoice& choice) const {
  const auto inside = [](int64_t index, const Axis& axis) {
    return index >= 0 && index < std::max<int64_t>(axis.size, 1);
  };
  if (samples_.size == 0 || !inside(choice.sample, samples_) ||
      !inside(choice.setting, settings_) || !inside(choice.place, places_)) {
    throw Failure(reader_.path(), fmt::format("has no sample {}, setting {}, place {}",
                                              choice.sample, choice.setting, choice.place));
  }
  std::vector<Record> records;
  for (const std::string& name : sampled_) {
    const SampleCut cut(reader_, name, choice);
    if (IsSweep(cut.frame())) {
      AddSweepRecords(reader_.path(), cut, choice, records);
    } else {
      records.push_back(BatchRecord(cut, choice));
    }
  }
  return records;
}

namespace {

bool IsLarge(const Record& record, const Array& array, int64_t largest_elements) {
  if (array.axes.empty() || array.axes.front() != kSampleAxis) return false;
  double elements = 1;
  for (const std::string& axis : array.axes) {
    elements *= static_cast<double>(record.FindAxis(axis)->size);
  }
  return elements > static_cast<double>(largest_elements);
}

Record OneSample(const RunReader& reader, const std::string& name, const Axis& samples,
                 int64_t row) {
  Record sample = reader.ReadSample(name, row);
  sample.name = name + "_sample";
  sample.attributes["sample"] = SampleNumber(samples, row).value_or(row);
  return sample;
}

}  // namespace

bool DropLarge(Record& record, int64_t largest_elements) {
  const size_t dropped = std::erase_if(
      record.arrays, [&](const Array& array) { return IsLarge(record, array, largest_elements); });
  if (!record.FindArray(record.signal)) record.signal.clear();
  return dropped > 0;
}

RunFile ReadForViewing(const std::string& address, int64_t row, int64_t largest_elements) {
  const RunReader reader(ParseRunAddress(address).path);
  const RunAddress parsed = FindRunAddress(address, reader);
  if (parsed.inside.find('/') != std::string::npos) return ReadRecords(address);
  RunFile file{{}, reader.provenance(), reader.plan_json()};
  std::vector<std::string> names = reader.record_names();
  if (!parsed.inside.empty()) names = {parsed.inside};
  for (const std::string& name : names) {
    Record record = reader.Describe(name);
    const bool has_large = DropLarge(record, largest_elements);
    for (Array& array : record.arrays) array = reader.ReadArray(name, array.name);
    file.records.push_back(record);
    if (has_large) {
      file.records.push_back(OneSample(reader, name, *record.FindAxis(kSampleAxis), row));
    }
  }
  return file;
}

}  // namespace midscope
