// SPDX-License-Identifier: MIT
#include "probes/sweep/repeated_places.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "probes/base/records.h"
#include "probes/sweep/place_arrays.h"

namespace midscope {
namespace {

constexpr const char* kPlaceAxis = "place";

// Returns for each place the index among those that are run.
std::vector<size_t> RunIndices(const std::vector<size_t>& first) {
  std::vector<size_t> indices(first.size());
  size_t run = 0;
  for (size_t i = 0; i < first.size(); ++i) indices[i] = first[i] == i ? run++ : indices[first[i]];
  return indices;
}

}  // namespace

std::vector<size_t> FirstEqualPlaces(const std::vector<TaskQuestion>& questions) {
  std::vector<size_t> first(questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const TaskQuestion& question = questions[i];
    const auto equal = [&](const TaskQuestion& earlier) {
      return question.sample.gold_rank > 0 &&
             earlier.sample.gold_rank == question.sample.gold_rank &&
             earlier.prompt.ids == question.prompt.ids;
    };
    const auto end = questions.begin() + static_cast<std::ptrdiff_t>(i);
    first[i] = static_cast<size_t>(std::find_if(questions.begin(), end, equal) - questions.begin());
  }
  return first;
}

bool HasRepeatedPlaces(const std::vector<size_t>& first) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] != i) return true;
  }
  return false;
}

SampleRequest WithoutRepeatedPlaces(const SampleRequest& request,
                                    const std::vector<size_t>& first) {
  SampleRequest reduced = request;
  reduced.questions.clear();
  reduced.places.clear();
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] != i) continue;
    reduced.questions.push_back(request.questions[i]);
    reduced.places.push_back(request.places[i]);
  }
  if (!request.on_answer_nll) return reduced;
  reduced.on_answer_nll = [report = request.on_answer_nll, indices = RunIndices(first)](
                              size_t setting, size_t place, double answer_nll) {
    for (size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] == place) report(setting, i, answer_nll);
    }
  };
  return reduced;
}

Record WithRepeatedPlaces(Record record, const std::vector<int64_t>& places,
                          const std::vector<size_t>& first) {
  const std::vector<size_t> indices = RunIndices(first);
  for (Array& array : record.arrays) {
    const auto at = std::find(array.axes.begin(), array.axes.end(), kPlaceAxis);
    if (at == array.axes.end()) continue;
    size_t width = 1;
    for (auto inner = at + 1; inner != array.axes.end(); ++inner) {
      width *= static_cast<size_t>(record.FindAxis(*inner)->size);
    }
    const auto size = static_cast<size_t>(record.FindAxis(kPlaceAxis)->size);
    std::visit([&](auto& values) { values = TakeAlongAxis(values, size, width, indices); },
               array.data);
  }
  for (Axis& axis : record.axes) {
    if (axis.name != kPlaceAxis) continue;
    const std::string unit = axis.unit;
    axis = ValuedAxis(kPlaceAxis, places);
    axis.unit = unit;
  }
  return record;
}

}  // namespace midscope
