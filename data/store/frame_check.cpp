// SPDX-License-Identifier: MIT
#include "data/store/frame_check.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr size_t kMostAxes = 1024;
constexpr size_t kMostArrayAxes = 32;  // limit of HDF5
constexpr size_t kLongestName = 1024;

void Require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

size_t ElementBytesOf(const ArrayData& data) {
  return std::visit(
      [](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        return std::is_same_v<T, std::string> ? sizeof(char*) : sizeof(T);
      },
      data);
}

void CheckName(const std::string& kind, const std::string& name) {
  Require(IsStorableName(name), Quote(name) + " is not a valid name for " + kind);
}

void CheckAxis(const Axis& axis, int64_t most_bytes) {
  const std::string what = "axis " + Quote(axis.name);
  CheckName("an axis", axis.name);
  // A file has an 8-byte value per index of an axis, which limits the sizes of axes.
  Require(axis.size >= 0 && axis.size <= most_bytes / static_cast<int64_t>(sizeof(int64_t)),
          fmt::format("{} claims {} places", what, axis.size));
  const auto size = static_cast<size_t>(axis.size);
  Require(axis.labels.empty() || axis.labels.size() == size,
          fmt::format("{} has {} labels for {} places", what, axis.labels.size(), axis.size));
  Require(axis.values.empty() || axis.values.size() == size,
          fmt::format("{} has {} values for {} places", what, axis.values.size(), axis.size));
}

void CheckArray(const Record& frame, const Array& array, int64_t most_bytes) {
  const std::string what = "array " + Quote(array.name);
  CheckName("an array", array.name);
  Require(array.axes.size() <= kMostArrayAxes, what + " has too many axes");
  std::set<std::string> seen;
  const int64_t most = most_bytes / static_cast<int64_t>(ElementBytesOf(array.data));
  int64_t elements = 1;
  for (const std::string& name : array.axes) {
    const Axis* axis = frame.FindAxis(name);
    Require(axis != nullptr, what + " names an unknown axis, " + Quote(name));
    Require(seen.insert(name).second, what + " has axis " + Quote(name) + " twice");
    Require(axis->size == 0 || elements <= most / axis->size,
            what + " claims more elements than its file can hold");
    elements *= axis->size;
  }
}

}  // namespace

bool IsStorableName(const std::string& name) {
  const bool bad = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/';
  });
  return !bad && !name.empty() && name != "." && name != ".." && name.size() <= kLongestName;
}

void CheckGroupName(const std::string& group, const std::string& record) {
  constexpr std::string_view kBehind = "_record";
  CheckName("a record", record);
  std::string_view rest = group;
  Require(rest.starts_with(record), "group " + Quote(group) + " holds record " + Quote(record));
  rest.remove_prefix(record.size());
  while (rest.starts_with(kBehind)) rest.remove_prefix(kBehind.size());
  Require(rest.empty(), "group " + Quote(group) + " holds record " + Quote(record));
}

void CheckFrame(const Record& frame, int64_t most_bytes) {
  CheckName("a record", frame.name);
  Require(frame.axes.size() <= kMostAxes, "it has too many axes");
  std::set<std::string> names;
  for (const Axis& axis : frame.axes) {
    CheckAxis(axis, most_bytes);
    Require(names.insert(axis.name).second, "axis " + Quote(axis.name) + " occurs twice");
  }
  for (const Array& array : frame.arrays) {
    CheckArray(frame, array, most_bytes);
    Require(names.insert(array.name).second,
            "name " + Quote(array.name) + " occurs twice among axes and arrays");
  }
  Require(frame.signal.empty() || frame.FindArray(frame.signal),
          "its signal " + Quote(frame.signal) + " is not an array");
}

}  // namespace midscope
