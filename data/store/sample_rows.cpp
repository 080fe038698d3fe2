// SPDX-License-Identifier: MIT
#include "data/store/sample_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "data/store/record_group.h"

namespace midscope {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string CountName(const std::string& axis) { return axis + kCountSuffix; }

Axis* FindMutableAxis(Record& record, const std::string& name) {
  for (Axis& axis : record.axes) {
    if (axis.name == name) return &axis;
  }
  return nullptr;
}

ArrayData EmptyOfSameKind(const ArrayData& data) {
  return std::visit(
      [](const auto& values) -> ArrayData { return std::decay_t<decltype(values)>{}; }, data);
}

// Returns the names of the axes that are padded in a stacked record.
std::vector<std::string> RaggedAxesOf(const Record& stacked) {
  std::vector<std::string> ragged;
  for (const Axis& axis : stacked.axes) {
    const Array* count = stacked.FindArray(CountName(axis.name));
    if (count && count->axes == std::vector<std::string>{kSampleAxis}) ragged.push_back(axis.name);
  }
  return ragged;
}

std::string FirstDifference(const Axis& a, const Axis& b) {
  if (a.name != b.name) return "axis '" + a.name + "' in place of '" + b.name + "'";
  if (a.size != b.size) {
    return fmt::format("axis '{}' of size {} instead of {}", a.name, a.size, b.size);
  }
  if (a.unit != b.unit || a.labels != b.labels || a.values != b.values) {
    return "axis '" + a.name + "' with other labels, values or unit";
  }
  return "";
}

std::string FirstDifference(const Array& a, const Array& b) {
  if (a.name != b.name) return "array '" + a.name + "' in place of '" + b.name + "'";
  if (a.axes != b.axes) return "array '" + a.name + "' over other axes";
  if (a.data.index() != b.data.index()) return "array '" + a.name + "' of another type";
  if (a.unit != b.unit || a.description != b.description) {
    return "array '" + a.name + "' with another unit or description";
  }
  return "";
}

template <typename T>
std::string FirstDifference(const std::vector<T>& a, const std::vector<T>& b, const char* what) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    std::string difference = FirstDifference(a[i], b[i]);
    if (!difference.empty()) return difference;
  }
  if (a.size() == b.size()) return "";
  return fmt::format("{} {} instead of {}", a.size(), what, b.size());
}

}  // namespace

