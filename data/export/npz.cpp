// SPDX-License-Identifier: MIT
#include "data/export/npz.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/utf8.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {
namespace {

// NPZ files are written with the machine's byte order; the headers say little-endian.
static_assert(std::endian::native == std::endian::little);

constexpr uint16_t kZipVersion = 20;
constexpr size_t kMemberBytes = 30;  // bytes of a ZIP member's header before the member's name
constexpr uint16_t kUtf8Names = 1 << 11;
// Date of all ZIP members, so that equal records give equal files: 1980-01-01, the first in ZIP.
constexpr uint16_t kNoDate = (1 << 5) | 1;

void Add16(std::string& bytes, uint16_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void Add32(std::string& bytes, uint32_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Returns the code points of `text`, which must be valid UTF-8.
std::u32string CodePoints(const std::string& text) {
  std::u32string points;
  for (size_t offset = 0; offset < text.size();) {
    const Character character = CharacterAt(text, offset);
    points += character.code;
    offset += character.length;
  }
  return points;
}

// Returns the texts as the bytes of a numpy array of type U: UTF-32, zero-padded to equal width.
std::string TextRows(const std::vector<std::string>& texts, size_t& width) {
  std::vector<std::u32string> rows;
  rows.reserve(texts.size());
  width = 1;
  for (const std::string& text : texts) {
    rows.push_back(CodePoints(FindInvalidUtf8(text) ? DisplayText(text) : text));
    width = std::max(width, rows.back().size());
  }
  if (static_cast<double>(width) * static_cast<double>(rows.size()) * 4 > kLargestNpz) return "";
  std::string bytes(rows.size() * width * sizeof(char32_t), '\0');
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(bytes.data() + i * width * sizeof(char32_t), rows[i].data(),
                rows[i].size() * sizeof(char32_t));
  }
  return bytes;
}

template <typename T>
const char* NumpyType() {
  if constexpr (std::is_same_v<T, float>) return "<f4";
  if constexpr (std::is_same_v<T, double>) return "<f8";
  if constexpr (std::is_same_v<T, int64_t>) return "<i8";
  if constexpr (std::is_same_v<T, uint8_t>) return "|b1";
}

// Returns the header of a .npy file, version 1.0, padded to a multiple of 64 bytes.
std::string NpyHeader(const std::string& type, const std::vector<int64_t>& shape) {
  std::string sizes;
  for (const int64_t size : shape) sizes.append(std::to_string(size)).append(",");
  std::string text =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  constexpr size_t kPreamble = 10;
  constexpr size_t kAlignment = 64;
  text.append(kAlignment - (kPreamble + text.size() + 1) % kAlignment, ' ').append("\n");
  std::string header = "\x93NUMPY";
  header.append({'\1', '\0'});
  Add16(header, static_cast<uint16_t>(text.size()));
  return header + text;
}

class ZipWriter {
 public:
  ZipWriter(std::ostream& out, int64_t largest) : out_(out), largest_(largest) {}

  int64_t largest() const { return largest_; }

  // Adds to the ZIP file a member that consists of a .npy header and the array data.
  void Add(const std::string& name, const std::string& header, const void* data, size_t size) {
    const auto total = static_cast<uint32_t>(header.size() + size);
    uLong checksum =
        crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
    // Skips empty data: for a null pointer, crc32 would restart the checksum.
    if (size > 0) {
      checksum = crc32(checksum, static_cast<const Bytef*>(data), static_cast<uInt>(size));
    }
    // Checks the size limit before any byte of the member is written.
    const auto end =
        offset_ + static_cast<int64_t>(kMemberBytes + name.size() + header.size() + size);
    if (end > largest_) {
      throw Failure("NPZ", "the file would exceed 4 GiB, the limit of its ZIP format",
                    "Export less: an address of one array, or --slice");
    }
    std::string fields;
    Add16(fields, kZipVersion);
    Add16(fields, kUtf8Names);
    Add16(fields, 0);  // not compressed
    Add16(fields, 0);  // time
    Add16(fields, kNoDate);
    Add32(fields, static_cast<uint32_t>(checksum));
    Add32(fields, total);
    Add32(fields, total);
    Add16(fields, static_cast<uint16_t>(name.size()));
    Add16(fields, 0);  // no extra field
    directory_ += std::string("PK\1\2", 4);
    Add16(directory_, kZipVersion);
    directory_ += fields;
    Add16(directory_, 0);  // no comment
    Add16(directory_, 0);  // disk
    Add16(directory_, 0);  // no attributes
    Add32(directory_, 0);
    Add32(directory_, static_cast<uint32_t>(offset_));
    directory_ += name;
    ++members_;
    Put(std::string("PK\3\4", 4) + fields + name + header);
    out_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    offset_ += static_cast<int64_t>(size);
  }

  void Finish() {
    std::string end("PK\5\6", 4);
    Add32(end, 0);  // disks
    Add16(end, members_);
    Add16(end, members_);
    Add32(end, static_cast<uint32_t>(directory_.size()));
    Add32(end, static_cast<uint32_t>(offset_));
    Add16(end, 0);  // no comment
    Put(directory_ + end);
  }

 private:
  void Put(const std::string& bytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    offset_ += static_cast<int64_t>(bytes.size());
  }

  std::ostream& out_;
  int64_t largest_;
  int64_t offset_ = 0;
  uint16_t members_ = 0;
  std::string directory_;
};

void AddArray(ZipWriter& zip, const std::string& name, const std::vector<int64_t>& shape,
              const ArrayData& data) {
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          size_t width = 1;
          const std::string bytes = TextRows(values, width);
          if (bytes.empty() && !values.empty()) {
            throw Failure("array '" + name + "'", "it takes more than 4 GiB as NPZ",
                          "Export a part with --slice");
          }
          zip.Add(name + ".npy", NpyHeader(fmt::format("<U{}", width), shape), bytes.data(),
                  bytes.size());
        } else {
          const size_t bytes = values.size() * sizeof(T);
          if (bytes > static_cast<size_t>(zip.largest())) {
            throw Failure("array '" + name + "'", "it takes more than 4 GiB as NPZ",
                          "Export a part with --slice");
          }
          zip.Add(name + ".npy", NpyHeader(NumpyType<T>(), shape), values.data(), bytes);
        }
      },
      data);
}

}  // namespace

void WriteNpz(const Record& record, std::ostream& out, int64_t largest) {
  record.Check();
  ZipWriter zip(out, largest);
  for (const Array& array : record.arrays) {
    std::vector<int64_t> shape;
    for (const std::string& axis : array.axes) shape.push_back(record.FindAxis(axis)->size);
    AddArray(zip, array.name, shape, array.data);
  }
  for (const Axis& axis : record.axes) {
    AddArray(zip, axis.name, {axis.size}, AxisValues(axis));
    const std::string labels = axis.name + "_label";
    if (!axis.labels.empty() && !record.FindArray(labels) && !record.FindAxis(labels)) {
      AddArray(zip, labels, {axis.size}, axis.labels);
    }
  }
  zip.Finish();
}

}  // namespace midscope
