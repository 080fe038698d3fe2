// SPDX-License-Identifier: MIT
#include "data/record_reader.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "core/error.h"
#include "core/nearest_word.h"
#include "data/file_seal.h"
#include "data/hdf5_handles.h"
#include "data/hdf5_values.h"
#include "data/provenance_fields.h"
#include "data/record_group.h"
#include "data/run_store.h"
#include "data/sample_rows.h"

namespace midscope {
namespace {

using hdf5::Handle;
using hdf5::Hdf5Error;

constexpr std::string_view kAddressSeparator = "::";

int64_t CheckedFileSize(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) throw Failure(path, "there is no such file");
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

Provenance ReadProvenance(hid_t entry) {
  const Handle group = hdf5::OpenGroup(entry, "provenance");
  Provenance provenance;
  ForEachField(provenance, [&](const char* name, auto& field) {
    const auto value = hdf5::ReadAttribute(group.id(), name);
    using Field = std::decay_t<decltype(field)>;
    if (const auto* held = value ? std::get_if<Field>(&*value) : nullptr) field = *held;
  });
  return provenance;
}

Axis ReadAxis(hid_t group, const std::string& name, hid_t scale, int64_t file_bytes) {
  Axis axis;
  axis.name = name;
  const std::vector<hsize_t> sizes = hdf5::SizesOf(hdf5::SpaceOf(scale).id());
  if (sizes.size() != 1) throw Hdf5Error("axis '" + name + "' has not one dimension");
  axis.size = static_cast<int64_t>(sizes[0]);
  axis.unit = hdf5::ReadTextAttribute(scale, "units");
  if (!hdf5::HasAttribute(scale, kImpliedAttribute)) {
    const ArrayData values = hdf5::ReadData(scale, file_bytes);
    if (const auto* whole = std::get_if<std::vector<int64_t>>(&values)) {
      axis.values.assign(whole->begin(), whole->end());
    } else if (const auto* real = std::get_if<std::vector<double>>(&values)) {
      axis.values = *real;
    }
  }
  const std::string labels_name = name + kLabelSuffix;
  if (hdf5::Check(H5Lexists(group, labels_name.c_str(), H5P_DEFAULT), "look for labels") > 0) {
    const Handle labels = hdf5::OpenDataSet(group, labels_name);
    if (hdf5::ReadTextAttribute(labels.id(), kRoleAttribute) == "label") {
      ArrayData data = hdf5::ReadData(labels.id(), file_bytes);
      if (auto* texts = std::get_if<std::vector<std::string>>(&data))
        axis.labels = std::move(*texts);
    }
  }
  return axis;
}

Array ReadArrayFrame(hid_t data_set, const std::string& name) {
  Array array;
  array.name = name;
  array.axes = hdf5::ReadTextListAttribute(data_set, kAxisNamesAttribute);
  array.unit = hdf5::ReadTextAttribute(data_set, "units");
  array.description = hdf5::ReadTextAttribute(data_set, "description");
  array.data = hdf5::DataKind(data_set);
  return array;
}

void CheckAxes(const Record& record, const Array& array, hid_t data_set) {
  const std::vector<hsize_t> sizes = hdf5::SizesOf(hdf5::SpaceOf(data_set).id());
  bool fits = sizes.size() == array.axes.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    const Axis* axis = record.FindAxis(array.axes[i]);
    fits = axis && static_cast<hsize_t>(axis->size) == sizes[i];
  }
  if (!fits) throw Hdf5Error("data set '" + array.name + "' does not fit its axes");
}

Record ReadFrame(hid_t group, int64_t file_bytes) {
  Record record;
  record.name = hdf5::ReadTextAttribute(group, kRecordNameAttribute);
  record.signal = hdf5::ReadTextAttribute(group, "signal");
  for (const std::string& name : hdf5::AttributeNames(group)) {
    if (IsSchemaAttribute(name)) continue;
    if (auto value = hdf5::ReadAttribute(group, name)) record.attributes[name] = std::move(*value);
  }
  for (const std::string& name : hdf5::ChildNames(group)) {
    if (hdf5::IsGroup(group, name)) continue;
    const Handle data_set = hdf5::OpenDataSet(group, name);
    const std::string role = hdf5::ReadTextAttribute(data_set.id(), kRoleAttribute);
    if (role == "axis") {
      record.axes.push_back(ReadAxis(group, name, data_set.id(), file_bytes));
    } else if (role == "array") {
      record.arrays.push_back(ReadArrayFrame(data_set.id(), name));
    }
  }
  for (const Array& array : record.arrays) {
    CheckAxes(record, array, hdf5::OpenDataSet(group, array.name).id());
  }
  return record;
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
  int64_t file_bytes = 0;
  Handle root;
  Handle entry;
  Provenance provenance;
  std::string plan_json;
  std::vector<std::string> names;
  std::vector<std::string> groups;     // group name of each record
  mutable std::vector<Record> frames;  // read when first asked for; "" name: not yet

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
      frames[index] = ReadFrame(group.id(), file_bytes);
    }
    return frames[index];
  }
  // The first `sizes` places of row `row`; no sizes: the whole row.
  Array Row(const std::string& record, const Array& frame_array, int64_t row,
            std::vector<hsize_t> sizes) const;
};

