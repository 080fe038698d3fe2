// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Base class of tasks that are made from a spec. Subclasses have the constructor (spec, inputs).
class SpecTask : public Task {
 public:
  std::string name() const override { return name_; }
  int64_t pieces() const override { return 1; }
  TaskSample Make(int64_t sample, int64_t place) const final {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    return MakeChecked(sample, place);
  }

 protected:
  // For subclasses that set name_ themselves, or have none.
  SpecTask() = default;
  explicit SpecTask(const TaskSpec& spec) : name_(TaskSpecText(spec)) {}
  // As Make, which has checked sample and place.
  virtual TaskSample MakeChecked(int64_t sample, int64_t place) const = 0;

  std::string name_;
};

// For TaskType::make.
template <typename T>
std::unique_ptr<Task> MakeSpecTask(const TaskSpec& spec, const TaskInputs& inputs) {
  return std::make_unique<T>(spec, inputs);
}

}  // namespace midscope
