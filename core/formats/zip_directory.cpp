// SPDX-License-Identifier: MIT
#include "core/formats/zip_directory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

static_assert(std::endian::native == std::endian::little, "zip headers are little-endian");

constexpr uint32_t kZipLocalMagic = 0x04034b50;
constexpr uint32_t kEntryMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocatorMagic = 0x07064b50;
constexpr uint32_t kDescriptorMagic = 0x08074b50;
constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kEntryBytes = 46;
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kEnd64Bytes = 56;
constexpr uint64_t kLocatorBytes = 20;
constexpr uint64_t kMaxComment = 65535;
constexpr uint64_t kMaxZipEntries = 1 << 20;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kHasDescriptor = 8;
constexpr uint16_t kZip64Extra = 1;

// The directory's location in the file.
struct ZipEnd {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  uint64_t begin = 0;
};

struct ZipHeader {
  std::string_view name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t stored_bytes = 0;
  uint64_t bytes = 0;
  uint64_t header = 0;  // offset of the local header
};

class ZipParser {
 public:
  ZipParser(std::span<const std::byte> file, const std::string& thing)
      : file_(file), thing_(thing) {}

  ZipEntries Parse() {
    const ZipEnd directory = FindDirectory();
    ZipEntries entries;
    uint64_t at = directory.begin;
    const uint64_t end = directory.begin + directory.bytes;
    for (uint64_t i = 0; i < directory.entries; ++i) {
      const ZipHeader entry = ReadEntry(&at, end);
      const ZipEntry found = Locate(entry, directory.begin);
      if (!entries.emplace(entry.name, found).second) Fail(entry, "occurs twice");
    }
    if (at != end) Damaged("its directory is longer than its entries");
    CheckOverlaps();
    return entries;
  }

 private:
  [[noreturn]] void Damaged(const std::string& reason) const {
    throw Failure(thing_, reason, "The file is incomplete or damaged: fetch it again");
  }
  [[noreturn]] void Fail(const ZipHeader& entry, const std::string& reason) const {
    Damaged("its entry " + Quote(entry.name, 120) + " " + reason);
  }

  // Returns the T at `place`; the caller must have checked that these bytes exist.
  template <class T>
  T At(uint64_t place) const {
    T value{};
    std::memcpy(&value, file_.data() + place, sizeof value);
    return value;
  }
  std::string_view Text(uint64_t place, uint64_t bytes) const {
    return {reinterpret_cast<const char*>(file_.data() + place), bytes};
  }
  bool Contains(uint64_t place, uint64_t bytes) const {
    return place <= file_.size() && bytes <= file_.size() - place;
  }

  ZipEnd FindDirectory() const {
    const uint64_t size = file_.size();
    const uint64_t last = size < kEndBytes ? 0 : size - kEndBytes;
    const uint64_t first = last > kMaxComment ? last - kMaxComment : 0;
    for (uint64_t place = last; size >= kEndBytes; --place) {
      if (At<uint32_t>(place) == kEndMagic && At<uint16_t>(place + 20) == last - place)
        return ReadEnd(place);
      if (place == first) break;
    }
    Damaged("has no zip directory at its end");
  }

  ZipEnd ReadEnd(uint64_t place) const {
    if (At<uint16_t>(place + 4) != 0 || At<uint16_t>(place + 6) != 0 ||
        At<uint16_t>(place + 8) != At<uint16_t>(place + 10))
      Damaged("its zip archive is one of several disks");
    ZipEnd directory{At<uint16_t>(place + 10), At<uint32_t>(place + 12), At<uint32_t>(place + 16)};
    uint64_t end = place;
    if (place >= kLocatorBytes && At<uint32_t>(place - kLocatorBytes) == kLocatorMagic) {
      end = At<uint64_t>(place - kLocatorBytes + 8);
      directory = ReadEnd64(end, place - kLocatorBytes, directory);
    }
    if (directory.begin > end || directory.bytes != end - directory.begin)
      Damaged("its zip directory is not at the offset stated in its end record");
    if (directory.entries > kMaxZipEntries || directory.entries > directory.bytes / kEntryBytes)
      Damaged(fmt::format("its zip directory claims {} entries in {} bytes", directory.entries,
                          directory.bytes));
    return directory;
  }

  // Reads the ZIP64 end record. Numbers that fit into the older record must be equal in both.
  ZipEnd ReadEnd64(uint64_t place, uint64_t locator, const ZipEnd& old) const {
    if (place > locator || locator - place < kEnd64Bytes || At<uint32_t>(place) != kEnd64Magic)
      Damaged("its ZIP64 directory is not at the offset stated in its end record");
    const ZipEnd directory{At<uint64_t>(place + 32), At<uint64_t>(place + 40),
                           At<uint64_t>(place + 48)};
    const auto agrees = [](uint64_t older, uint64_t newer, uint64_t most) {
      return older == most || older == newer;
    };
    if (At<uint32_t>(place + 16) != 0 || At<uint32_t>(place + 20) != 0 ||
        At<uint64_t>(place + 24) != directory.entries ||
        !agrees(old.entries, directory.entries, UINT16_MAX) ||
        !agrees(old.bytes, directory.bytes, UINT32_MAX) ||
        !agrees(old.begin, directory.begin, UINT32_MAX))
      Damaged("its two zip directories contradict each other");
    return directory;
  }