Array RunReader::State::Row(const std::string& record, const Array& frame_array, int64_t row,
                            std::vector<hsize_t> sizes) const {
  const Handle group = Group(record);
  const Handle data_set = hdf5::OpenDataSet(group.id(), frame_array.name);
  std::vector<hsize_t> whole = hdf5::SizesOf(hdf5::SpaceOf(data_set.id()).id());
  if (whole.empty() || row < 0 || static_cast<hsize_t>(row) >= whole[0]) {
    throw Failure(path, "array '" + frame_array.name + "' has no row " + std::to_string(row));
  }
  if (sizes.empty()) sizes.assign(whole.begin() + 1, whole.end());
  hdf5::Box box{std::vector<hsize_t>(whole.size(), 0), std::move(sizes)};
  box.begin[0] = static_cast<hsize_t>(row);
  box.sizes.insert(box.sizes.begin(), 1);
  Array array = frame_array;
  array.axes.erase(array.axes.begin());
  array.data = hdf5::ReadData(data_set.id(), file_bytes, box);
  return array;
}

RunReader::RunReader(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->file_bytes = CheckedFileSize(path);
  if (!SealHolds(path)) {
    throw Failure(path, "is damaged: its bytes do not agree with its checksum",
                  "Copy it again, or run again");
  }
  Guarded(path, [&] {
    state_->root = hdf5::OpenForReading(path);
    CheckSchema(path, state_->root.id());
    state_->entry = hdf5::OpenGroup(state_->root.id(), "entry");
    state_->provenance = ReadProvenance(state_->entry.id());
    state_->plan_json = hdf5::ReadTextAttribute(state_->entry.id(), "plan_json");
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
  return Guarded(state_->path, [&] {
    Array read = FindArrayOrThrow(state_->path, state_->Frame(record), array);
    const Handle group = state_->Group(record);
    read.data = hdf5::ReadData(hdf5::OpenDataSet(group.id(), array).id(), state_->file_bytes);
    return read;
  });
}

Array RunReader::ReadPart(const std::string& record, const std::string& array,
                          const std::vector<AxisSlice>& slices) const {
  return Guarded(state_->path, [&] {
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
    const Handle group = state_->Group(record);
    part.data = hdf5::ReadData(hdf5::OpenDataSet(group.id(), array).id(), state_->file_bytes, box);
    return part;
  });
}

Array RunReader::ReadRow(const std::string& record, const std::string& array, int64_t row) const {
  return Guarded(state_->path, [&] {
    return state_->Row(record, FindArrayOrThrow(state_->path, state_->Frame(record), array), row,
                       {});
  });
}

Record RunReader::ReadSample(const std::string& record, int64_t row) const {
  return Guarded(state_->path, [&] {
    const Record& frame = state_->Frame(record);
    Record sample =
        ReadSampleRow(frame, [&](const Array& array, const std::vector<int64_t>& sizes) {
          return state_->Row(record, array, row, {sizes.begin(), sizes.end()});
        });
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
    std::erase_if(part.axes, [&](const Axis& axis) {
      return std::find(only.axes.begin(), only.axes.end(), axis.name) == only.axes.end();
    });
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
