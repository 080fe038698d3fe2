// SPDX-License-Identifier: MIT
// RAII handles for the HDF5 C library: each call is wrapped in one place, and throws HDF5's error
// message on failure. Internal to data/.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace midscope::hdf5 {

// HDF5's error message; public functions of data/ convert it to Error with the file's name.
class Hdf5Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Mutex guard that every public function holds while it uses HDF5, which may be built without
// thread safety. Also disables HDF5's printing of errors to stderr on this thread.
class LibraryLock {
 public:
  LibraryLock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

// Owns one HDF5 identifier of any kind.
class Handle {
 public:
  using Closer = herr_t (*)(hid_t);

  Handle() = default;
  // Throws Hdf5Error "cannot WHAT: ..." if `id` is negative.
  Handle(hid_t id, Closer closer, const std::string& what);
  ~Handle() { Close(); }
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      Close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      closer_ = other.closer_;
    }
    return *this;
  }

  hid_t id() const { return id_; }
  // Closes the identifier. Throws Hdf5Error on failure, e.g. if buffered data can't be written.
  void CloseOrThrow(const std::string& what);

 private:
  void Close() noexcept;

  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

// Throws Hdf5Error "cannot WHAT: HDF5's explanation" if `status` is negative; otherwise returns it.
template <typename Status>
Status Check(Status status, const std::string& what);
[[noreturn]] void ThrowLibraryError(const std::string& what);

template <typename Status>
Status Check(Status status, const std::string& what) {
  if (status < 0) ThrowLibraryError(what);
  return status;
}

Handle OpenForReading(const std::string& path);
// Opens the part at `path` in the way in which HDF5 opens it for virtual data sets of the file
// `whole`. Throws if HDF5 could not open it and would return fill values.
Handle OpenPart(hid_t whole, const std::string& path);
Handle CreateGroup(hid_t parent, const std::string& name);  // tracks creation order
// OpenGroup and OpenDataSet throw Hdf5Error if `name` is not a hard link in `parent` to a group (a
// data set), because other links could lead to other files.
Handle OpenGroup(hid_t parent, const std::string& name);
Handle OpenDataSet(hid_t parent, const std::string& name);
// Opens the data set at a path through groups, "/entry/sweep/answer_nll". Throws as OpenDataSet.
Handle OpenDataSetAt(hid_t root, const std::string& path);
bool HasHardLink(hid_t parent, const std::string& name);
Handle Space(const std::vector<hsize_t>& sizes);  // empty `sizes`: a scalar
Handle SpaceOf(hid_t data_set);
std::vector<hsize_t> SizesOf(hid_t space);
Handle TextType();  // variable-length UTF-8

// Returns the names of the hard links in a group, in creation order if the file tracks it.
std::vector<std::string> ChildNames(hid_t group);
bool IsGroup(hid_t parent, const std::string& name);

}  // namespace midscope::hdf5
