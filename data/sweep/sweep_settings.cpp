// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_settings.h"

#include <algorithm>

#include "core/base/error.h"
#include "data/store/sample_rows.h"

namespace midscope {
namespace {

// Returns, for each of `blocks` equal blocks, the block of `values` and then that of `more`.
template <typename T>
std::vector<T> JoinValues(const std::vector<T>& values, const std::vector<T>& more, size_t blocks) {
  const size_t left = values.size() / blocks;
  const size_t right = more.size() / blocks;
  std::vector<T> joined;
  joined.reserve(values.size() + more.size());
  for (size_t block = 0; block < blocks; ++block) {
    const auto from = static_cast<std::ptrdiff_t>(block * left);
    const auto from_more = static_cast<std::ptrdiff_t>(block * right);
    joined.insert(joined.end(), values.begin() + from,
                  values.begin() + from + static_cast<std::ptrdiff_t>(left));
    joined.insert(joined.end(), more.begin() + from_more,
                  more.begin() + from_more + static_cast<std::ptrdiff_t>(right));
  }
  return joined;
}

// Returns the product of the sizes of the array's axes before the setting axis; at least 1.
size_t OuterPlaces(const Record& record, const Array& array) {
  size_t places = 1;
  for (const std::string& name : array.axes) {
    if (name == kSettingAxis) break;
    places *= static_cast<size_t>(record.FindAxis(name)->size);
  }
  return std::max<size_t>(places, 1);
}

void JoinArray(const Record& sample, Array& array, const Array& more, const std::string& what) {
  if (array.data.index() != more.data.index() || array.axes != more.axes) {
    throw Failure(what, "array '" + array.name + "' is of another kind in another input");
  }
  const size_t blocks = OuterPlaces(sample, array);
  std::visit(
      [&](auto& values) {
        const auto& others = std::get<std::decay_t<decltype(values)>>(more.data);
        values = JoinValues(values, others, blocks);
      },
      array.data);
}

// Whether two arrays that describe the prompt are equal. Compares only integers; returns true for
// other types.
bool SameValues(const Array& a, const Array& b) {
  const bool counted = std::holds_alternative<std::vector<int64_t>>(a.data);
  return !counted || a.data == b.data;
}

// Whether this is an array [setting] that a sweep's record omits if all elements have the default
// (false or ""): setting_failure or beyond_context.
bool MayBeLeftOut(const Array& array) {
  return (array.name == "setting_failure" || array.name == "beyond_context") &&
         array.axes == std::vector<std::string>{kSettingAxis};
}

// Returns the array `like` with defaults (false or "") for all settings of `record`, which omits
// it; without data if `like` has none.
Array LeftOut(const Array& like, const Record& record) {
  Array array = like;
  const auto settings = static_cast<size_t>(record.FindAxis(kSettingAxis)->size);
  std::visit(
      [&](auto& values) {
        const size_t size = values.empty() ? 0 : settings;
        values.clear();
        values.resize(size);
      },
      array.data);
  return array;
}

}  // namespace

bool IsOverSettings(const Array& array) { return HasAxis(array, kSettingAxis); }

void JoinSettings(Record& sample, const Record& more, const std::string& what) {
  for (const Array& array : more.arrays) {
    if (MayBeLeftOut(array) && !sample.FindArray(array.name)) {
      sample.arrays.push_back(LeftOut(array, sample));
    }
  }
  for (Array& array : sample.arrays) {
    const Array* other = more.FindArray(array.name);
    if (IsOverSettings(array)) {
      if (!other && !MayBeLeftOut(array)) {
        throw Failure(what, "an input lacks its array '" + array.name + "'");
      }
      JoinArray(sample, array, other ? *other : LeftOut(array, more), what);
    } else if (other && !SameValues(array, *other)) {
      throw Failure(what, "array '" + array.name + "' differs between the inputs",
                    "They are not runs of the same prompts");
    }
  }
  for (Axis& axis : sample.axes) {
    const Axis* other = more.FindAxis(axis.name);
    if (axis.name != kSettingAxis || !other) continue;
    axis.size += other->size;
    axis.labels.insert(axis.labels.end(), other->labels.begin(), other->labels.end());
  }
}

}  // namespace midscope
