// SPDX-License-Identifier: MIT
#include "data/record_reader.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "core/error.h"
#include "core/nearest_word.h"
#include "data/file_parts.h"
#include "data/file_seal.h"
#include "data/hdf5_handles.h"
#include "data/hdf5_values.h"
#include "data/rank_parts.h"
#include "data/record_frame.h"
#include "data/record_group.h"
#include "data/run_store.h"
#include "data/sample_rows.h"

namespace midscope {
namespace {

using hdf5::Handle;
using hdf5::Hdf5Error;

constexpr std::string_view kAddressSeparator = "::";

// What may be there instead.
std::string UnfinishedHint(const std::string& path) {
  std::error_code ignored;
  if (const std::vector<std::string> parts = RankParts(path); !parts.empty()) {
    return "Several processes are at work on it, or were: look into " + parts.front() +
           ", or go on with --resume";
  }
  if (std::filesystem::exists(JournalPath(path), ignored))
    return "A sweep's first samples wait in " + JournalPath(path) + "; --resume goes on";
  return "";
}

int64_t CheckedFileSize(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw Failure(path, "there is no such file", UnfinishedHint(path));
  if (!std::filesystem::is_regular_file(path, error)) throw Failure(path, "is not a file");
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw Failure(path, "can't be read: " + error.message());
  return static_cast<int64_t>(size);
}

// Runs `read` with the library locked and its errors turned into Error.
template <typename Read>
auto Guarded(const std::string& path, const Read& read) {
  const hdf5::LibraryLock lock;
  try {
    return read();
  } catch (const Hdf5Error& error) {
    throw Failure(path, error.what(), "The file is damaged, cut off or not Midscope's");
  }
}

// A damaged file must not give a record that contradicts itself.
Record Checked(const std::string& path, Record record) {
  try {
    record.Check();
  } catch (const std::logic_error& error) {
    throw Failure(path, error.what(), "The file is damaged");
  }
  return record;
}

void CheckSchema(const std::string& path, hid_t root) {
  if (hdf5::ReadTextAttribute(root, "schema_name") != "midscope") {
    throw Failure(path, "is an HDF5 file, but not one that Midscope wrote");
  }
  const auto version = hdf5::ReadAttribute(root, "schema_version");
  const auto* number = version ? std::get_if<int64_t>(&*version) : nullptr;
  if (!number || *number < 1 || *number > kRunSchemaVersion) {
    throw Failure(path,
                  "has schema " + (number ? std::to_string(*number) : "without a version") +
                      "; this version reads up to " + std::to_string(kRunSchemaVersion),
                  "Use a later Midscope");
  }
}

[[noreturn]] void ThrowUnknown(const std::string& path, const std::string& kind,
                               const std::string& name, const std::vector<std::string>& known) {
  throw Failure(path, "has no " + kind + " '" + name + "'", KnownWordsHint(name, known));
}

const Array& FindArrayOrThrow(const std::string& path, const Record& frame,
                              const std::string& array) {
  if (const Array* found = frame.FindArray(array)) return *found;
  std::vector<std::string> known;
  for (const Array& held : frame.arrays) known.push_back(held.name);
  ThrowUnknown(path, "array", array, known);
}

}  // namespace

struct RunReader::State {
  std::string path;
  std::string location;  // where it lies, if `path` is a link: parts are looked for there
  int64_t file_bytes = 0;
  Handle root;
  Handle entry;
  Provenance provenance;
  std::string plan_json;
  std::vector<FilePart> parts;  // of a virtual file
  std::vector<std::string> names;
  std::vector<std::string> groups;     // group name of each record
  mutable std::vector<Record> frames;  // read when first asked for; "" name: not yet
  std::vector<Handle> part_files;
  mutable std::map<std::string, std::shared_ptr<Handle>> open_sets;

  size_t IndexOf(const std::string& record) const {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == record || groups[i] == record) return i;
    }
    ThrowUnknown(path, "record", record, names);
  }
  Handle Group(const std::string& record) const {
    return hdf5::OpenGroup(entry.id(), groups[IndexOf(record)]);
  }
  const Record& Frame(const std::string& record) const {
    const size_t index = IndexOf(record);
    if (frames[index].name.empty()) {
      const Handle group = hdf5::OpenGroup(entry.id(), groups[index]);
      frames[index] = ReadFrame(group.id(), file_bytes, parts);
    }
    return frames[index];
  }
  // Those of a virtual file stay open: to take in which row lies where takes longer than a row.
  std::shared_ptr<Handle> DataSet(const std::string& record, const std::string& array) const {
    const auto open = [&] {
      return std::make_shared<Handle>(hdf5::OpenDataSet(Group(record).id(), array));
    };
    if (parts.empty()) return open();
    std::shared_ptr<Handle>& kept = open_sets[groups[IndexOf(record)] + "/" + array];
    if (!kept) kept = open();
    return kept;
  }
  // Runs `read` guarded, once the parts are known to be there: HDF5 would give fill values.
  template <typename Read>
  auto ReadGuarded(const Read& read) const {
    CheckPartsAreThere(location, parts);
    return Guarded(path, read);
  }
  // The first `sizes` places of row `row`; no sizes: the whole row.
  Array Row(const std::string& record, const Array& frame_array, int64_t row,
            std::vector<hsize_t> sizes) const;
};

