// SPDX-License-Identifier: MIT
#include "core/trace.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/model_config.h"
#include "core/query_key_finish.h"
#include "core/trace_storage.h"
#include "core/weights.h"

namespace midscope {
namespace {

int64_t Bytes(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    // Layers that use one tensor in turn share it.
    const bool counted =
        std::any_of(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const at::Tensor& other) { return other.is_same(tensors[i]); });
    if (!counted) bytes += static_cast<int64_t>(tensors[i].nbytes());
  }
  return bytes;
}

bool KeepsScale(const ModelConfig& config) { return config.input_norms; }
bool KeepsMean(const ModelConfig& config) {
  return config.input_norms && config.norm == NormKind::kLayer;
}

}  // namespace

Trace::Trace(std::unique_ptr<Storage> storage, int64_t capacity, bool residual)
    : storage_(std::move(storage)), capacity_(capacity), residual_(residual) {}

Trace::~Trace() = default;

int64_t Trace::bytes() const {
  int64_t sums = 0;
  for (const auto& [head, tensor] : storage_->head_sums)
    sums += static_cast<int64_t>(tensor.nbytes());
  for (const auto& [layer, memory] : storage_->memories) {
    if (memory.rows > 0)
      sums += static_cast<int64_t>(memory.matrix.nbytes() + memory.key_sums.nbytes());
  }
  return sums + Bytes(storage_->keys) + Bytes(storage_->values) + Bytes(storage_->residual) +
         Bytes(storage_->norm_scale) + Bytes(storage_->norm_mean) + Bytes(storage_->projected_keys);
}

void Trace::Truncate(int64_t rows) {
  rows_ = std::clamp<int64_t>(rows, 0, rows_);
  if (rows_ == 0) {
    plans_.clear();
    prompt_tokens_ = 0;
  }
}

void Trace::Set(int64_t rows, int64_t prompt_tokens, std::vector<AttentionPlan> plans) {
  rows_ = rows;
  prompt_tokens_ = prompt_tokens;
  plans_ = std::move(plans);
}

std::vector<float> Trace::Channel(int64_t layer, int64_t channel) const {
  if (!residual_) throw std::logic_error("Trace::Channel: the trace keeps no residual rows");
  const at::Tensor column = storage_->residual[static_cast<size_t>(layer)]
                                .narrow(0, 0, rows_)
                                .select(1, channel)
                                .to(at::kFloat)
                                .cpu()
                                .contiguous();
  const float* data = column.data_ptr<float>();
  return {data, data + rows_};
}

int64_t TraceBytesPerRow(const ModelConfig& config, kernels::Dtype dtype, bool residual,
                         int64_t devices) {
  const int64_t element = kernels::SizeOf(dtype);
  const int64_t key_bytes = config.key_value_heads * config.head_dim * element;
  int64_t bytes = 2 * config.layers * key_bytes;
  if (FinishesQueryKey(config)) bytes += (residual ? config.layers : devices) * key_bytes;
  if (!residual) return bytes;
  const int64_t floats = (KeepsScale(config) ? 1 : 0) + (KeepsMean(config) ? 1 : 0);
  return bytes + (config.layers + 1) * config.hidden * element +
         floats * config.layers * static_cast<int64_t>(sizeof(float));
}

std::unique_ptr<Trace> AllocateTrace(const ModelConfig& config, kernels::Dtype dtype,
                                     int64_t capacity, bool residual, bool keep,
                                     const std::vector<at::Device>& devices) {
  auto storage = std::make_unique<Trace::Storage>();
  storage->dtype = dtype;
  const auto options = at::TensorOptions().dtype(TorchType(dtype));
  const int64_t width = config.key_value_heads * config.head_dim;
  // One [capacity, width] a layer, or one a device for its layers to use in turn.
  const auto add = [&](std::vector<at::Tensor>& tensors, bool one_a_layer) {
    for (size_t layer = 0; layer < static_cast<size_t>(config.layers); ++layer) {
      const auto shared =
          std::find_if(tensors.begin(), tensors.end(),
                       [&](const at::Tensor& other) { return other.device() == devices[layer]; });
      tensors.push_back(!one_a_layer && shared != tensors.end()
                            ? *shared
                            : at::empty({capacity, width}, options.device(devices[layer])));
    }
  };
  add(storage->keys, keep);
  add(storage->values, keep);
  if (FinishesQueryKey(config)) add(storage->projected_keys, keep && residual);
  if (residual) {
    for (const at::Device& device : devices)
      storage->residual.push_back(at::empty({capacity, config.hidden}, options.device(device)));
  }
  const auto add_floats = [&](std::vector<at::Tensor>& tensors) {
    for (size_t layer = 0; layer < static_cast<size_t>(config.layers); ++layer)
      tensors.push_back(at::empty({capacity}, options.dtype(at::kFloat).device(devices[layer])));
  };
  if (residual && KeepsScale(config)) add_floats(storage->norm_scale);
  if (residual && KeepsMean(config)) add_floats(storage->norm_mean);
  return std::make_unique<Trace>(std::move(storage), capacity, residual);
}

}  // namespace midscope
