// SPDX-License-Identifier: MIT
// Attributes and array data between C++ values and HDF5. Internal to data/.
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
// nullopt if the attribute is missing or its type is not in Attribute.
std::optional<Attribute> ReadAttribute(hid_t object, const std::string& name);
std::string ReadTextAttribute(hid_t object, const std::string& name);  // "" if missing
std::vector<std::string> ReadTextListAttribute(hid_t object, const std::string& name);
std::vector<std::string> AttributeNames(hid_t object);

// Valid UTF-8 without NUL, the only text in HDF5's strings: other text (a token may be part of a
// character) is stored as DisplayText (core/base/utf8.h) escapes it.
std::string StorableText(const std::string& text);

// The memory and file type of each kind of array data.
Handle TypeOf(const ArrayData& data);
// Size of one element in a file; for texts that of their reference.
size_t ElementBytes(const ArrayData& data);

// The box of a data set that is read or written; empty: all of it.
struct Box {
  std::vector<hsize_t> begin;
  std::vector<hsize_t> sizes;
};
void WriteData(hid_t data_set, const ArrayData& data, const Box& box = {});

// Throws Hdf5Error for a type that ArrayData does not have, and if elements or texts exceed the
// file's limits.
ArrayData ReadData(hid_t data_set, const FileLimits& limits, const Box& box = {});
// An empty value of the alternative that ReadData would give.
ArrayData DataKind(hid_t data_set);
// Throws Hdf5Error if a data set has more elements than its stored bytes can contain. Not for
// virtual ones, which store nothing.
void CheckStored(hid_t data_set, const std::string& name, const FileLimits& limits);

}  // namespace midscope::hdf5
