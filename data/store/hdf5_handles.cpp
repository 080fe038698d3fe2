// SPDX-License-Identifier: MIT
#include "data/store/hdf5_handles.h"

#include <cstdlib>

namespace midscope::hdf5 {
namespace {

std::recursive_mutex& LibraryMutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// Callback of H5Ewalk2 that appends the error's description to the list `messages`.
herr_t AddMessage(unsigned, const H5E_error2_t* error, void* messages) {
  if (error->desc && *error->desc) {
    static_cast<std::vector<std::string>*>(messages)->emplace_back(error->desc);
  }
  return 0;
}

std::string Explanation() {
  std::vector<std::string> messages;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, AddMessage, &messages);
  H5Eclear2(H5E_DEFAULT);
  if (messages.empty()) return "HDF5 reports no reason";
  std::string text = messages.front();
  if (messages.size() > 1) text += " (" + messages.back() + ")";
  return text;
}

}  // namespace

LibraryLock::LibraryLock() : guard_(LibraryMutex()) {
  // Disables HDF5's file locks by a variable that HDF5 reads when it starts. Midscope's files never
  // change in place, and shared file systems of clusters often can't lock. OpenForReading disables
  // them, too, but HDF5 would lock the sources of virtual data sets, which it opens itself, and
  // refuses to open a file with a lock if it is already open without one.
  [[maybe_unused]] static const int said =
      setenv("HDF5_USE_FILE_LOCKING", "FALSE", /*overwrite=*/0);
  // Disables plugins: HDF5 would load filters that a file names from a path in the environment.
  [[maybe_unused]] static const herr_t no_plugins = H5PLset_loading_state(0);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

void ThrowLibraryError(const std::string& what) {
  throw Hdf5Error("cannot " + what + ": " + Explanation());
}

Handle::Handle(hid_t id, Closer closer, const std::string& what)
    : id_(Check(id, what)), closer_(closer) {}

void Handle::Close() noexcept {
  if (id_ >= 0) closer_(std::exchange(id_, H5I_INVALID_HID));
}

void Handle::CloseOrThrow(const std::string& what) {
  if (id_ >= 0) Check(closer_(std::exchange(id_, H5I_INVALID_HID)), what);
}

Handle OpenForReading(const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "set up reading");
  Check(H5Pset_file_locking(access.id(), false, true), "turn file locking off");
  Check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_WEAK), "set up reading");
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose, "open it as HDF5"};
}

Handle OpenPart(hid_t whole, const std::string& path) {
  const Handle access(H5Fget_access_plist(whole), H5Pclose, "set up reading");
  Check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_WEAK), "set up reading");
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose, "open its part " + path};
}

Handle CreateGroup(hid_t parent, const std::string& name) {
  const Handle create(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "set up a group");
  // Omits time stamps, so that equal runs give identical files.
  Check(H5Pset_obj_track_times(create.id(), false), "set up a group");
  constexpr unsigned kKeepOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  Check(H5Pset_link_creation_order(create.id(), kKeepOrder), "set up a group");
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, create.id(), H5P_DEFAULT), H5Gclose,
          "create group '" + name + "'"};
}

bool HasHardLink(hid_t parent, const std::string& name) {
  // Rejects paths, because HDF5 would follow all links in a path.
  if (name.empty() || name == "." || name.find('/') != std::string::npos) return false;
  if (Check(H5Lexists(parent, name.c_str(), H5P_DEFAULT), "look for '" + name + "'") <= 0)
    return false;
  H5L_info_t info;
  Check(H5Lget_info(parent, name.c_str(), &info, H5P_DEFAULT), "look for '" + name + "'");
  return info.type == H5L_TYPE_HARD;
}

Handle OpenGroup(hid_t parent, const std::string& name) {
  if (!HasHardLink(parent, name))
    throw Hdf5Error("cannot open group '" + name + "': it does not exist or is a link");
  return {H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose, "open group '" + name + "'"};
}

Handle OpenDataSet(hid_t parent, const std::string& name) {
  if (!HasHardLink(parent, name))
    throw Hdf5Error("cannot open data set '" + name + "': it does not exist or is a link");
  return {H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, "open data set '" + name + "'"};
}

Handle OpenDataSetAt(hid_t root, const std::string& path) {
  if (!path.starts_with('/')) throw Hdf5Error("'" + path + "' is not the path of a data set");
  Handle group;
  size_t begin = 1;
  for (size_t end = path.find('/', begin); end != std::string::npos; end = path.find('/', begin)) {
    group = OpenGroup(group.id() < 0 ? root : group.id(), path.substr(begin, end - begin));
    begin = end + 1;
  }
  return OpenDataSet(group.id() < 0 ? root : group.id(), path.substr(begin));
}

Handle Space(const std::vector<hsize_t>& sizes) {
  const hid_t id = sizes.empty()
                       ? H5Screate(H5S_SCALAR)
                       : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  return {id, H5Sclose, "set up a data space"};
}

Handle SpaceOf(hid_t data_set) {
  return {H5Dget_space(data_set), H5Sclose, "read a data set's sizes"};
}

std::vector<hsize_t> SizesOf(hid_t space) {
  const int rank = Check(H5Sget_simple_extent_ndims(space), "read a data set's sizes");
  std::vector<hsize_t> sizes(static_cast<size_t>(rank));
  Check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "read a data set's sizes");
  return sizes;
}

Handle TextType() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "set up the text type");
  Check(H5Tset_size(type.id(), H5T_VARIABLE), "set up the text type");
  Check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "set up the text type");
  return type;
}

std::vector<std::string> ChildNames(hid_t group) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
    // Omits soft and external links, which could lead to another file.
    if (info->type == H5L_TYPE_HARD)
      static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  const Handle create(H5Gget_create_plist(group), H5Pclose, "read a group");
  unsigned order = 0;
  Check(H5Pget_link_creation_order(create.id(), &order), "read a group");
  const H5_index_t index =
      (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  hsize_t position = 0;
  Check(H5Literate(group, index, H5_ITER_INC, &position, add, &names), "list a group");
  return names;
}

bool IsGroup(hid_t parent, const std::string& name) {
  const Handle object(H5Oopen(parent, name.c_str(), H5P_DEFAULT), H5Oclose, "open '" + name + "'");
  return H5Iget_type(object.id()) == H5I_GROUP;
}

}  // namespace midscope::hdf5
