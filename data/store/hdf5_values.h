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
// Nothing where the attribute is missing or of another type than Attribute has.
std::optional<Attribute> ReadAttribute(hid_t object, const std::string& name);
std::string ReadTextAttribute(hid_t object, const std::string& name);  // "" where missing
std::vector<std::string> ReadTextListAttribute(hid_t object, const std::string& name);
std::vector<std::string> AttributeNames(hid_t object);

// Valid UTF-8 without NUL, which is all that HDF5's strings hold: other text (a token may be a part
// of a character) is stored as DisplayText (core/base/utf8.h) shows it.
std::string StorableText(const std::string& text);

// The memory and file type of each kind of array data.
Handle TypeOf(const ArrayData& data);
// Of one element in a file; of texts what is there instead of them.
size_t ElementBytes(const ArrayData& data);

// Which box of a data set is read or written; empty: all of it.
struct Box {
  std::vector<hsize_t> begin;
  std::vector<hsize_t> sizes;
};
void WriteData(hid_t data_set, const ArrayData& data, const Box& box = {});

// Throws Hdf5Error for a type that ArrayData does not have, and where elements or texts are more
// than a file can hold.
ArrayData ReadData(hid_t data_set, const FileLimits& limits, const Box& box = {});
// An empty value of the alternative that ReadData would give.
ArrayData DataKind(hid_t data_set);
// Throws Hdf5Error where a data set claims more elements than what is stored of it can make. Not
// for virtual ones, of which nothing is stored.
void CheckStored(hid_t data_set, const std::string& name, const FileLimits& limits);

}  // namespace midscope::hdf5
