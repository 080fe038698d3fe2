// SPDX-License-Identifier: MIT
#include "core/trace.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/model_config.h"
#include "core/trace_storage.h"
#include "core/weights.h"

namespace midscope {
namespace {

int64_t Bytes(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace

Trace::Trace(std::unique_ptr<Storage> storage, int64_t capacity, bool residual)
    : storage_(std::move(storage)), capacity_(capacity), residual_(residual) {}

Trace::~Trace() = default;

int64_t Trace::bytes() const {
  return Bytes(storage_->keys) + Bytes(storage_->values) + Bytes(storage_->residual) +
         Bytes(storage_->inverse_rms);
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
                                .contiguous();
  const float* data = column.data_ptr<float>();
  return {data, data + rows_};
}

std::unique_ptr<Trace> AllocateTrace(const ModelConfig& config, kernels::Dtype dtype,
                                     int64_t capacity, bool residual, int64_t layers_kept) {
  auto storage = std::make_unique<Trace::Storage>();
  storage->dtype = dtype;
  const auto options = at::TensorOptions().dtype(TorchType(dtype));
  const int64_t width = config.key_value_heads * config.head_dim;
  for (int64_t layer = 0; layer < layers_kept; ++layer) {
    storage->keys.push_back(at::empty({capacity, width}, options));
    storage->values.push_back(at::empty({capacity, width}, options));
  }
  if (residual) {
    for (int64_t layer = 0; layer <= config.layers; ++layer) {
      storage->residual.push_back(at::empty({capacity, config.hidden}, options));
    }
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      storage->inverse_rms.push_back(at::empty({capacity}, at::TensorOptions().dtype(at::kFloat)));
    }
  }
  return std::make_unique<Trace>(std::move(storage), capacity, residual);
}

}  // namespace midscope