std::optional<int64_t> SampleNumber(const Axis& samples, int64_t row) {
  constexpr double kExactWhole = 9007199254740992;  // 2^53
  if (samples.values.empty()) return row;
  const double value = samples.values.at(static_cast<size_t>(row));
  if (!(value >= 0 && value < kExactWhole) || value != std::floor(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

Record FlattenSample(Record sample, const std::vector<std::string>& ragged_axes) {
  if (sample.FindAxis(kSampleAxis)) {
    throw Failure("sample", "has an axis '" + std::string(kSampleAxis) + "' already",
                  "Name its axes otherwise");
  }
  for (const std::string& name : ragged_axes) {
    Axis* axis = FindMutableAxis(sample, name);
    if (!axis) continue;
    if (!axis->values.empty()) {
      throw Failure("sample", "ragged axis '" + name + "' has values, which cannot be stacked",
                    "Store them as an array over it");
    }
    if (axis->labels.empty()) continue;
    sample.arrays.push_back(
        {name + kLabelSuffix, {name}, std::move(axis->labels), "", "labels of axis " + name});
    axis->labels.clear();
  }
  return sample;
}

Record SampleFrame(Record flattened, const std::vector<std::string>& ragged_axes) {
  for (Axis& axis : flattened.axes) {
    if (Contains(ragged_axes, axis.name)) axis.size = 0;
  }
  for (Array& array : flattened.arrays) array.data = EmptyOfSameKind(array.data);
  return flattened;
}

void CheckSameFrame(const std::string& thing, const Record& frame, const Record& others) {
  std::string difference = FirstDifference(frame.axes, others.axes, "axes");
  if (difference.empty()) difference = FirstDifference(frame.arrays, others.arrays, "arrays");
  if (difference.empty() && frame.attributes != others.attributes) difference = "other attributes";
  if (!difference.empty()) {
    throw Failure(thing, "has " + difference + ", unlike the samples before it");
  }
}

std::map<std::string, int64_t> RaggedSizes(const Record& sample,
                                           const std::vector<std::string>& ragged_axes) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& name : ragged_axes) {
    if (const Axis* axis = sample.FindAxis(name)) sizes[name] = axis->size;
  }
  return sizes;
}

Record StackedFrame(const Record& sample_frame, const std::vector<int64_t>& samples,
                    const std::map<std::string, int64_t>& largest_sizes) {
  Record stacked = sample_frame;
  for (const auto& [name, size] : largest_sizes) FindMutableAxis(stacked, name)->size = size;
  for (Array& array : stacked.arrays) array.axes.insert(array.axes.begin(), kSampleAxis);
  Axis axis{kSampleAxis, static_cast<int64_t>(samples.size()), "", {}, {}};
  axis.values.assign(samples.begin(), samples.end());
  stacked.axes.insert(stacked.axes.begin(), std::move(axis));
  for (const auto& [name, size] : largest_sizes) {
    stacked.arrays.push_back({CountName(name),
                              {kSampleAxis},
                              std::vector<int64_t>{},
                              "",
                              "places of axis " + name + " that are not padding"});
  }
  return stacked;
}

Record ReadSampleRow(
    const Record& stacked,
    const std::function<Array(const Array& array, const std::vector<int64_t>& sizes)>& read,
    const std::function<bool(const std::string& array)>& wanted) {
  const std::vector<std::string> ragged = RaggedAxesOf(stacked);
  Record sample = stacked;
  sample.arrays.clear();
  std::erase_if(sample.axes, [](const Axis& axis) { return axis.name == kSampleAxis; });
  for (const std::string& name : ragged) {
    const Array count = read(*stacked.FindArray(CountName(name)), {});
    const auto* values = std::get_if<std::vector<int64_t>>(&count.data);
    Axis& axis = *FindMutableAxis(sample, name);
    if (!values || values->size() != 1 || values->front() < 0 || values->front() > axis.size) {
      throw Failure("sample", CountName(name) + " is not a size of axis '" + name + "'",
                    "The file is damaged");
    }
    axis.size = values->front();
  }
  for (const Array& array : stacked.arrays) {
    if (array.axes.empty() || array.axes.front() != kSampleAxis) continue;
    if (std::count(array.axes.begin(), array.axes.end(), kSampleAxis) > 1)
      throw Failure("sample", "array '" + array.name + "' has axis 'sample' twice",
                    "The file is damaged");
    const bool is_count = std::any_of(ragged.begin(), ragged.end(), [&](const std::string& name) {
      return array.name == CountName(name);
    });
    if (is_count || (wanted && !wanted(array.name))) continue;
    std::vector<int64_t> sizes;
    for (size_t i = 1; i < array.axes.size(); ++i) {
      sizes.push_back(sample.FindAxis(array.axes[i])->size);
    }
    Array row = read(array, sizes);
    Axis* labelled = nullptr;
    if (row.axes.size() == 1 && Contains(ragged, row.axes[0]) &&
        row.name == row.axes[0] + kLabelSuffix) {
      labelled = FindMutableAxis(sample, row.axes[0]);
    }
    auto* texts = std::get_if<std::vector<std::string>>(&row.data);
    if (labelled && texts) {
      labelled->labels = std::move(*texts);
    } else {
      sample.arrays.push_back(std::move(row));
    }
  }
  if (!sample.FindArray(sample.signal)) sample.signal.clear();
  return sample;
}

}  // namespace midscope
