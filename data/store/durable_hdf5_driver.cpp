// SPDX-License-Identifier: MIT
// HDF5 file driver that reads and writes through the file descriptor of a DurableFile. A failed
// write is recorded in the DurableFile and reported to HDF5 as successful, because HDF5 1.10 can't
// close a file that it can't write (H5Fclose fails, the identifier remains open, exit() crashes).
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "data/store/durable_file.h"

namespace midscope {
namespace {

struct DriverFile {
  H5FD_t common;  // must be first: HDF5 uses the object as this type
  DurableFile* target;
  haddr_t end_of_addresses;
  haddr_t end_of_file;
};

struct DriverInfo {
  DurableFile* target;
};

DriverFile* Of(H5FD_t* file) { return reinterpret_cast<DriverFile*>(file); }
const DriverFile* Of(const H5FD_t* file) { return reinterpret_cast<const DriverFile*>(file); }

H5FD_t* OpenFile(const char*, unsigned, hid_t access, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (!info) return nullptr;
  auto file = std::make_unique<DriverFile>();
  file->target = info->target;
  return &file.release()->common;
}

herr_t CloseFile(H5FD_t* file) {
  delete Of(file);
  return 0;
}

herr_t Features(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t EndOfAddresses(const H5FD_t* file, H5FD_mem_t) { return Of(file)->end_of_addresses; }

herr_t SetEndOfAddresses(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  Of(file)->end_of_addresses = address;
  return 0;
}

haddr_t EndOfFile(const H5FD_t* file, H5FD_mem_t) { return Of(file)->end_of_file; }

herr_t Read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  auto* bytes = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count =
        pread(Of(file)->target->descriptor(), bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) {  // beyond the end of the file: reads zeros, as HDF5's own drivers do
      std::memset(bytes, 0, size);
      return 0;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return 0;
}

herr_t Write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
  DriverFile* driver_file = Of(file);
  const auto* bytes = static_cast<const char*>(buffer);
  while (size > 0 && !driver_file->target->failed()) {
    const ssize_t count =
        pwrite(driver_file->target->descriptor(), bytes, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      driver_file->target->NoteError(errno);
      break;
    }
    bytes += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  driver_file->end_of_file = std::max(driver_file->end_of_file, address + size);
  return 0;
}

herr_t Truncate(H5FD_t* file, hid_t, hbool_t) {
  DriverFile* driver_file = Of(file);
  if (driver_file->end_of_file == driver_file->end_of_addresses) return 0;
  if (!driver_file->target->failed() &&
      ftruncate(driver_file->target->descriptor(),
                static_cast<off_t>(driver_file->end_of_addresses)) != 0) {
    driver_file->target->NoteError(errno);
  }
  driver_file->end_of_file = driver_file->end_of_addresses;
  return 0;
}

hid_t RegisterDriver() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  constexpr int kUnassignedDriver = 513;  // HDF5 reserves 256 to 511; 512 and above are for tests
  driver.value = kUnassignedDriver;
#endif
  driver.name = "midscope_durable";
  driver.maxaddr = INT64_MAX;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = OpenFile;
  driver.close = CloseFile;
  driver.query = Features;
  driver.get_eoa = EndOfAddresses;
  driver.set_eoa = SetEndOfAddresses;
  driver.get_eof = EndOfFile;
  driver.read = Read;
  driver.write = Write;
  driver.truncate = Truncate;
  constexpr H5FD_mem_t kFreeLists[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kFreeLists), std::end(kFreeLists), driver.fl_map);
  return hdf5::Check(H5FDregister(&driver), "register the file driver");
}

}  // namespace

hdf5::Handle DurableFile::CreateHdf5() {
  static const hid_t driver = RegisterDriver();
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "set up writing");
  const DriverInfo info{this};
  hdf5::Check(H5Pset_driver(access.id(), driver, &info), "set up writing");
  hdf5::Check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "set up writing");
  // Uses the file format of HDF5 1.10, which has checksums for metadata, so that a damaged file
  // causes an error and not a crash.
  hdf5::Check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110),
              "set up writing");
  const hdf5::Handle create(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "set up writing");
  hdf5::Check(H5Pset_obj_track_times(create.id(), false), "set up writing");  // root group
  hdf5::Check(
      H5Pset_link_creation_order(create.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
      "set up writing");
  return {H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, create.id(), access.id()), H5Fclose,
          "create the file"};
}

}  // namespace midscope
