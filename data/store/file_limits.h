// SPDX-License-Identifier: MIT
// Limits of the contents of a file of a given size. Internal to data/.
#pragma once

#include <cstdint>

namespace midscope {

// How far a file is trusted before it is read.
enum class FileTrust {
  kSealed,   // its checksum matches: it is as Midscope wrote it
  kOwn,      // written by this program, which continues it
  kForeign,  // it may be anything
};

struct FileLimits {
  int64_t file_bytes = 0;  // of the file and its parts
  // Limit of the growth of packed data. gzip compresses by at most a factor of about 1,030, which
  // padding reaches; for foreign files the limit is lower.
  int64_t expansion = 1100;
  int64_t always_allowed = int64_t{1} << 20;  // bytes

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
