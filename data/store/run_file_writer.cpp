// SPDX-License-Identifier: MIT
#include "data/store/run_file_writer.h"

#include "core/base/error.h"
#include "core/base/record.h"
#include "data/store/durable_file.h"
#include "data/store/file_seal.h"
#include "data/store/hdf5_values.h"
#include "data/store/record_group.h"
#include "data/store/run_store.h"

namespace midscope {
namespace {

using hdf5::WriteAttribute;

void WriteProvenance(hid_t entry, const Provenance& provenance) {
  const hdf5::Handle group = hdf5::CreateGroup(entry, "provenance");
  WriteAttribute(group.id(), "NX_class", Attribute("NXcollection"));
  ForEachField(provenance, [&](const char* name, const auto& value) {
    WriteAttribute(group.id(), name, Attribute(value));
  });
}

void WriteParts(hid_t entry, const std::vector<FilePart>& parts) {
  std::vector<std::string> files;
  std::vector<std::string> seals;
  for (const FilePart& part : parts) {
    files.push_back(part.file);
    seals.push_back(part.seal);
  }
  WriteAttribute(entry, kPartsAttribute, files);
  WriteAttribute(entry, kPartSealsAttribute, seals);
}

void WriteContents(DurableFile& file, const Provenance& provenance, const RunFileFrame& frame,
                   const std::function<void(hid_t, const std::function<void()>&)>& fill) {
  hdf5::Handle root = file.CreateHdf5();
  WriteAttribute(root.id(), "NX_class", Attribute("NXroot"));
  WriteAttribute(root.id(), "schema_name", Attribute("midscope"));
  WriteAttribute(root.id(), "schema_version", Attribute(int64_t{kRunSchemaVersion}));
  WriteAttribute(root.id(), "creator", Attribute(provenance.program + " " + provenance.version));
  WriteAttribute(root.id(), "default", Attribute("entry"));
  {
    const hdf5::Handle entry = hdf5::CreateGroup(root.id(), "entry");
    WriteAttribute(entry.id(), "NX_class", Attribute("NXentry"));
    if (!frame.default_record.empty()) {
      WriteAttribute(entry.id(), "default", Attribute(frame.default_record));
    }
    if (!frame.plan_json.empty()) {
      WriteAttribute(entry.id(), "plan_json", Attribute(frame.plan_json));
    }
    if (!frame.parts.empty()) WriteParts(entry.id(), frame.parts);
    WriteProvenance(entry.id(), provenance);
    fill(entry.id(), [&file] { file.ThrowIfFailed(); });
  }
  root.CloseOrThrow("write the file");
}

}  // namespace

void WriteRunFile(const std::string& path, const Provenance& provenance, const RunFileFrame& frame,
                  const std::function<void(hid_t, const std::function<void()>&)>& fill) {
  const hdf5::LibraryLock lock;
  DurableFile file(path);
  try {
    WriteContents(file, provenance, frame, fill);
  } catch (const hdf5::Hdf5Error& error) {
    file.ThrowIfFailed();  // the recorded errno is more precise than HDF5's error
    throw Failure(path, std::string("cannot be written: ") + error.what());
  }
  file.ThrowIfFailed();
  file.NoteError(SealFile(file.descriptor()));
  file.Publish(frame.replace, frame.before_publish);
}

}  // namespace midscope
