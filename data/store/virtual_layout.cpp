// SPDX-License-Identifier: MIT
#include "data/store/virtual_layout.h"

#include <algorithm>

namespace midscope::hdf5 {
namespace {

// Escapes "%": HDF5 interprets "%b" in a source's name as the number of a block, and "%%" as "%".
std::string Escaped(const std::string& name) {
  std::string escaped;
  escaped.reserve(name.size());
  for (const char c : name) escaped.append(c == '%' ? 2 : 1, c);
  return escaped;
}

std::string Unescaped(const std::string& name) {
  std::string plain;
  for (size_t i = 0; i < name.size(); ++i) {
    plain += name[i];
    if (name[i] != '%') continue;
    if (name.compare(i, 2, "%%") != 0) {
      throw Hdf5Error("a virtual data set is in '" + name + "', which may be many");
    }
    ++i;
  }
  return plain;
}

using ReadName = ssize_t (*)(hid_t create, size_t index, char* name, size_t size);

std::string MappingText(ReadName read, hid_t create, size_t index) {
  constexpr ssize_t kLongestName = 4096;
  const ssize_t length = Check(read(create, index, nullptr, 0), "read a virtual data set");
  if (length > kLongestName) throw Hdf5Error("a virtual data set is in a file of a huge name");
  std::string name(static_cast<size_t>(length) + 1, '\0');
  Check(read(create, index, name.data(), name.size()), "read a virtual data set");
  name.pop_back();
  return Unescaped(name);
}

void SelectRows(hid_t space, const std::vector<RowRun>& rows, hsize_t RowRun::*first,
                std::vector<hsize_t> begin, std::vector<hsize_t> extent) {
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const RowRun& run : rows) {
    begin[0] = run.*first;
    extent[0] = run.count;
    Check(H5Sselect_hyperslab(space, how, begin.data(), nullptr, extent.data(), nullptr),
          "select rows of a data set");
    how = H5S_SELECT_OR;
  }
}

}  // namespace

void SetVirtual(hid_t create, const std::vector<hsize_t>& sizes,
                const std::vector<VirtualSource>& sources) {
  const Handle here = Space(sizes);
  for (const VirtualSource& source : sources) {
    const Handle there = Space(source.sizes);
    std::vector<hsize_t> begin(sizes.size(), 0);
    std::copy(source.begin.begin(), source.begin.end(), begin.begin() + 1);
    std::vector<hsize_t> extent = source.sizes;
    for (size_t axis = 1; axis < sizes.size(); ++axis) {
      extent[axis] = std::min(source.sizes[axis], sizes[axis] - begin[axis]);
    }
    const bool empty = std::find(extent.begin(), extent.end(), 0) != extent.end();
    if (source.rows.empty() || empty) continue;
    SelectRows(here.id(), source.rows, &RowRun::here, begin, extent);
    SelectRows(there.id(), source.rows, &RowRun::there, std::vector<hsize_t>(sizes.size(), 0),
               extent);
    Check(H5Pset_virtual(create, here.id(), Escaped(source.file).c_str(),
                         Escaped(source.data_set).c_str(), there.id()),
          "point a data set into " + source.file);
  }
}

std::vector<VirtualMapping> VirtualMappings(hid_t data_set) {
  constexpr size_t kMostMappings = 100000;
  const Handle create(H5Dget_create_plist(data_set), H5Pclose, "read a data set's layout");
  if (H5Pget_layout(create.id()) != H5D_VIRTUAL) return {};
  size_t count = 0;
  Check(H5Pget_virtual_count(create.id(), &count), "read a virtual data set");
  if (count > kMostMappings) throw Hdf5Error("a virtual data set has too many sources");
  std::vector<VirtualMapping> mappings(count);
  for (size_t i = 0; i < count; ++i) {
    mappings[i].file = MappingText(H5Pget_virtual_filename, create.id(), i);
    mappings[i].data_set = MappingText(H5Pget_virtual_dsetname, create.id(), i);
    const Handle space(H5Pget_virtual_srcspace(create.id(), i), H5Sclose,
                       "read a virtual data set");
    mappings[i].sizes = SizesOf(space.id());
  }
  return mappings;
}

}  // namespace midscope::hdf5
