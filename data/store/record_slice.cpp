// SPDX-License-Identifier: MIT
#include "data/store/record_slice.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/text.h"

namespace midscope {
namespace {

struct ValueRange {
  double first = 0;
  double last = 0;
};

// Parses a value or an inclusive range: "8", "8-25", "-3", "-3--1" (-3 to -1); nullopt otherwise.
std::optional<ValueRange> ReadRange(std::string_view text) {
  double one = 0;
  if (ReadWhole(text, one)) return ValueRange{one, one};
  for (size_t dash = 1; dash < text.size(); ++dash) {
    if (text[dash] != '-') continue;
    ValueRange range;
    if (ReadWhole(text.substr(0, dash), range.first) &&
        ReadWhole(text.substr(dash + 1), range.last))
      return range;
  }
  return std::nullopt;
}

double ValueAt(const Axis& axis, int64_t place) {
  return axis.values.empty() ? static_cast<double>(place) : axis.values[static_cast<size_t>(place)];
}

// Returns the index of the setting that the user gave to the sweep as `text`, which must not be
// empty (attributes setting_N_as_given); nullopt if there is none.
std::optional<int64_t> FindSetting(const Record& record, const Axis& axis, std::string_view text) {
  if (axis.name != "setting" || axis.labels.empty()) return std::nullopt;
  for (int64_t i = 0; i < axis.size; ++i) {
    if (AttributeText(record, fmt::format("setting_{}_as_given", i)) == text) return i;
  }
  return std::nullopt;
}

std::string WhatThereIs(const Axis& axis) {
  if (axis.size == 0) return "The axis is empty";
  if (!axis.labels.empty()) {
    constexpr size_t kShown = 12;
    std::string text = "It has";
    for (size_t i = 0; i < std::min(kShown, axis.labels.size()); ++i) {
      text.append(i == 0 ? " '" : ", '").append(axis.labels[i]).append("'");
    }
    return text + (axis.labels.size() > kShown ? ", ..." : "");
  }
  constexpr int64_t kListed = 24;
  const bool apart =
      ValueAt(axis, axis.size - 1) - ValueAt(axis, 0) != static_cast<double>(axis.size - 1);
  if (apart) {
    std::string text = "It has";
    for (int64_t place = 0; place < std::min(kListed, axis.size); ++place) {
      text += (place == 0 ? " " : ", ") + NumberText(ValueAt(axis, place));
    }
    return text + (axis.size > kListed ? ", ..., " + NumberText(ValueAt(axis, axis.size - 1)) : "");
  }
  return "It goes from " + NumberText(ValueAt(axis, 0)) + " to " +
         NumberText(ValueAt(axis, axis.size - 1));
}

const Axis& FindAxisOrThrow(const Record& record, const std::string& name) {
  if (const Axis* axis = record.FindAxis(name)) return *axis;
  std::vector<std::string> known = NamesIn(record.axes);
  throw UsageError("slice of axis '" + name + "'", "record '" + record.name + "' has no such axis",
                   KnownWordsHint(name, known));
}

}  // namespace

std::string SlicedAxisName(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError("slice '" + std::string(text) + "'", "it is not AXIS=PLACES",
                     "Write it as layer=8, layer=8-25 or setting=none");
  }
  return std::string(text.substr(0, equals));
}

AxisSlice ReadAxisSlice(const Record& record, std::string_view text) {
  const std::string name = SlicedAxisName(text);
  const Axis& axis = FindAxisOrThrow(record, name);
  const std::string_view wanted = text.substr(name.size() + 1);
  const auto label = std::find(axis.labels.begin(), axis.labels.end(), wanted);
  if (label != axis.labels.end()) {
    const int64_t place = label - axis.labels.begin();
    return {name, place, place + 1};
  }
  if (const std::optional<int64_t> place = FindSetting(record, axis, wanted)) {
    return {name, *place, *place + 1};
  }
  const std::optional<ValueRange> range = ReadRange(wanted);
  AxisSlice slice{name, -1, -1};
  int64_t found = 0;
  for (int64_t place = 0; range && place < axis.size; ++place) {
    if (ValueAt(axis, place) < range->first || ValueAt(axis, place) > range->last) continue;
    if (slice.begin < 0) slice.begin = place;
    slice.end = place + 1;
    ++found;
  }
  if (found == 0) {
    throw UsageError("slice '" + std::string(text) + "'",
                     "axis '" + name + "' of record '" + record.name + "' has no such place",
                     WhatThereIs(axis));
  }
  if (found != slice.end - slice.begin) {
    throw UsageError("slice '" + std::string(text) + "'",
                     "the places of axis '" + name + "' in that range are not adjacent",
                     "Ask for one at a time");
  }
  return slice;
}

Axis SlicedAxis(const Axis& axis, const std::vector<AxisSlice>& slices) {
  Axis cut = axis;
  for (const AxisSlice& slice : slices) {
    if (slice.axis != axis.name) continue;
    const auto cut_list = [&](auto& list) {
      if (!list.empty()) list = {list.begin() + slice.begin, list.begin() + slice.end};
    };
    cut.size = slice.end - slice.begin;
    cut_list(cut.labels);
    cut_list(cut.values);
    for (int64_t place = slice.begin; axis.values.empty() && place < slice.end; ++place) {
      cut.values.push_back(static_cast<double>(place));
    }
  }
  return cut;
}

}  // namespace midscope