Array RunReader::State::Row(const std::string& record, const Array& frame_array, int64_t row,
                            std::vector<hsize_t> sizes) const {
  const std::shared_ptr<Handle> data_set = DataSet(record, frame_array.name);
  std::vector<hsize_t> whole = hdf5::SizesOf(hdf5::SpaceOf(data_set->id()).id());
  if (whole.empty() || row < 0 || static_cast<hsize_t>(row) >= whole[0]) {
    throw Failure(path, "array '" + frame_array.name + "' has no row " + std::to_string(row));
  }
  if (sizes.empty()) sizes.assign(whole.begin() + 1, whole.end());
  hdf5::Box box{std::vector<hsize_t>(whole.size(), 0), std::move(sizes)};
  box.begin[0] = static_cast<hsize_t>(row);
  box.sizes.insert(box.sizes.begin(), 1);
  Array array = frame_array;
  array.axes.erase(array.axes.begin());
  array.data = hdf5::ReadData(data_set->id(), file_bytes, box);
  return array;
}

RunReader::RunReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->file_bytes = CheckedFileSize(path);
  if (!SealHolds(path)) {
    throw Failure(path, "is damaged: its bytes do not agree with its checksum",
                  "Copy it again, or run again");
  }
  state_->location =
      std::filesystem::is_symlink(path) ? std::filesystem::canonical(path).string() : path;
  Guarded(path, [&] {
    state_->root = hdf5::OpenForReading(state_->location);
    CheckSchema(path, state_->root.id());
    state_->entry = hdf5::OpenGroup(state_->root.id(), "entry");
    state_->provenance = ReadProvenance(state_->entry.id());
    state_->plan_json = hdf5::ReadTextAttribute(state_->entry.id(), "plan_json");
    state_->parts = ReadParts(state_->entry.id());
    for (const std::string& name : hdf5::ChildNames(state_->entry.id())) {
      if (!hdf5::IsGroup(state_->entry.id(), name)) continue;
      const Handle group = hdf5::OpenGroup(state_->entry.id(), name);
      const std::string record = hdf5::ReadTextAttribute(group.id(), kRecordNameAttribute);
      if (record.empty()) continue;
      state_->names.push_back(record);
      state_->groups.push_back(name);
    }
    state_->frames.resize(state_->names.size());
    return 0;
  });
  state_->file_bytes += CheckParts(state_->location, state_->parts);
  Guarded(path, [&] {
    for (const FilePart& part : state_->parts) {
      state_->part_files.push_back(
          hdf5::OpenPart(state_->root.id(), PartPath(state_->location, part)));
    }
    return 0;
  });
}

RunReader::~RunReader() {
  if (!state_) return;
  const hdf5::LibraryLock lock;
  state_.reset();
}
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&& other) noexcept {
  const hdf5::LibraryLock lock;
  state_ = std::move(other.state_);
  return *this;
}

const std::string& RunReader::path() const { return state_->path; }
const Provenance& RunReader::provenance() const { return state_->provenance; }
const std::string& RunReader::plan_json() const { return state_->plan_json; }
const std::vector<std::string>& RunReader::record_names() const { return state_->names; }

std::vector<std::string> RunReader::parts() const {
  std::vector<std::string> files;
  for (const FilePart& part : state_->parts) files.push_back(part.file);
  return files;
}

std::string RunReader::GroupPath(const std::string& record) const {
  return "/entry/" + state_->groups[state_->IndexOf(record)];
}

Record RunReader::Describe(const std::string& record) const {
  return Guarded(state_->path, [&] { return state_->Frame(record); });
}

Record RunReader::Read(const std::string& record) const {
  Record whole = Describe(record);
  for (Array& array : whole.arrays) array = ReadArray(record, array.name);
  return Checked(state_->path, std::move(whole));
}

