// SPDX-License-Identifier: MIT
#include "core/tuning/tuner_state.h"

#include <ATen/ATen.h>

#include <cstring>
#include <deque>
#include <string>

#include "core/base/error.h"
#include "core/base/memory_map.h"
#include "core/formats/safetensors.h"

namespace midscope {
namespace {

constexpr const char* kHistoryName = "history";           // [step, 5], as HistoryRows has it
constexpr const char* kMomentStepsName = "moment_steps";  // [tensor]
constexpr const char* kHeldOutName = "held_out_losses";
constexpr int64_t kHistoryColumns = 5;

at::Tensor HistoryRows(const std::vector<TuningStep>& history) {
  std::vector<double> rows;
  for (const TuningStep& step : history) {
    rows.insert(rows.end(), {step.loss, step.rate, step.gradient_norm,
                             static_cast<double>(step.tokens), step.seconds});
  }
  return at::tensor(rows, at::kDouble).reshape({-1, kHistoryColumns});
}

std::vector<TuningStep> HistoryOf(const at::Tensor& rows) {
  std::vector<TuningStep> history;
  const auto* value = rows.const_data_ptr<double>();
  for (int64_t i = 0; i < rows.size(0); ++i, value += kHistoryColumns)
    history.push_back({value[0], value[1], value[2], static_cast<int64_t>(value[3]), value[4]});
  return history;
}

// Copies a tensor out of the file.
at::Tensor Taken(const SafetensorsTensors& tensors, const std::string& name, at::ScalarType dtype,
                 const std::string& thing) {
  const auto found = tensors.find(name);
  const char* expected = dtype == at::kFloat ? "F32" : "F64";
  if (found == tensors.end() || found->second.dtype != expected) {
    throw Failure(thing, "it has no " + name + ", so it is not a checkpoint of this run",
                  "Start again in another folder");
  }
  at::Tensor values = at::empty(found->second.shape, dtype);
  std::memcpy(values.data_ptr(), found->second.data, static_cast<size_t>(found->second.bytes));
  return values;
}

}  // namespace

void SaveTunerState(const std::filesystem::path& path, const TunerStateFile& state) {
  SafetensorsTensors tensors;
  std::deque<at::Tensor> held;  // while `tensors` points to them
  const auto add = [&](const std::string& name, const at::Tensor& tensor, const char* dtype) {
    const at::Tensor& kept = held.emplace_back(tensor.detach().to(at::kCPU).contiguous());
    tensors[name] = {dtype, kept.sizes().vec(),
                     static_cast<const std::byte*>(kept.const_data_ptr()),
                     static_cast<int64_t>(kept.nbytes())};
  };
  std::vector<double> moment_steps;
  size_t next = 0;
  for (const auto& [name, tensor] : state.values) {
    const ParameterMoments& moment = state.moments[next++];
    add("value." + name, tensor, "F32");
    moment_steps.push_back(static_cast<double>(moment.steps));
    if (!moment.mean.defined()) continue;
    add("mean." + name, moment.mean, "F32");
    add("square." + name, moment.square, "F32");
  }
  add(kMomentStepsName, at::tensor(moment_steps, at::kDouble), "F64");
  add(kHistoryName, HistoryRows(state.history), "F64");
  add(kHeldOutName, at::tensor(state.held_out_losses, at::kDouble), "F64");
  WriteSafetensors(path, tensors);
}

TunerStateFile LoadTunerState(const std::filesystem::path& path, const NamedTensors& expected) {
  const MemoryMap file(path);
  const std::string thing = path.string();
  const SafetensorsTensors tensors = ParseSafetensorsHeader(file.bytes(), thing);
  const auto take = [&](const std::string& name, at::IntArrayRef shape) {
    at::Tensor values = Taken(tensors, name, at::kFloat, thing);
    if (values.sizes() != shape) throw Failure(thing, "the shape of " + name + " is another one");
    return values;
  };
  const at::Tensor moment_steps = Taken(tensors, kMomentStepsName, at::kDouble, thing);
  const at::Tensor rows = Taken(tensors, kHistoryName, at::kDouble, thing);
  if (moment_steps.numel() != std::ssize(expected) || rows.dim() != 2 ||
      rows.size(1) != kHistoryColumns) {
    throw Failure(thing, "it is not a checkpoint of this run", "Start again in another folder");
  }
  TunerStateFile state;
  state.history = HistoryOf(rows);
  const at::Tensor held_out = Taken(tensors, kHeldOutName, at::kDouble, thing);
  state.held_out_losses.assign(held_out.const_data_ptr<double>(),
                               held_out.const_data_ptr<double>() + held_out.numel());
  for (const auto& [name, tensor] : expected) {
    state.values[name] = take("value." + name, tensor.sizes());
    ParameterMoments& moment = state.moments.emplace_back();
    if (!tensors.contains("mean." + name)) continue;
    moment.mean = take("mean." + name, tensor.sizes());
    moment.square = take("square." + name, tensor.sizes());
    moment.steps =
        static_cast<int64_t>(moment_steps.const_data_ptr<double>()[state.moments.size() - 1]);
  }
  return state;
}

}  // namespace midscope
