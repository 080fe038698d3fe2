// SPDX-License-Identifier: MIT
// The entries of a zip archive as torch.save writes it: stored without compression, with ZIP64
// fields where sizes need them (format: PKWARE's APPNOTE.TXT). A reader of its own, because a
// library for zip archives inflates and copies; these entries are read where they are mapped.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace midscope {

struct ZipEntry {
  std::span<const std::byte> data;  // as it is in the archive
  bool stored = true;               // neither compressed nor encrypted
};

// By name. Names and data point into the archive.
using ZipEntries = std::map<std::string_view, ZipEntry>;

// `bytes`: the whole file. Throws Error naming `thing`: no directory, several disks, entries that
// are duplicate, outside the file or overlapping, a local header or data descriptor that
// contradicts the directory. Checksums (CRC-32) of the data are compared between
// the headers, not computed: torch.load does not compute them either, and may write none.
ZipEntries ReadZipDirectory(std::span<const std::byte> bytes, const std::string& thing);

}  // namespace midscope
