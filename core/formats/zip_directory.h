// SPDX-License-Identifier: MIT
// Reads the entries of a zip archive as written by torch.save: stored without compression, with
// ZIP64 fields for large sizes (format: PKWARE's APPNOTE.TXT). No zip library is used, because
// libraries decompress and copy, while entries are read here in the mapped file.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace midscope {

struct ZipEntry {
  std::span<const std::byte> data;  // the bytes in the archive
  bool stored = true;               // neither compressed nor encrypted
};

// Keyed by name. Names and data point into the archive.
using ZipEntries = std::map<std::string_view, ZipEntry>;

// Returns the entries of an archive; `bytes`: the whole file. Throws Error naming `thing` if there
// is no directory or several disks, for entries that are duplicate, outside the file or
// overlapping, and for a local header or data descriptor that contradicts the directory. Checksums
// (CRC-32) of the data are compared between the headers but not computed: torch.load does not
// compute them either, and torch.save may write none.
ZipEntries ReadZipDirectory(std::span<const std::byte> bytes, const std::string& thing);

}  // namespace midscope
