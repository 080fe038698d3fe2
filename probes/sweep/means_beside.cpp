// SPDX-License-Identifier: MIT
#include "probes/sweep/means_beside.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace midscope {
namespace {

// Appends row `row` of `from`, whose arrays have the axis `setting` in front, to `to`.
void AppendSetting(const Record& from, size_t row, Record& to) {
  for (Array& array : to.arrays) {
    const Array* source = from.FindArray(array.name);
    const bool by_setting = !array.axes.empty() && array.axes.front() == "setting";
    if (!source || !by_setting || source->data.index() != array.data.index()) continue;
    std::visit(
        [&](auto& values) {
          const auto& more = std::get<std::decay_t<decltype(values)>>(source->data);
          const size_t width = more.size() / static_cast<size_t>(from.FindAxis("setting")->size);
          const auto first = more.begin() + static_cast<std::ptrdiff_t>(row * width);
          values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(width));
        },
        array.data);
  }
  for (Axis& axis : to.axes) {
    if (axis.name != "setting") continue;
    ++axis.size;
    axis.labels.push_back(from.FindAxis("setting")->labels.at(row));
  }
}

}  // namespace

SweepResult FirstSamples(SweepResult result, int64_t samples) {
  std::erase_if(result.outcomes, [&](const auto& outcome) { return outcome.sample >= samples; });
  std::erase_if(result.failures, [&](const auto& failure) { return failure.first >= samples; });
  return result;
}

void AddMeansBeside(const std::map<std::string, Comparison>& comparisons,
                    const std::vector<Intervention>& beside, int64_t samples,
                    const std::vector<int64_t>& places, Record& means) {
  for (const Intervention& setting : beside) {
    for (const auto& [key, comparison] : comparisons) {
      if (comparison.plan.places != places) continue;
      const auto& settings = comparison.plan.settings;
      const auto found = std::find_if(
          settings.begin(), settings.end(),
          [&setting](const SweepSetting& known) { return known.intervention == setting; });
      if (found == settings.end() || comparison.result.done() < samples) continue;
      const SweepResult same = FirstSamples(comparison.result, samples);
      if (same.outcomes.empty()) continue;
      AppendSetting(MeansRecord(comparison.plan, same),
                    static_cast<size_t>(found - settings.begin()), means);
      break;
    }
  }
}

}  // namespace midscope
