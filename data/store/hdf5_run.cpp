// SPDX-License-Identifier: MIT
#include "data/store/hdf5_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/utf8.h"
#include "data/store/file_parts.h"
#include "data/store/file_structure.h"
#include "data/store/frame_check.h"
#include "data/store/hdf5_handles.h"
#include "data/store/hdf5_values.h"
#include "data/store/plan_text.h"
#include "data/store/record_group.h"
#include "data/store/run_store.h"

namespace midscope {

namespace {

using hdf5::Handle;
using hdf5::Hdf5Error;

constexpr const char* kDamaged = "The file is damaged, cut off or not Midscope's";

// Calls `read` while holding the HDF5 mutex, and converts HDF5's errors to Error.
template <typename Read>
auto Guarded(const std::string& path, const Read& read) {
  const hdf5::LibraryLock lock;
  try {
    return read();
  } catch (const Hdf5Error& error) {
    throw Failure(path, error.what(), kDamaged);
  }
}

void CheckSchema(const std::string& path, hid_t root) {
  if (hdf5::ReadTextAttribute(root, "schema_name") != "midscope") {
    throw Failure(path, "is an HDF5 file, but not one that Midscope wrote");
  }
  const auto version = hdf5::ReadAttribute(root, "schema_version");
  const auto* number = version ? std::get_if<int64_t>(&*version) : nullptr;
  if (!number || *number < 1 || *number > kRunSchemaVersion) {
    throw Failure(
        path,
        fmt::format("has schema {}; this version reads up to {}",
                    number ? std::to_string(*number) : "without a version", kRunSchemaVersion),
        "Use a later Midscope");
  }
}

class Hdf5Run : public RunSource {
 public:
  Hdf5Run(const std::string& path, FileTrust trust)
      : path_(path),
        location_(LocationOf(path)),
        limits_(trust, static_cast<int64_t>(std::filesystem::file_size(location_))) {
    Guarded(path_, [&] {
      root_ = hdf5::OpenForReading(location_);
      CheckSchema(path_, root_.id());
      CheckGroup(root_.id(), "/");
      entry_ = hdf5::OpenGroup(root_.id(), "entry");
      CheckGroup(entry_.id(), "entry");
      contents_.provenance = ReadProvenance(entry_.id());
      contents_.plan_json = hdf5::ReadTextAttribute(entry_.id(), "plan_json");
      contents_.parts = ReadParts(entry_.id());
      ListRecords();
      return 0;
    });
    if (trust != FileTrust::kSealed || PartsAreChecked(location_, contents_.parts)) OpenParts();
  }

  ~Hdf5Run() override {
    const hdf5::LibraryLock lock;
    open_sets_.clear();
    part_roots_.clear();
    entry_ = Handle();
    root_ = Handle();
  }

  RunContents Contents() override { return contents_; }

  Record Frame(size_t record) override {
    return Guarded(path_, [&] {
      const Handle group = hdf5::OpenGroup(entry_.id(), contents_.groups.at(record));
      return ReadFrame(group.id(), limits_, contents_.parts, part_roots_);
    });
  }

  ArrayData Values(size_t record, const Array& array, const IndexBox& box) override {
    CheckPartsAreThere(location_, contents_.parts);  // if one is missing, HDF5 returns fill values
    return Guarded(path_, [&] {
      const std::shared_ptr<Handle> data_set = DataSet(record, array.name);
      return hdf5::ReadData(
          data_set->id(), limits_,
          {{box.begin.begin(), box.begin.end()}, {box.sizes.begin(), box.sizes.end()}});
    });
  }

 private:
  void ListRecords() {
    for (const std::string& name : hdf5::ChildNames(entry_.id())) {
      if (!hdf5::IsGroup(entry_.id(), name)) continue;
      const Handle group = hdf5::OpenGroup(entry_.id(), name);
      const std::string record = hdf5::ReadTextAttribute(group.id(), kRecordNameAttribute);
      if (record.empty()) continue;
      contents_.records.push_back(record);
      contents_.groups.push_back(name);
    }
  }

  void OpenParts() {
    if (contents_.parts.empty()) return;
    CheckParts(location_, contents_.parts);
    limits_.file_bytes += PartBytes(location_, contents_.parts);
    CheckJsonText(path_, "plan", contents_.plan_json);
    for (const FilePart& part : contents_.parts) {
      const std::string file = PartPath(location_, part);
      const std::string plan = Guarded(file, [&] {
        part_roots_.push_back(hdf5::OpenPart(root_.id(), file));
        CheckSchema(file, part_roots_.back().id());
        const Handle entry = hdf5::OpenGroup(part_roots_.back().id(), "entry");
        return hdf5::ReadTextAttribute(entry.id(), "plan_json");
      });
      CheckJsonText(file, "plan", plan);
      if (AreOfOneRun(contents_.plan_json, plan)) continue;
      throw Failure(file, "belongs to another run than " + path_ + ", which takes samples from it",
                    "Join the parts again (midscope merge --virtual)");
    }
  }

