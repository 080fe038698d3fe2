// SPDX-License-Identifier: MIT
#include "data/store/file_structure.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/store/hdf5_values.h"
#include "data/store/virtual_layout.h"

namespace midscope {
namespace {

using hdf5::Check;
using hdf5::Handle;
using hdf5::Hdf5Error;

constexpr hsize_t kMostLinks = 20000;
constexpr hsize_t kMostAttributes = 1024;
// Maximum size of an HDF5 chunk, packed and unpacked. Chunks that Midscope writes contain about 1
// MiB or one sample of an array.
constexpr hsize_t kLargestChunkBytes = hsize_t{1} << 30;

void CheckAttributeCount(hid_t object, const std::string& name) {
  H5O_info_t info;
  Check(H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS), "count attributes");
  if (info.num_attrs <= kMostAttributes) return;
  throw Hdf5Error(
      fmt::format("'{}' has {} attributes, more than Midscope writes", name, info.num_attrs));
}

void CheckFilters(hid_t create, const std::string& name) {
  const int count = Check(H5Pget_nfilters(create), "read a data set's filters");
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    size_t no_values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(create, static_cast<unsigned>(i), &flags, &no_values,
                                               nullptr, 0, nullptr, &config);
    if (filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
        filter == H5Z_FILTER_FLETCHER32) {
      continue;
    }
    throw Hdf5Error(fmt::format("data set '{}' is packed by filter {}, which Midscope does not use",
                                name, filter));
  }
}

void CheckChunks(hid_t data_set, hid_t create, const std::string& name) {
  hsize_t sizes[H5S_MAX_RANK];
  const int rank = Check(H5Pget_chunk(create, H5S_MAX_RANK, sizes), "read a data set's chunks");
  const Handle type(H5Dget_type(data_set), H5Tclose, "read a data set's type");
  hsize_t bytes = H5Tget_size(type.id());
  for (int i = 0; i < rank; ++i) {
    if (bytes == 0 || sizes[i] == 0 || sizes[i] > kLargestChunkBytes / bytes) {
      throw Hdf5Error("data set '" + name + "' has chunks of a size that Midscope does not write");
    }
    bytes *= sizes[i];
  }
}

// Checks that a source of a virtual data set is a plain (not virtual) data set /entry/GROUP/ARRAY
// of the file `part`, with the sizes that the mapping states.
void CheckSource(const Handle& part, const hdf5::VirtualMapping& mapping,
                 const FileLimits& limits) {
  const Handle data_set = hdf5::OpenDataSetAt(part.id(), mapping.data_set);
  CheckDataSet(data_set.id(), mapping.data_set, {}, {}, limits);
  if (hdf5::SizesOf(hdf5::SpaceOf(data_set.id()).id()) != mapping.sizes) {
    throw Hdf5Error("'" + mapping.data_set + "' of its part '" + mapping.file +
                    "' has other sizes than stated");
  }
}

void CheckSources(hid_t data_set, const std::string& name, const std::vector<FilePart>& parts,
                  const std::vector<Handle>& part_roots, const FileLimits& limits) {
  for (const hdf5::VirtualMapping& mapping : hdf5::VirtualMappings(data_set)) {
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const FilePart& known) {
      return known.file == mapping.file;
    });
    if (part == parts.end()) {
      std::string reason = "data set '" + name;
      reason.append("' is stored in '").append(mapping.file).append("', which is not a part of it");
      throw Hdf5Error(reason);
    }
    const auto index = static_cast<size_t>(part - parts.begin());
    if (index < part_roots.size()) CheckSource(part_roots[index], mapping, limits);
  }
}

}  // namespace

void CheckGroup(hid_t group, const std::string& name) {
  CheckAttributeCount(group, name);
  H5G_info_t info;
  Check(H5Gget_info(group, &info), "read a group");
  if (info.nlinks > kMostLinks) {
    throw Hdf5Error(
        fmt::format("group '{}' has {} members, more than Midscope writes", name, info.nlinks));
  }
  const auto check = [](hid_t, const char* link, const H5L_info_t* link_info,
                        void* found) -> herr_t {
    // Accepts soft links: they can't lead to another file, and objects are opened only by hard
    // links (hdf5_handles.h).
    if (link_info->type == H5L_TYPE_HARD || link_info->type == H5L_TYPE_SOFT) return 0;
    *static_cast<std::string*>(found) = link;
    return 1;
  };
  std::string outward;
  hsize_t position = 0;
  Check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &position, check, &outward), "list a group");
  if (outward.empty()) return;
  throw Hdf5Error("'" + outward + "' in group '" + name + "' is a link out of the file");
}

void CheckDataSet(hid_t data_set, const std::string& name, const std::vector<FilePart>& parts,
                  const std::vector<Handle>& part_roots, const FileLimits& limits) {
  CheckAttributeCount(data_set, name);
  const Handle create(H5Dget_create_plist(data_set), H5Pclose, "read a data set's layout");
  if (Check(H5Pget_external_count(create.id()), "read a data set's layout") > 0) {
    throw Hdf5Error("data set '" + name + "' is outside the file, in one of other bytes");
  }
  switch (H5Pget_layout(create.id())) {
    case H5D_VIRTUAL:
      CheckSources(data_set, name, parts, part_roots, limits);
      return;
    case H5D_CHUNKED:
      CheckChunks(data_set, create.id(), name);
      break;
    case H5D_CONTIGUOUS:
    case H5D_COMPACT:
      break;
    default:
      throw Hdf5Error("data set '" + name + "' is laid out as Midscope lays none out");
  }
  CheckFilters(create.id(), name);
  hdf5::CheckStored(data_set, name, limits);
}

}  // namespace midscope
