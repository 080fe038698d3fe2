// SPDX-License-Identifier: MIT
// Bounds on the contents of a file, given its size. Internal to data/.
#pragma once

#include <cstdint>

namespace midscope {

// How far the contents of a file are trusted.
enum class FileTrust {
  kSealed,   // its checksum matches: unchanged since Midscope wrote it
  kOwn,      // written by this program, which now continues it
  kForeign,  // of unknown origin
};

struct FileLimits {
  int64_t file_bytes = 0;  // size of the file and its parts
  // Maximum ratio of unpacked to packed size. gzip reaches at most about 1,030, and does for
  // padding; the limit for foreign files is lower.
  int64_t expansion = 1100;
  int64_t always_allowed = int64_t{1} << 20;  // bytes allowed beyond that ratio

  FileLimits(FileTrust trust, int64_t bytes) : file_bytes(bytes) {
    if (trust != FileTrust::kForeign) return;
    expansion = 100;
    always_allowed = int64_t{64} << 20;
  }

  // Maximum size of `stored` packed bytes after unpacking.
  int64_t MostBytes(int64_t stored) const {
    const bool overflows = stored > (INT64_MAX - always_allowed) / expansion;
    return overflows ? INT64_MAX : stored * expansion + always_allowed;
  }
  // Maximum size of an array, or of all its strings together: Midscope stores each string
  // separately.
  int64_t MostArrayBytes() const { return MostBytes(file_bytes); }
  int64_t MostTextBytes() const { return file_bytes + always_allowed; }
};

}  // namespace midscope
