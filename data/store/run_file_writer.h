// SPDX-License-Identifier: MIT
// Creates results files of schema 1: writes root group, /entry and provenance. Internal to data/.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_parts.h"
#include "data/store/hdf5_handles.h"

namespace midscope {

struct RunFileFrame {
  std::string default_record;  // group of the record that viewers open first; "": none
  std::string plan_json;
  bool replace = false;              // whether an existing file may be replaced
  std::vector<FilePart> parts = {};  // parts of a virtual file; otherwise empty
  // If set, called when the new file is complete on the disk, before it is renamed.
  std::function<void()> before_publish = {};
};

// Creates a temporary file with root, /entry and provenance, calls `fill` to write the records into
// /entry, and renames the file. `fill` may call `check` between large writes, which throws if the
// disk is full. Converts HDF5's errors to Error.
void WriteRunFile(const std::string& path, const Provenance& provenance, const RunFileFrame& frame,
                  const std::function<void(hid_t entry, const std::function<void()>& check)>& fill);

}  // namespace midscope
