// SPDX-License-Identifier: MIT
// What a file of so many bytes can claim to hold. Internal to data/.
#pragma once

#include <cstdint>

namespace midscope {

// What is known about a file before it is read.
enum class FileTrust {
  kSealed,   // its checksum agrees: it is as Midscope wrote it
  kOwn,      // this program goes on with it
  kForeign,  // it may be anything
};

struct FileLimits {
  int64_t file_bytes = 0;  // of the file and its parts
  // What packed data can grow by. gzip shrinks by a factor of about 1,030 at most, as it does with
  // padding; what we did not write has to be more likely.
  int64_t expansion = 1100;
  int64_t always_allowed = int64_t{1} << 20;  // bytes

  FileLimits(FileTrust trust, int64_t bytes) : file_bytes(bytes) {
    if (trust != FileTrust::kForeign) return;
    expansion = 100;
    always_allowed = int64_t{64} << 20;
  }

  // Bytes that `stored` packed bytes can make.
  int64_t MostBytes(int64_t stored) const {
    const bool overflows = stored > (INT64_MAX - always_allowed) / expansion;
    return overflows ? INT64_MAX : stored * expansion + always_allowed;
  }
  // Of an array, or of all its texts together: Midscope stores each text by itself.
  int64_t MostArrayBytes() const { return MostBytes(file_bytes); }
  int64_t MostTextBytes() const { return file_bytes + always_allowed; }
};

}  // namespace midscope
