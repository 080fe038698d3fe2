// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_store.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/base/error.h"
#include "data/store/durable_file.h"
#include "data/store/plan_text.h"
#include "data/store/record_group.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/store/sample_rows.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_file.h"
#include "data/sweep/sweep_journal.h"
#include "data/sweep/sweep_lock.h"
#include "kernels/check.h"

namespace midscope {
namespace {

constexpr const char* kFailedSample = "failed_sample";
constexpr const char* kFailureMessage = "failure_message";

// Location of a stored sample: offset in the journal, or row of the results file (last checkpoint).
struct SamplePlace {
  std::optional<int64_t> journal_offset;
  int64_t row = 0;
  std::map<std::string, int64_t> ragged_sizes;
  std::optional<Record> in_memory = {};  // the sample, while the old file is not replaced
};

// Whether two plans differ only in `member`, an integer that is larger in `later`.
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

// Removes the hash and the size of the task's file from both plans if both have them.
void EraseGrowingFile(nlohmann::json& a, nlohmann::json& b) {
  if (!a.contains(kTaskFileBytes) || !b.contains(kTaskFileBytes)) return;
  for (nlohmann::json* plan : {&a, &b}) {
    plan->erase(kTaskFilesHash);
    plan->erase(kTaskFileBytes);
  }
}

Error ExistsAlready(const std::string& path) {
  return UsageError(path, "exists already", "Resume it (--resume) or give another name");
}

// Throws Error: (failure) if another process is writing the sweep, (usage) if the sweep exists.
void CheckNew(const std::string& path) {
  CheckNoWriter(path);
  if (std::filesystem::exists(path)) throw ExistsAlready(path);
  if (!HasJournal(path)) return;
  throw UsageError(JournalPath(path), "an unfinished sweep exists",
                   "Resume it (--resume), remove it, or give another name");
}

nlohmann::json PlanOrNothing(const std::string& plan) {
  return nlohmann::json::parse(plan, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

struct SweepStore::State {
  State(std::string file_path, const std::string& plan, const Provenance& origin,
        SweepStoreOptions store_options)
      : path(std::move(file_path)),
        plan_json(plan),
        provenance(origin),
        options(std::move(store_options)),
        keeps_old_file(options.overwrite) {}
  ~State() { RemoveUnusedJournal(); }

  void CheckPlan(const std::string& where, const std::string& other);
  void CheckWritable() const { MIDSCOPE_CHECK(!reading, "the store is open for reading"); }
  void LoadCheckpoint();
  void LoadCheckpointSamples(const Record& stacked, const Axis& sample_axis);
  void LoadFailures();
  void LoadJournal();
  void NoteSample(int64_t sample, const Record& flattened, SamplePlace place);
  void NoteFailure(int64_t sample, const std::string& message);
  Record Load(int64_t sample, const ArrayFilter& wanted) const;
  void Fold(const std::vector<Record>& extra);
  void RemoveUnusedJournal() noexcept;

  std::string path;
  std::string plan_json;
  Provenance provenance;
  SweepStoreOptions options;
  std::optional<SweepJournal> journal;  // nullopt: open for reading, and there is no journal
  std::optional<RunReader> checkpoint;
  std::optional<Record> frame;  // common part of all samples (SampleFrame)
  std::map<int64_t, SamplePlace> places;
  std::map<int64_t, std::string> failures;
  std::set<int64_t> finished;
  std::set<int64_t> failed;
  int64_t dropped_bytes = 0;
  bool reading = false;  // opened for reading: nothing may be written
  bool keeps_old_file = false;
  bool is_complete = false;  // Finish has written the file, and nothing has changed since
};

// Removes a journal without entries, but not that of an unfinished sweep that would be overwritten.
void SweepStore::State::RemoveUnusedJournal() noexcept {
  if (!keeps_old_file || !journal || HasJournal(path)) return;
  try {
    journal->Remove();
  } catch (const Error&) {  // ignored: an empty journal has no effect
  }
}

void SweepStore::State::CheckPlan(const std::string& where, const std::string& other) {
  CheckJsonText(where, "plan", other);
  nlohmann::json theirs = ComparablePlan(PlanOrNothing(other));
  nlohmann::json ours = ComparablePlan(PlanOrNothing(plan_json));
  if (reading || (!options.earlier_plan.empty() && other == options.earlier_plan)) {
    EraseGrowingFile(theirs, ours);
  }
  if (reading && (plan_json.empty() || HasGrown(ours, theirs, options.growing))) {
    plan_json = other;
    return;
  }
  if (theirs == ours || HasGrown(theirs, ours, options.growing)) return;
  if (HasGrown(ours, theirs, options.growing)) {
    throw Failure(where,
                  "holds a larger sweep: " + options.growing + " " +
                      theirs[options.growing].dump() + " instead of " +
                      ours[options.growing].dump(),
                  "Resume with that many or more, or write to another file");
  }
  throw Failure(where, "holds a sweep of another plan: " + FirstPlanDifference(other, plan_json),
                OtherPlanRemedy(other, plan_json));
}

void SweepStore::State::NoteSample(int64_t sample, const Record& flattened, SamplePlace place) {
  const Record sample_frame = SampleFrame(flattened, options.ragged_axes);
  if (!frame) frame = sample_frame;
  CheckSameFrame(fmt::format("sample {}", sample), sample_frame, *frame);
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
  checkpoint.emplace(path, reading ? ReadBy::kWhatFits : ReadBy::kThisProcess);
  CheckPlan(path, checkpoint->plan_json());
  if (checkpoint->Has(options.record_name)) {
    const Record stacked = checkpoint->Describe(options.record_name);
    const Axis* axis = stacked.FindAxis(kSampleAxis);
    if (!axis) throw Failure(path, "has no sample axis", "It is not the file of a sweep");
    LoadCheckpointSamples(stacked, *axis);
  }
  if (checkpoint->Has(kFailuresRecord)) LoadFailures();
}

// Reads one sample of the file, to set `frame`, and only the ragged sizes of the other samples.
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
    const std::optional<int64_t> sample = SampleNumber(sample_axis, row);
    if (!sample || finished.contains(*sample)) {
      throw Failure(path, fmt::format("has no number for the sample in row {}", row),
                    "The file is damaged");
    }
    SamplePlace place{std::nullopt, row, {}};
    for (const auto& [name, data] : counts) {
      const auto* sizes = std::get_if<std::vector<int64_t>>(&data);
      if (!sizes || index >= sizes->size()) throw Failure(path, "has damaged sample sizes");
      place.ragged_sizes[name] = (*sizes)[index];
    }
    places[*sample] = std::move(place);
    finished.insert(*sample);
  }
}

void SweepStore::State::LoadFailures() {
  for (const auto& [sample, message] : ReadFailures(*checkpoint)) NoteFailure(sample, message);
}

void SweepStore::State::LoadJournal() {
  std::string planned;
  dropped_bytes = journal->Load([&](const JournalEntry& entry, int64_t offset) {
    switch (entry.kind) {
      case JournalEntry::Kind::kPlan:
        CheckPlan(JournalPath(path), entry.text);
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
  // Stores the new plan in the journal, so that its number of samples cannot shrink again.
  if (planned != plan_json && !reading) {
    journal->Append({JournalEntry::Kind::kPlan, 0, plan_json, {}});
  }
}

Record SweepStore::State::Load(int64_t sample, const ArrayFilter& wanted) const {
  const SamplePlace& place = places.at(sample);
  if (!place.journal_offset && !place.in_memory) {
    return checkpoint->ReadSample(options.record_name, place.row, wanted);
  }
  Record record = place.in_memory ? *place.in_memory : journal->Read(*place.journal_offset).record;
  if (wanted) std::erase_if(record.arrays, [&](const Array& array) { return !wanted(array.name); });
  return record;
}

void SweepStore::State::Fold(const std::vector<Record>& extra) {
  SweepContents contents;
  contents.plan_json = plan_json;
  contents.provenance = provenance;
  contents.ragged_axes = options.ragged_axes;
  if (frame) contents.frame = *frame;
  for (const auto& [sample, place] : places) contents.ragged_sizes[sample] = place.ragged_sizes;
  contents.load = [this](int64_t sample) { return Load(sample, {}); };
  contents.failures = failures;
  contents.extra = extra;
  // Clears the journal, which belongs to the old sweep, before the old file is replaced.
  if (keeps_old_file) contents.before_publish = [this] { journal->Clear(); };
  WriteSweepFile(path, contents);
}

SweepStore::SweepStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
SweepStore::~SweepStore() = default;
SweepStore::SweepStore(SweepStore&&) noexcept = default;
SweepStore& SweepStore::operator=(SweepStore&&) noexcept = default;

SweepStore SweepStore::Create(const std::string& path, const std::string& plan_json,
                              const Provenance& provenance, const SweepStoreOptions& options) {
  MIDSCOPE_CHECK(!PlanOrNothing(plan_json).is_discarded(), "the plan is not JSON");
  if (!options.resume && !options.overwrite) CheckNew(path);
  const bool journal_is_new = !std::filesystem::exists(JournalPath(path));
  auto state = std::make_unique<State>(path, plan_json, provenance, options);
  state->journal.emplace(JournalPath(path));
  // Checks again: another process may have written the file before this one got the lock.
  const bool exists = std::filesystem::exists(path);
  const bool had_journal = HasJournal(path);
  if (exists && !options.resume && !options.overwrite) {
    if (!had_journal) state->journal->Remove();
    throw ExistsAlready(path);
  }
  RemoveLeftTemporaries(path);  // safe, because the journal's lock excludes other writers
  if (options.overwrite) return SweepStore(std::move(state));
  try {
    if (exists) state->LoadCheckpoint();
    state->LoadJournal();
  } catch (...) {
    if (journal_is_new) state->journal->Remove();
    throw;
  }
  state->is_complete = exists && !had_journal && state->failed.empty() &&
                       PlanOrNothing(state->checkpoint->plan_json()) == PlanOrNothing(plan_json);
  return SweepStore(std::move(state));
}

SweepStore SweepStore::OpenForReading(const std::string& path) {
  auto state = std::make_unique<State>(path, "", Provenance(), SweepStoreOptions());
  state->reading = true;
  state->options.growing = kSamplesOfPlan;
  const std::string journal = JournalPath(path);
  if (std::filesystem::exists(journal)) {
    state->journal.emplace(journal, JournalAccess::kRead);
  } else if (!std::filesystem::exists(path)) {
    throw Failure(path, "the file does not exist");
  }
  if (std::filesystem::exists(path)) {
    state->LoadCheckpoint();
    state->provenance = state->checkpoint->provenance();
  }
  if (state->journal) state->LoadJournal();
  if (PlanOrNothing(state->plan_json).is_discarded()) {
    throw Failure(path, "is not the file of a sweep", "Give one that midscope sweep wrote");
  }
  return SweepStore(std::move(state));
}

const std::string& SweepStore::path() const { return state_->path; }
const std::string& SweepStore::plan_json() const { return state_->plan_json; }
const Provenance& SweepStore::provenance() const { return state_->provenance; }
const std::map<int64_t, std::string>& SweepStore::failures() const { return state_->failures; }
const std::set<int64_t>& SweepStore::finished() const { return state_->finished; }
const std::set<int64_t>& SweepStore::failed() const { return state_->failed; }
bool SweepStore::is_complete() const { return state_->is_complete; }
bool SweepStore::is_locked() const { return state_->journal && state_->journal->is_locked(); }
bool SweepStore::keeps_old_file() const { return state_->keeps_old_file; }
int64_t SweepStore::dropped_bytes() const { return state_->dropped_bytes; }

void SweepStore::Append(int64_t sample, const Record& record) {
  state_->CheckWritable();
  state_->is_complete = false;
  MIDSCOPE_CHECK(state_->finished.count(sample) == 0,
                 fmt::format("sample {} is stored already", sample));
  Record storable = StorableRecord(record);
  storable.name = state_->options.record_name;
  if (!state_->options.signal.empty()) storable.signal = state_->options.signal;
  const Record flattened = FlattenSample(storable, state_->options.ragged_axes);
  CheckStorable(flattened);
  if (state_->frame) {
    CheckSameFrame(fmt::format("sample {}", sample),
                   SampleFrame(flattened, state_->options.ragged_axes), *state_->frame);
  }
  SamplePlace place;
  if (state_->keeps_old_file) {
    place.in_memory = std::move(storable);
  } else {
    place.journal_offset =
        state_->journal->Append({JournalEntry::Kind::kSample, sample, "", storable});
  }
  state_->NoteSample(sample, flattened, std::move(place));
}

void SweepStore::AppendFailure(int64_t sample, const std::string& message) {
  state_->CheckWritable();
  state_->is_complete = false;
  MIDSCOPE_CHECK(state_->finished.count(sample) == 0,
                 fmt::format("sample {} is stored already", sample));
  if (!state_->keeps_old_file) {
    state_->journal->Append({JournalEntry::Kind::kFailure, sample, message, {}});
  }
  state_->NoteFailure(sample, message);
}

void SweepStore::Checkpoint(const std::vector<Record>& extra) {
  state_->CheckWritable();
  if (state_->keeps_old_file && state_->finished.empty()) return;
  state_->Fold(extra);
  if (state_->keeps_old_file) RemoveRankParts(state_->path);
  state_->keeps_old_file = false;
  // If the process is killed before the journal is cleared, samples are in the file and in the
  // journal; then the journal's copy is used.
  state_->checkpoint.emplace(state_->path, ReadBy::kThisProcess);
  int64_t row = 0;
  for (auto& [sample, place] : state_->places) {
    place.journal_offset.reset();
    place.in_memory.reset();
    place.row = row++;
  }
  state_->journal->Clear();
  state_->journal->Append({JournalEntry::Kind::kPlan, 0, state_->plan_json, {}});
}

void SweepStore::Finish(const std::vector<Record>& extra) {
  if (!state_->is_complete) Checkpoint(extra);
  if (!state_->keeps_old_file) state_->journal->Remove();
}

Record SweepStore::ReadSample(int64_t sample, const ArrayFilter& wanted) const {
  MIDSCOPE_CHECK(state_->finished.count(sample) != 0,
                 fmt::format("sample {} is not stored", sample));
  return state_->Load(sample, wanted);
}

const Record* SweepStore::common_frame() const { return state_->frame ? &*state_->frame : nullptr; }

const std::map<std::string, int64_t>& SweepStore::RaggedSizesOf(int64_t sample) const {
  return state_->places.at(sample).ragged_sizes;
}

const RunReader* SweepStore::file() const {
  return state_->checkpoint ? &*state_->checkpoint : nullptr;
}

std::optional<int64_t> SweepStore::FileRow(int64_t sample) const {
  const SamplePlace& place = state_->places.at(sample);
  return place.journal_offset || place.in_memory ? std::nullopt : std::optional(place.row);
}

const std::string& SweepStore::record_name() const { return state_->options.record_name; }

void ReplaceSweep(const std::string& from, const std::string& to) {
  std::error_code failed;
  std::filesystem::rename(from, to, failed);
  if (failed) throw Failure(to, "cannot be replaced by " + from + ": " + failed.message());
  SyncFolderOf(to);
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
      {kFailedSample, {"failure"}, std::move(samples), "", "number of the sample"},
      {kFailureMessage, {"failure"}, std::move(messages), "", "why it could not be run"}};
  return record;
}

std::map<int64_t, std::string> ReadFailures(const RunReader& reader) {
  const ArrayData samples = reader.ReadArray(kFailuresRecord, kFailedSample).data;
  const ArrayData messages = reader.ReadArray(kFailuresRecord, kFailureMessage).data;
  const auto* numbers = std::get_if<std::vector<int64_t>>(&samples);
  const auto* texts = std::get_if<std::vector<std::string>>(&messages);
  if (!numbers || !texts || numbers->size() != texts->size()) {
    throw Failure(reader.path(), "has a damaged list of failed samples");
  }
  std::map<int64_t, std::string> failures;
  for (size_t i = 0; i < numbers->size(); ++i) failures[(*numbers)[i]] = (*texts)[i];
  return failures;
}

}  // namespace midscope