Array RunReader::ReadArray(const std::string& record, const std::string& array) const {
  return state_->ReadGuarded([&] {
    Array read = FindArrayOrThrow(state_->path, state_->Frame(record), array);
    read.data = hdf5::ReadData(state_->DataSet(record, array)->id(), state_->file_bytes);
    return read;
  });
}

Array RunReader::ReadPart(const std::string& record, const std::string& array,
                          const std::vector<AxisSlice>& slices) const {
  return state_->ReadGuarded([&] {
    const Record& frame = state_->Frame(record);
    Array part = FindArrayOrThrow(state_->path, frame, array);
    hdf5::Box box;
    bool cut = false;
    for (const std::string& name : part.axes) {
      hsize_t begin = 0;
      auto size = static_cast<hsize_t>(frame.FindAxis(name)->size);
      for (const AxisSlice& slice : slices) {
        if (slice.axis != name) continue;
        begin = static_cast<hsize_t>(slice.begin);
        size = static_cast<hsize_t>(slice.end - slice.begin);
        cut = true;
      }
      box.begin.push_back(begin);
      box.sizes.push_back(size);
    }
    if (!cut) box = {};
    part.data = hdf5::ReadData(state_->DataSet(record, array)->id(), state_->file_bytes, box);
    return part;
  });
}

Array RunReader::ReadRow(const std::string& record, const std::string& array, int64_t row) const {
  return state_->ReadGuarded([&] {
    return state_->Row(record, FindArrayOrThrow(state_->path, state_->Frame(record), array), row,
                       {});
  });
}

Record RunReader::ReadSample(const std::string& record, int64_t row,
                             const ArrayFilter& wanted) const {
  return state_->ReadGuarded([&] {
    const Record& frame = state_->Frame(record);
    Record sample = ReadSampleRow(
        frame,
        [&](const Array& array, const std::vector<int64_t>& sizes) {
          return state_->Row(record, array, row, {sizes.begin(), sizes.end()});
        },
        wanted);
    return Checked(state_->path, std::move(sample));
  });
}

RunAddress ParseRunAddress(std::string_view address) {
  const size_t separator = address.rfind(kAddressSeparator);
  if (separator == std::string_view::npos) return {std::string(address), ""};
  std::string_view inside = address.substr(separator + kAddressSeparator.size());
  while (inside.starts_with('/')) inside.remove_prefix(1);
  constexpr std::string_view kEntry = "entry";
  if (inside == kEntry) inside = "";
  if (inside.starts_with("entry/")) inside.remove_prefix(kEntry.size() + 1);
  return {std::string(address.substr(0, separator)), std::string(inside)};
}

namespace {

// The record, or that array of it alone ("": all), cut to those of `texts` whose axis it has;
// `used` counts for each of them.
Record ReadCut(const RunReader& reader, const std::string& name, const std::string& array,
               const std::vector<std::string>& texts, std::vector<int>& used) {
  Record part = reader.Describe(name);
  if (!array.empty()) {
    const Array only = FindArrayOrThrow(reader.path(), part, array);
    std::erase_if(part.axes, [&](const Axis& axis) { return !HasAxis(only, axis.name); });
    part.arrays = {only};
    part.signal = only.name;
  }
  std::vector<AxisSlice> slices;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!part.FindAxis(SlicedAxisName(texts[i]))) continue;
    slices.push_back(ReadAxisSlice(part, texts[i]));
    ++used[i];
  }
  for (Array& held : part.arrays) held = reader.ReadPart(name, held.name, slices);
  for (Axis& axis : part.axes) axis = SlicedAxis(axis, slices);
  return Checked(reader.path(), std::move(part));
}

}  // namespace

RunFile ReadRecords(const std::string& address, const std::vector<std::string>& slices) {
  const RunAddress parsed = ParseRunAddress(address);
  const RunReader reader(parsed.path);
  RunFile file{{}, reader.provenance(), reader.plan_json()};
  const size_t slash = parsed.inside.find('/');
  const std::string array = slash == std::string::npos ? "" : parsed.inside.substr(slash + 1);
  std::vector<std::string> names = reader.record_names();
  if (!parsed.inside.empty()) names = {parsed.inside.substr(0, slash)};
  std::vector<int> used(slices.size(), 0);
  for (const std::string& name : names) {
    file.records.push_back(ReadCut(reader, name, array, slices, used));
  }
  for (size_t i = 0; i < slices.size(); ++i) {
    if (used[i] > 0) continue;
    throw UsageError("slice '" + slices[i] + "'",
                     "nothing in " + address + " has axis '" + SlicedAxisName(slices[i]) + "'",
                     "midscope ls " + parsed.path + " tells what there is");
  }
  return file;
}

}  // namespace midscope
