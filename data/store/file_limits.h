// SPDX-License-Identifier: MIT
// Limits for plausible sizes of a file's contents, given the size of the file. Internal to data/.
#pragma once

#include <cstdint>

namespace midscope {

// How far the contents of a file are trusted.
enum class FileTrust {
  kSealed,   // checksum matches: unchanged since Midscope wrote it
  kOwn,      // written and now continued by this process
  kForeign,  // of unknown origin
};

struct FileLimits {
  int64_t file_bytes = 0;  // size of the file and of its parts (file_parts.h)
  // Maximum ratio of unpacked to packed size. gzip reaches at most about 1,030, for constant data
  // such as padding; the limit for foreign files is lower.
  int64_t expansion = 1100;
  int64_t always_allowed = int64_t{1} << 20;  // unpacked bytes allowed at any ratio

  FileLimits(FileTrust trust, int64_t bytes) : file_bytes(bytes) {
    if (trust != FileTrust::kForeign) return;
    expansion = 100;
    always_allowed = int64_t{64} << 20;
  }

  // Returns the maximum plausible size, in bytes, of `stored` packed bytes after unpacking.
  int64_t MostBytes(int64_t stored) const {
    const bool overflows = stored > (INT64_MAX - always_allowed) / expansion;
    return overflows ? INT64_MAX : stored * expansion + always_allowed;
  }
  // Return the maximum plausible size, in bytes, of an array, or of all strings of an array (each
  // of which Midscope stores separately).
  int64_t MostArrayBytes() const { return MostBytes(file_bytes); }
  int64_t MostTextBytes() const { return file_bytes + always_allowed; }
};

}  // namespace midscope
