// SPDX-License-Identifier: MIT
// Converts attributes and array data between C++ values and HDF5. Internal to data/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "data/store/file_limits.h"
#include "data/store/hdf5_handles.h"

namespace midscope::hdf5 {

void WriteAttribute(hid_t object, const std::string& name, const Attribute& value);
void WriteAttribute(hid_t object, const std::string& name, const std::vector<std::string>& values);

bool HasAttribute(hid_t object, const std::string& name);
// Returns an attribute's value; nullopt if it is missing or Attribute can't hold its type.
std::optional<Attribute> ReadAttribute(hid_t object, const std::string& name);
std::string ReadTextAttribute(hid_t object, const std::string& name);  // "" if missing
std::vector<std::string> ReadTextListAttribute(hid_t object, const std::string& name);
std::vector<std::string> AttributeNames(hid_t object);

// Returns `text` if it is valid UTF-8 without NUL, the only text that HDF5's strings can hold;
// other text (a token may be part of a character) is returned as escaped by DisplayText
// (core/base/utf8.h).
std::string StorableText(const std::string& text);

// Returns the HDF5 type for elements of array data, in memory and in the file.
Handle TypeOf(const ArrayData& data);
// Size of one element in a file, in bytes; for texts, the size of the reference to the text.
size_t ElementBytes(const ArrayData& data);

// The part of a data set that is read or written: begin and size per axis. Empty: all of it.
struct Box {
  std::vector<hsize_t> begin;
  std::vector<hsize_t> sizes;
};
void WriteData(hid_t data_set, const ArrayData& data, const Box& box = {});

// Reads a box of a data set. Throws Hdf5Error if its type is unsupported or it exceeds `limits`.
ArrayData ReadData(hid_t data_set, const FileLimits& limits, const Box& box = {});
// Returns empty array data of the type that ReadData returns for this data set.
ArrayData DataKind(hid_t data_set);
// Throws Hdf5Error if a data set has more elements than its stored bytes can contain. Do not call
// it for virtual data sets, which store nothing.
void CheckStored(hid_t data_set, const std::string& name, const FileLimits& limits);

}  // namespace midscope::hdf5
