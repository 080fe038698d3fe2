// SPDX-License-Identifier: MIT
#include "data/sweep_store.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "core/error.h"
#include "data/durable_file.h"
#include "data/record_group.h"
#include "data/record_reader.h"
#include "data/run_file_writer.h"
#include "data/run_store.h"
#include "data/sample_rows.h"
#include "data/sweep_journal.h"

namespace midscope {
namespace {

constexpr const char* kFailuresRecord = "failures";
constexpr int kGzipLevel = 4;

// Where a stored sample lies: in the journal, or else in a row of the last checkpoint.
struct SamplePlace {
  std::optional<int64_t> journal_offset;
  int64_t row = 0;
  std::map<std::string, int64_t> ragged_sizes;
};

// Whether `later` differs from `earlier` in nothing but a larger number `member`.
bool HasGrown(nlohmann::json earlier, nlohmann::json later, const std::string& member) {
  if (member.empty() || !earlier.is_object() || !later.is_object()) return false;
  const auto number = [&](const nlohmann::json& plan) {
    const auto found = plan.find(member);
    return found != plan.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
  };
  if (number(earlier) < 0 || number(earlier) >= number(later)) return false;
  earlier.erase(member);
  later.erase(member);
  return earlier == later;
}

nlohmann::json ParsePlan(const std::string& plan) {
  return nlohmann::json::parse(plan, nullptr, /*allow_exceptions=*/false);
}

Record FailuresRecord(const std::map<int64_t, std::string>& failures) {
  std::vector<int64_t> samples;
  std::vector<std::string> messages;
  for (const auto& [sample, message] : failures) {
    samples.push_back(sample);
    messages.push_back(message);
  }
  Record record;
  record.name = kFailuresRecord;
  record.axes = {{"failure", static_cast<int64_t>(samples.size()), "", {}, {}}};
  record.arrays = {
      {"failed_sample", {"failure"}, std::move(samples), "", "number of the sample"},
      {"failure_message", {"failure"}, std::move(messages), "", "why it could not be run"}};
  return record;
}

}  // namespace

struct SweepStore::State {
  State(std::string file_path, const std::string& plan, const Provenance& origin,
        SweepStoreOptions store_options)
      : path(std::move(file_path)),
        plan_json(plan),
        provenance(origin),
        options(std::move(store_options)),
        journal(path + ".journal") {}

  void CheckPlan(const std::string& where, const std::string& other) const;
  void LoadCheckpoint();
  void LoadCheckpointSamples(const Record& stacked, const Axis& sample_axis);
  void LoadFailures();
  void LoadJournal();
  void NoteSample(int64_t sample, const Record& flattened, SamplePlace place);
  void NoteFailure(int64_t sample, const std::string& message);
  Record Load(int64_t sample) const;
  void Fold(const std::vector<Record>& extra);
  void WriteSamples(hid_t entry, const std::string& group, const Record& stacked,
                    const std::vector<int64_t>& samples, const std::function<void()>& check) const;

