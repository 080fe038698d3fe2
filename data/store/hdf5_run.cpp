// SPDX-License-Identifier: MIT
#include "data/store/hdf5_run.h"

#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "data/store/file_parts.h"
#include "data/store/file_structure.h"
#include "data/store/frame_check.h"
#include "data/store/hdf5_handles.h"
#include "data/store/hdf5_values.h"
#include "data/store/plan_text.h"
#include "data/store/record_frame.h"
#include "data/store/record_group.h"
#include "data/store/run_store.h"

namespace midscope {
namespace {

using hdf5::Handle;
using hdf5::Hdf5Error;

constexpr const char* kDamaged = "The file is damaged, cut off or not Midscope's";

// Runs `read` with the library locked and converts its errors to Error.
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
    CheckPartsAreThere(location_, contents_.parts);  // HDF5 would give fill values
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
      throw Failure(file, "is of another run than " + path_ + ", which takes samples from it",
                    "Join the parts again (midscope merge --virtual)");
    }
  }

  // A virtual file's parts stay open: reading their mappings takes longer than reading a row.
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
  std::string location_;  // the file's location, if `path_` is a link: parts are searched there
  FileLimits limits_;
  Handle root_;
  Handle entry_;
  RunContents contents_;
  std::vector<Handle> part_roots_;
  std::map<std::string, std::shared_ptr<Handle>> open_sets_;
};

}  // namespace

std::unique_ptr<RunSource> OpenRunHere(const std::string& path, FileTrust trust) {
  const hdf5::LibraryLock lock;  // also held while objects are closed after an error
  return std::make_unique<Hdf5Run>(path, trust);
}

}  // namespace midscope