  ZipHeader ReadEntry(uint64_t* at, uint64_t end) const {
    const uint64_t place = *at;
    if (end - place < kEntryBytes || At<uint32_t>(place) != kEntryMagic)
      Damaged("its zip directory has fewer entries than it claims");
    const uint64_t name_bytes = At<uint16_t>(place + 28);
    const uint64_t extra_bytes = At<uint16_t>(place + 30);
    const uint64_t all = kEntryBytes + name_bytes + extra_bytes + At<uint16_t>(place + 32);
    if (end - place < all) Damaged("an entry of its zip directory is longer than the directory");
    ZipHeader entry;
    entry.name = Text(place + kEntryBytes, name_bytes);
    entry.flags = At<uint16_t>(place + 8);
    entry.method = At<uint16_t>(place + 10);
    entry.checksum = At<uint32_t>(place + 16);
    entry.stored_bytes = At<uint32_t>(place + 20);
    entry.bytes = At<uint32_t>(place + 24);
    entry.header = At<uint32_t>(place + 42);
    ReadZip64({&entry.bytes, &entry.stored_bytes, &entry.header}, place + kEntryBytes + name_bytes,
              extra_bytes);
    *at += all;
    return entry;
  }

  // Replaces, in order, the numbers that did not fit the older fields by those of the ZIP64 field.
  void ReadZip64(std::initializer_list<uint64_t*> numbers, uint64_t place, uint64_t bytes) const {
    const uint64_t end = place + bytes;
    while (end - place >= 4) {
      const auto kind = At<uint16_t>(place);
      const uint64_t length = At<uint16_t>(place + 2);
      place += 4;
      if (length > end - place) return;
      if (kind == kZip64Extra) {
        const uint64_t last = place + length;
        for (uint64_t* number : numbers) {
          if (*number != UINT32_MAX || last - place < 8) continue;
          *number = At<uint64_t>(place);
          place += 8;
        }
        return;
      }
      place += length;
    }
  }

  // Returns an entry's data after checking its local header and, if present, data descriptor.
  ZipEntry Locate(const ZipHeader& entry, uint64_t directory) {
    const uint64_t header = entry.header;
    if (!Contains(header, kLocalBytes) || At<uint32_t>(header) != kZipLocalMagic)
      Fail(entry, "has no header at the offset stated in the directory");
    const uint64_t name_bytes = At<uint16_t>(header + 26);
    const uint64_t extra_bytes = At<uint16_t>(header + 28);
    const uint64_t begin = header + kLocalBytes + name_bytes + extra_bytes;
    if (begin > directory || entry.stored_bytes > directory - begin)
      Fail(entry, "is not in front of the directory");
    uint64_t stored = At<uint32_t>(header + 18);
    uint64_t bytes = At<uint32_t>(header + 22);
    ReadZip64({&bytes, &stored}, begin - extra_bytes, extra_bytes);
    const bool described = (entry.flags & kHasDescriptor) != 0;
    const bool same = At<uint16_t>(header + 6) == entry.flags &&
                      At<uint16_t>(header + 8) == entry.method &&
                      Text(header + kLocalBytes, name_bytes) == entry.name;
    const bool same_numbers = bytes == entry.bytes && stored == entry.stored_bytes &&
                              At<uint32_t>(header + 14) == entry.checksum;
    if (!same || (!described && !same_numbers))
      Fail(entry, "has a header that contradicts the directory");
    uint64_t end = begin + entry.stored_bytes;
    if (described) end = CheckDescriptor(entry, end, directory);
    ranges_.emplace_back(header, end);
    const bool plain = (entry.flags & kEncrypted) == 0 && entry.method == 0;
    if (plain && entry.bytes != entry.stored_bytes) Fail(entry, "has two sizes");
    return {file_.subspan(begin, entry.stored_bytes), plain};
  }

  // Returns the offset after the data descriptor, whose sizes have 4 or 8 bytes each.
  uint64_t CheckDescriptor(const ZipHeader& entry, uint64_t place, uint64_t directory) const {
    const uint64_t room = directory - place;
    const bool begins = room >= 16 && At<uint32_t>(place) == kDescriptorMagic &&
                        At<uint32_t>(place + 4) == entry.checksum;
    if (begins && room >= 24 && At<uint64_t>(place + 8) == entry.stored_bytes &&
        At<uint64_t>(place + 16) == entry.bytes)
      return place + 24;
    if (begins && At<uint32_t>(place + 8) == entry.stored_bytes &&
        At<uint32_t>(place + 12) == entry.bytes)
      return place + 16;
    Fail(entry, "has a descriptor that contradicts the directory");
  }

  void CheckOverlaps() {
    std::sort(ranges_.begin(), ranges_.end());
    for (size_t i = 1; i < ranges_.size(); ++i) {
      if (ranges_[i].first < ranges_[i - 1].second) Damaged("entries of its zip archive overlap");
    }
  }

  std::span<const std::byte> file_;
  const std::string& thing_;
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;  // ranges of headers and data
};

}  // namespace

ZipEntries ReadZipDirectory(std::span<const std::byte> bytes, const std::string& thing) {
  return ZipParser(bytes, thing).Parse();
}

}  // namespace midscope