  std::string path;
  std::string plan_json;
  Provenance provenance;
  SweepStoreOptions options;
  SweepJournal journal;
  std::optional<RunReader> checkpoint;
  std::optional<Record> frame;  // what all samples have in common
  std::map<int64_t, SamplePlace> places;
  std::map<int64_t, std::string> failures;
  std::set<int64_t> finished;
  std::set<int64_t> failed;
  int64_t dropped_bytes = 0;
};

void SweepStore::State::CheckPlan(const std::string& where, const std::string& other) const {
  const nlohmann::json theirs = ParsePlan(other);
  const nlohmann::json ours = ParsePlan(plan_json);
  if (theirs == ours || HasGrown(theirs, ours, options.growing)) return;
  if (HasGrown(ours, theirs, options.growing)) {
    throw Failure(where,
                  "holds a larger sweep: " + options.growing + " " +
                      theirs[options.growing].dump() + " instead of " +
                      ours[options.growing].dump(),
                  "Resume with that many or more, or write to another file");
  }
  throw Failure(where, "holds a sweep of another plan: " + other,
                "Resume with that plan, or write to another file");
}

void SweepStore::State::NoteSample(int64_t sample, const Record& flattened, SamplePlace place) {
  const Record sample_frame = SampleFrame(flattened, options.ragged_axes);
  if (!frame) frame = sample_frame;
  CheckSameFrame("sample " + std::to_string(sample), sample_frame, *frame);
  place.ragged_sizes = RaggedSizes(flattened, options.ragged_axes);
  places[sample] = std::move(place);
  finished.insert(sample);
  failures.erase(sample);
  failed.erase(sample);
}

void SweepStore::State::NoteFailure(int64_t sample, const std::string& message) {
  failures[sample] = message;
  failed.insert(sample);
}

void SweepStore::State::LoadCheckpoint() {
  checkpoint.emplace(path);
  CheckPlan(path, checkpoint->plan_json());
  const std::vector<std::string>& names = checkpoint->record_names();
  if (std::find(names.begin(), names.end(), options.record_name) != names.end()) {
    const Record stacked = checkpoint->Describe(options.record_name);
    const Axis* axis = stacked.FindAxis(kSampleAxis);
    if (!axis) throw Failure(path, "has no sample axis", "It is not the file of a sweep");
    LoadCheckpointSamples(stacked, *axis);
  }
  if (std::find(names.begin(), names.end(), kFailuresRecord) != names.end()) LoadFailures();
}

// Reads one sample, to know what all have in common, and of the others no more than their sizes.
void SweepStore::State::LoadCheckpointSamples(const Record& stacked, const Axis& sample_axis) {
  if (sample_axis.size == 0) return;
  const Record first =
      FlattenSample(checkpoint->ReadSample(options.record_name, 0), options.ragged_axes);
  frame = SampleFrame(first, options.ragged_axes);
  std::map<std::string, ArrayData> counts;
  for (const auto& [name, size] : RaggedSizes(first, options.ragged_axes)) {
    if (!stacked.FindArray(name + kCountSuffix)) continue;
    counts[name] = checkpoint->ReadArray(options.record_name, name + kCountSuffix).data;
  }
  for (int64_t row = 0; row < sample_axis.size; ++row) {
    const auto index = static_cast<size_t>(row);
    const auto sample =
        sample_axis.values.empty() ? row : static_cast<int64_t>(sample_axis.values[index]);
    SamplePlace place{std::nullopt, row, {}};
    for (const auto& [name, data] : counts) {
      const auto* sizes = std::get_if<std::vector<int64_t>>(&data);
      if (!sizes || index >= sizes->size()) throw Failure(path, "has damaged sample sizes");
      place.ragged_sizes[name] = (*sizes)[index];
    }
    places[sample] = std::move(place);
    finished.insert(sample);
  }
}

void SweepStore::State::LoadFailures() {
  const ArrayData samples = checkpoint->ReadArray(kFailuresRecord, "failed_sample").data;
  const ArrayData messages = checkpoint->ReadArray(kFailuresRecord, "failure_message").data;
  const auto* numbers = std::get_if<std::vector<int64_t>>(&samples);
  const auto* texts = std::get_if<std::vector<std::string>>(&messages);
  if (!numbers || !texts || numbers->size() != texts->size()) {
    throw Failure(path, "has a damaged list of failed samples");
  }
  for (size_t i = 0; i < numbers->size(); ++i) NoteFailure((*numbers)[i], (*texts)[i]);
}

void SweepStore::State::LoadJournal() {
  std::string planned;
  dropped_bytes = journal.Load([&](const JournalEntry& entry, int64_t offset) {
    switch (entry.kind) {
      case JournalEntry::Kind::kPlan:
        CheckPlan(path + ".journal", entry.text);
        planned = entry.text;
        break;
      case JournalEntry::Kind::kSample:
        NoteSample(entry.sample, FlattenSample(entry.record, options.ragged_axes), {offset, 0, {}});
        break;
      case JournalEntry::Kind::kFailure:
        NoteFailure(entry.sample, entry.text);
        break;
    }
  });
  // A plan that has grown is noted, so that it does not shrink again.
  if (planned != plan_json) journal.Append({JournalEntry::Kind::kPlan, 0, plan_json, {}});
}

Record SweepStore::State::Load(int64_t sample) const {
  const SamplePlace& place = places.at(sample);
  if (place.journal_offset) return journal.Read(*place.journal_offset).record;
  return checkpoint->ReadSample(options.record_name, place.row);
}

void SweepStore::State::WriteSamples(hid_t entry, const std::string& group, const Record& stacked,
                                     const std::vector<int64_t>& samples,
                                     const std::function<void()>& check) const {
  // Chunks of one sample where an array is large or ragged, so that one can be read alone.
  const std::map<std::string, int64_t>& ragged = places.at(samples.front()).ragged_sizes;
  std::vector<std::string> row_arrays;
  for (const Array& array : stacked.arrays) {
    const bool is_ragged = std::any_of(array.axes.begin(), array.axes.end(),
                                       [&](const auto& name) { return ragged.count(name) > 0; });
    if (is_ragged) row_arrays.push_back(array.name);
  }
  RecordGroupWriter writer(entry, group, stacked, kGzipLevel, row_arrays);
  for (size_t row = 0; row < samples.size(); ++row) {
    const auto row_number = static_cast<int64_t>(row);
    const Record sample = FlattenSample(Load(samples[row]), options.ragged_axes);
    for (const Array& array : sample.arrays) {
      std::vector<int64_t> sizes;
      for (const std::string& name : array.axes) sizes.push_back(sample.FindAxis(name)->size);
      writer.WriteRow(array.name, row_number, array.data, sizes);
    }
    for (const auto& [name, size] : places.at(samples[row]).ragged_sizes) {
      writer.WriteRow(name + kCountSuffix, row_number, std::vector<int64_t>{size}, {});
    }
    check();
  }
}

void SweepStore::State::Fold(const std::vector<Record>& extra) {
  std::vector<int64_t> samples(finished.begin(), finished.end());
  std::map<std::string, int64_t> largest;
  for (const auto& [sample, place] : places) {
    for (const auto& [name, size] : place.ragged_sizes) {
      largest[name] = std::max(largest[name], size);
    }
  }
  std::vector<Record> records;  // the first one, if there are samples, is the stacked one
  if (!samples.empty()) {
    records.push_back(StackedFrame(*frame, samples, largest));
  }
  const size_t stacked = records.size();
  records.insert(records.end(), extra.begin(), extra.end());
  if (!failures.empty()) records.push_back(FailuresRecord(failures));
  for (size_t i = stacked; i < records.size(); ++i) CheckStorable(records[i]);

  const std::vector<std::string> groups = GroupNames(records);
  const RunFileFrame file_frame{groups.empty() ? "" : groups.front(), plan_json, true};
  WriteRunFile(path, provenance, file_frame, [&](hid_t entry, const std::function<void()>& check) {
    if (stacked > 0) WriteSamples(entry, groups[0], records[0], samples, check);
    for (size_t i = stacked; i < records.size(); ++i) {
      RecordGroupWriter writer(entry, groups[i], records[i], kGzipLevel);
      for (const Array& array : records[i].arrays) writer.Write(array.name, array.data);
      check();
    }
  });
}

SweepStore::SweepStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SweepStore::~SweepStore() = default;
SweepStore::SweepStore(SweepStore&&) noexcept = default;
SweepStore& SweepStore::operator=(SweepStore&&) noexcept = default;

SweepStore SweepStore::Create(const std::string& path, const std::string& plan_json,
                              const Provenance& provenance, const SweepStoreOptions& options) {
  if (ParsePlan(plan_json).is_discarded()) throw std::logic_error("store: the plan is not JSON");
  const bool exists = std::filesystem::exists(path);
  if (!options.resume) {
    if (exists) {
      throw UsageError(path, "exists already", "Resume it (--resume) or give another name");
    }
    if (std::filesystem::exists(path + ".journal")) {
      throw UsageError(path + ".journal", "an unfinished sweep lies here",
                       "Resume it (--resume), remove it, or give another name");
    }
  }
  const bool journal_is_new = !std::filesystem::exists(path + ".journal");
  auto state = std::make_unique<State>(path, plan_json, provenance, options);
  RemoveLeftTemporaries(path);  // the journal's lock says that no other process writes them
  try {
    if (exists) state->LoadCheckpoint();
    state->LoadJournal();
  } catch (...) {
    if (journal_is_new) state->journal.Remove();
    throw;
  }
  return SweepStore(std::move(state));
}

const std::set<int64_t>& SweepStore::finished() const { return state_->finished; }
const std::set<int64_t>& SweepStore::failed() const { return state_->failed; }
int64_t SweepStore::dropped_bytes() const { return state_->dropped_bytes; }

void SweepStore::Append(int64_t sample, const Record& record) {
  if (state_->finished.count(sample) > 0) {
    throw std::logic_error("store: sample " + std::to_string(sample) + " is stored already");
  }
  Record storable = StorableRecord(record);
  storable.name = state_->options.record_name;
  if (!state_->options.signal.empty()) storable.signal = state_->options.signal;
  const Record flattened = FlattenSample(storable, state_->options.ragged_axes);
  CheckStorable(flattened);
  if (state_->frame) {
    CheckSameFrame("sample " + std::to_string(sample),
                   SampleFrame(flattened, state_->options.ragged_axes), *state_->frame);
  }
  const int64_t offset =
      state_->journal.Append({JournalEntry::Kind::kSample, sample, "", storable});
  state_->NoteSample(sample, flattened, {offset, 0, {}});
}

void SweepStore::AppendFailure(int64_t sample, const std::string& message) {
  if (state_->finished.count(sample) > 0) {
    throw std::logic_error("store: sample " + std::to_string(sample) + " is stored already");
  }
  state_->journal.Append({JournalEntry::Kind::kFailure, sample, message, {}});
  state_->NoteFailure(sample, message);
}

void SweepStore::Checkpoint(const std::vector<Record>& extra) {
  state_->Fold(extra);
  // A kill before the journal is cleared leaves samples in both places, equal; the journal's count.
  state_->checkpoint.emplace(state_->path);
  int64_t row = 0;
  for (auto& [sample, place] : state_->places) {
    place.journal_offset.reset();
    place.row = row++;
  }
  state_->journal.Clear();
  state_->journal.Append({JournalEntry::Kind::kPlan, 0, state_->plan_json, {}});
}

void SweepStore::Finish(const std::vector<Record>& extra) {
  Checkpoint(extra);
  state_->journal.Remove();
}

Record SweepStore::ReadSample(int64_t sample) const {
  if (state_->finished.count(sample) == 0) {
    throw std::logic_error("store: sample " + std::to_string(sample) + " is not stored");
  }
  return state_->Load(sample);
}

}  // namespace midscope
