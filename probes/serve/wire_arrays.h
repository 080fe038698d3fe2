// SPDX-License-Identifier: MIT
// Arrays and records in the engine protocol. An array is {name, dtype, shape, dims, unit,
// description} with `data`: the elements in row-major order, little-endian, as a binary, or a list
// of texts for dtype "str". Arrays that do not fit in a frame have `handle` and `bytes` instead of
// `data`; read_array returns their bytes in slices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/serve/message.h"

namespace midscope {

// Maximum number of bytes of arrays that one reply may contain in its frame.
inline constexpr size_t kInlineBytes = size_t{32} << 20;

// Arrays that a client has not fetched yet, by handle.
class HeldArrays {
 public:
  // Stores the elements, which must be numbers, and returns their handle.
  int64_t Hold(ArrayData elements);
  // Returns `count` bytes of the array `handle` from byte `begin` on, fewer at the end. Throws
  // Error (usage) for an unknown handle or a range outside the array.
  Message Read(int64_t handle, int64_t begin, int64_t count) const;
  void Release(int64_t handle) { arrays_.erase(handle); }

 private:
  std::map<int64_t, ArrayData> arrays_;
  int64_t last_ = 0;
};

// Converts the records of one reply to messages.
class WireWriter {
 public:
  explicit WireWriter(HeldArrays& held) : held_(held) {}

  // Converts records to a list of {name, axes: [{name, size, unit, labels, values}], arrays,
  // attributes, signal}.
  Message Write(const std::vector<Record>& records);
  // Converts records as the other Write() does, but moves the elements of large arrays out of them.
  Message Write(std::vector<Record>&& records);

 private:
  template <typename AnyRecord>  // Record or const Record
  Message WriteRecord(AnyRecord& record);
  template <typename AnyArray>  // Array or const Array
  Message WriteArray(const Record& record, AnyArray& array);

  HeldArrays& held_;
  size_t inline_bytes_ = 0;
};

// Reads an array of numbers from {dtype, shape, data} into float64. Throws Error (usage), which
// begins with `thing`, if a member is missing, the dtype is none of float32, float64, int32, int64
// and bool, or the number of bytes does not match.
struct WireNumbers {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
WireNumbers ReadNumbers(const Message& array, const std::string& thing);

}  // namespace midscope