  // Opens a data set. Data sets of a virtual file then stay open, because reading their mappings
  // takes longer than reading a row.
  std::shared_ptr<Handle> DataSet(size_t record, const std::string& array) {
    const std::string& group = contents_.groups.at(record);
    const auto open = [&] {
      return std::make_shared<Handle>(
          hdf5::OpenDataSet(hdf5::OpenGroup(entry_.id(), group).id(), array));
    };
    if (contents_.parts.empty()) return open();
    std::shared_ptr<Handle>& kept = open_sets_[group + "/" + array];
    if (!kept) kept = open();
    return kept;
  }

  std::string path_;
  std::string location_;  // `path_` or, if that is a symbolic link, its target
  FileLimits limits_;
  Handle root_;
  Handle entry_;
  RunContents contents_;
  std::vector<Handle> part_roots_;
  std::map<std::string, std::shared_ptr<Handle>> open_sets_;
};

}  // namespace

std::unique_ptr<RunSource> OpenRunHere(const std::string& path, FileTrust trust) {
  const hdf5::LibraryLock lock;  // destroyed last, also after an error
  return std::make_unique<Hdf5Run>(path, trust);
}

namespace {

using hdf5::Handle;
using hdf5::Hdf5Error;

std::vector<double> ReadAxisValues(hid_t scale, const std::string& name, const FileLimits& limits) {
  const ArrayData values = hdf5::ReadData(scale, limits);
  if (const auto* whole = std::get_if<std::vector<int64_t>>(&values))
    return {whole->begin(), whole->end()};
  if (const auto* real = std::get_if<std::vector<double>>(&values)) return *real;
  throw Hdf5Error("the values of axis '" + name + "' are of another type than Midscope writes");
}

std::vector<std::string> ReadAxisLabels(hid_t group, const std::string& name,
                                        const FileLimits& limits) {
  const std::string labels_name = name + kLabelSuffix;
  if (!hdf5::HasHardLink(group, labels_name) || hdf5::IsGroup(group, labels_name)) return {};
  const Handle labels = hdf5::OpenDataSet(group, labels_name);
  if (hdf5::ReadTextAttribute(labels.id(), kRoleAttribute) != "label") return {};
  ArrayData data = hdf5::ReadData(labels.id(), limits);
  auto* texts = std::get_if<std::vector<std::string>>(&data);
  if (!texts) throw Hdf5Error("the labels of axis '" + name + "' must be strings");
  return std::move(*texts);
}

Axis ReadAxis(hid_t group, const std::string& name, hid_t scale, const FileLimits& limits) {
  Axis axis;
  axis.name = name;
  const std::vector<hsize_t> sizes = hdf5::SizesOf(hdf5::SpaceOf(scale).id());
  if (sizes.size() != 1) throw Hdf5Error("axis '" + name + "' has not one dimension");
  axis.size = static_cast<int64_t>(sizes[0]);
  axis.unit = hdf5::ReadTextAttribute(scale, "units");
  if (!hdf5::HasAttribute(scale, kImpliedAttribute))
    axis.values = ReadAxisValues(scale, name, limits);
  axis.labels = ReadAxisLabels(group, name, limits);
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

// Checks the structure of all data sets in a group, before any of them is read.
void CheckDataSets(hid_t group, const std::vector<FilePart>& parts,
                   const std::vector<Handle>& part_roots, const FileLimits& limits) {
  for (const std::string& name : hdf5::ChildNames(group)) {
    if (hdf5::IsGroup(group, name)) continue;
    CheckDataSet(hdf5::OpenDataSet(group, name).id(), name, parts, part_roots, limits);
  }
}

}  // namespace

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

std::vector<FilePart> ReadParts(hid_t entry) {
  const std::vector<std::string> files = hdf5::ReadTextListAttribute(entry, kPartsAttribute);
  const std::vector<std::string> seals = hdf5::ReadTextListAttribute(entry, kPartSealsAttribute);
  if (files.size() != seals.size()) throw Hdf5Error("its list of parts is damaged");
  std::vector<FilePart> parts;
  for (size_t i = 0; i < files.size(); ++i) parts.push_back({files[i], seals[i]});
  return parts;
}

Record ReadFrame(hid_t group, const FileLimits& limits, const std::vector<FilePart>& parts,
                 const std::vector<Handle>& part_roots) {
  Record record;
  record.name = hdf5::ReadTextAttribute(group, kRecordNameAttribute);
  CheckGroup(group, record.name);
  CheckDataSets(group, parts, part_roots, limits);
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
      record.axes.push_back(ReadAxis(group, name, data_set.id(), limits));
    } else if (role == "array") {
      record.arrays.push_back(ReadArrayFrame(data_set.id(), name));
    }
  }
  for (const Array& array : record.arrays) {
    CheckAxes(record, array, hdf5::OpenDataSet(group, array.name).id());
  }
  return record;
}

}  // namespace midscope
