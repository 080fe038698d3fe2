// SPDX-License-Identifier: MIT
#include "core/decoder/trace.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/compute/query_key_finish.h"
#include "core/compute/weights.h"
#include "core/decoder/trace_storage.h"
#include "core/model/model_config.h"
#include "kernels/check.h"

namespace midscope {
namespace {

int64_t Bytes(const std::vector<at::Tensor>& tensors) {
  int64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) continue;
    // A tensor that several layers share is counted once.
    const bool counted =
        std::any_of(tensors.begin(), tensors.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const at::Tensor& other) { return other.is_same(tensors[i]); });
    if (!counted) bytes += static_cast<int64_t>(tensors[i].nbytes());
  }
  return bytes;
}

// Makes one tensor per layer from first_layer on. Layers below it share one tensor per device and
// width, which is created on demand.
template <class Make>
void ShareBelow(int64_t first_layer, const std::vector<at::Device>& devices,
                const std::vector<int64_t>& widths, const Make& make,
                std::vector<at::Tensor>& tensors) {
  for (size_t layer = 0; layer < tensors.size(); ++layer) {
    const auto end = tensors.begin() + static_cast<std::ptrdiff_t>(layer);
    const auto shared = std::find_if(tensors.begin(), end, [&](const at::Tensor& other) {
      return other.device() == devices[layer] && other.size(1) == widths[layer];
    });
    if (static_cast<int64_t>(layer) < first_layer && shared != end) {
      tensors[layer] = *shared;
    } else if (!tensors[layer].defined()) {
      tensors[layer] = make(devices[layer], widths[layer]);
    }
  }
}

std::vector<int64_t> KeyWidths(const ModelConfig& config) {
  std::vector<int64_t> widths(static_cast<size_t>(config.layers));
  for (size_t layer = 0; layer < widths.size(); ++layer)
    if (config.HasAttention(static_cast<int64_t>(layer)) &&
        !config.SharesKeys(static_cast<int64_t>(layer)))
      widths[layer] = config.KeyWidth(static_cast<int64_t>(layer));
  return widths;
}

// Returns the total width of the shared tensors that ShareBelow makes on one device.
int64_t SharedWidth(const std::vector<int64_t>& widths, int64_t first_layer) {
  const std::set<int64_t> shared(widths.begin(), widths.begin() + first_layer);
  return std::accumulate(shared.begin(), shared.end(), int64_t{0});
}

// Returns the result of `work` on a trace's tensors; faults of devices become DeviceError.
template <class Work>
auto OnTrace(const Trace::Storage& storage, Work work) {
  return storage.faults ? OnDevices(*storage.faults, DeviceWork::kTrace, work) : work();
}

bool KeepsScale(const ModelConfig& config) { return config.input_norms; }
bool KeepsMean(const ModelConfig& config) {
  return config.input_norms && config.norm == NormKind::kLayer;
}

}  // namespace

Trace::Trace(std::unique_ptr<Storage> storage, int64_t capacity, bool residual, int64_t first_layer)
    : storage_(std::move(storage)),
      capacity_(capacity),
      residual_(residual),
      first_layer_(first_layer) {}

Trace::~Trace() = default;

int64_t Trace::bytes() const {
  int64_t sums = 0;
  for (const auto& [head, tensor] : storage_->head_sums)
    sums += static_cast<int64_t>(tensor.nbytes());
  for (const auto& [layer, memory] : storage_->memories) {
    if (memory.rows > 0)
      sums += static_cast<int64_t>(memory.matrix.nbytes() + memory.key_sums.nbytes());
  }
  for (const auto& [layer, states] : storage_->mixer_states) {
    sums += static_cast<int64_t>(states.kept.nbytes());
    if (states.latest_row > 0) sums += static_cast<int64_t>(states.latest.nbytes());
  }
  return sums + Bytes(storage_->keys) + Bytes(storage_->values) + Bytes(storage_->residual) +
         Bytes(storage_->norm_scale) + Bytes(storage_->norm_mean) +
         Bytes(storage_->projected_keys) + Bytes(storage_->projected_values);
}

void Trace::DropLayersBelow(int64_t layer) {
  MIDSCOPE_CHECK(residual_, "layers are entered by their residual rows, which are not kept");
  if (layer <= first_layer_) return;
  first_layer_ = layer;
  storage_->recorded.reset();  // it contains the tensors' addresses
  std::vector<at::Device> devices;
  std::vector<int64_t> widths;
  devices.reserve(storage_->keys.size());
  widths.reserve(storage_->keys.size());
  for (const at::Tensor& keys : storage_->keys) {
    devices.push_back(keys.device());
    widths.push_back(keys.size(1));
  }
  // Every layer has a tensor by now.
  const auto none = [](at::Device, int64_t) { return at::Tensor(); };
  for (auto* tensors : {&storage_->keys, &storage_->values})
    ShareBelow(std::min(layer, storage_->first_lent), devices, widths, none, *tensors);
  for (auto* tensors : {&storage_->projected_keys, &storage_->projected_values})
    ShareBelow(layer, devices, widths, none, *tensors);
  for (auto* tensors : {&storage_->residual, &storage_->norm_scale, &storage_->norm_mean}) {
    for (size_t i = 0; i < tensors->size() && static_cast<int64_t>(i) < layer; ++i)
      (*tensors)[i] = at::Tensor();
  }
  std::erase_if(storage_->head_sums, [&](const auto& sum) { return sum.first.first < layer; });
  std::erase_if(storage_->channel_means,
                [&](const auto& mean) { return mean.first.first < layer; });
  std::erase_if(storage_->memories, [&](const auto& memory) { return memory.first < layer; });
  std::erase_if(storage_->mixer_states, [&](const auto& states) { return states.first < layer; });
}

void Trace::Truncate(int64_t rows) {
  rows_ = std::clamp<int64_t>(rows, 0, rows_);
  if (rows_ == 0) {
    plans_.clear();
    prompt_tokens_ = 0;
  }
}

bool Trace::CanTakeFrom(const Trace& donor) const {
  return donor.first_layer_ <= first_layer_ && (donor.residual_ || !residual_);
}

void Trace::TakeRows(const Trace& donor, int64_t rows) {
  MIDSCOPE_CHECK_LE(rows, donor.rows_);
  MIDSCOPE_CHECK_LE(rows, capacity_);
  MIDSCOPE_CHECK(CanTakeFrom(donor));
  const c10::InferenceMode inference;
  const auto copy = [&](const std::vector<at::Tensor>& from, std::vector<at::Tensor>& to,
                        int64_t first = INT64_MAX) {
    // Layers that are not stored run all rows.
    for (auto layer = static_cast<size_t>(std::min(first, first_layer_)); layer < to.size();
         ++layer)
      to[layer].narrow(0, 0, rows).copy_(from[layer].narrow(0, 0, rows));
  };
  Truncate(0);  // the copies below may fail, which must leave an empty trace
  storage_->head_sums.clear();
  storage_->channel_means.clear();
  storage_->memories.clear();
  for (auto& [layer, states] : storage_->mixer_states) {
    const MixerStates& from = donor.storage_->mixer_states.at(layer);
    const int64_t count = rows / kStateRows;
    states.kept.narrow(0, 0, count).copy_(from.kept.narrow(0, 0, count));
    states.latest_row = from.latest_row == rows ? rows : 0;
    if (states.latest_row > 0) states.latest = from.latest.clone();
  }
  OnTrace(*storage_, [&] {
    copy(donor.storage_->keys, storage_->keys, storage_->first_lent);
    copy(donor.storage_->values, storage_->values, storage_->first_lent);
    if (!residual_) return;
    copy(donor.storage_->residual, storage_->residual);
    copy(donor.storage_->norm_scale, storage_->norm_scale);
    copy(donor.storage_->norm_mean, storage_->norm_mean);
    copy(donor.storage_->projected_keys, storage_->projected_keys);
    copy(donor.storage_->projected_values, storage_->projected_values);
  });
  rows_ = rows;
  prompt_tokens_ = donor.prompt_tokens_;
  plans_ = donor.plans_;
}

void Trace::Set(int64_t rows, int64_t prompt_tokens, std::vector<AttentionPlan> plans) {
  rows_ = rows;
  prompt_tokens_ = prompt_tokens;
  plans_ = std::move(plans);
  // Drops other sums: later runs only continue the sums of heads that these plans ablate.
  std::erase_if(storage_->head_sums, [&](const auto& sum) {
    const auto& [layer, head] = sum.first;
    const auto& ablated = plans_[static_cast<size_t>(layer)].edits.ablated;
    return std::none_of(ablated.begin(), ablated.end(), [head = head](const AblatedHead& other) {
      return other.head == head && other.with == AblateWith::kMean;
    });
  });
  std::erase_if(storage_->channel_means, [&](const auto& mean) {
    const auto& [layer, channel] = mean.first;
    const auto& set = plans_[static_cast<size_t>(layer)].residual.set;
    return std::none_of(set.begin(), set.end(), [channel = channel](const SetChannel& other) {
      return other.channel == channel && !other.value;
    });
  });
}

std::vector<float> Trace::Channel(int64_t layer, int64_t channel) const {
  MIDSCOPE_CHECK(residual_, "the trace keeps no residual rows");
  MIDSCOPE_CHECK_GE(layer, first_layer_);
  const at::Tensor column = OnTrace(*storage_, [&] {
    return storage_->residual[static_cast<size_t>(layer)]
        .narrow(0, 0, rows_)
        .select(1, channel)
        .to(at::kFloat)
        .cpu()
        .contiguous();
  });
  const float* data = column.data_ptr<float>();
  return {data, data + rows_};
}

int64_t TraceBytesPerRow(const ModelConfig& config, kernels::Dtype dtype, const TraceParts& parts,
                         int64_t devices) {
  const int64_t element = kernels::SizeOf(dtype);
  const int64_t kept = config.layers - parts.first_layer;
  const std::vector<int64_t> widths = KeyWidths(config);
  const auto stored_from = [&](int64_t layer) {
    return std::accumulate(widths.begin() + layer, widths.end(), int64_t{0}) +
           devices * SharedWidth(widths, layer);
  };
  int64_t bytes = 2 * stored_from(std::min(parts.first_layer, config.FirstLentLayer())) * element;
  const int64_t projected = (FinishesQueryKey(config) ? 1 : 0) + (FinishesValue(config) ? 1 : 0);
  bytes += projected * element *
           (parts.residual ? stored_from(parts.first_layer)
                           : devices * SharedWidth(widths, config.layers));
  bytes += parts.mean_heads * config.head_dim * static_cast<int64_t>(sizeof(double));
  if (!parts.residual) return bytes;
  const int64_t floats = (KeepsScale(config) ? 1 : 0) + (KeepsMean(config) ? 1 : 0);
  return bytes + (kept + 1) * config.hidden * element +
         floats * kept * static_cast<int64_t>(sizeof(float));
}

int64_t MixerStateBytes(const ModelConfig& config, int64_t rows, int64_t first_layer) {
  int64_t layers = 0;
  for (int64_t layer = first_layer; layer < config.layers; ++layer)
    layers += config.HasMixer(layer) ? 1 : 0;
  return layers * (rows / kStateRows + 1) * config.Mixer().state() *
         static_cast<int64_t>(sizeof(float));
}

int64_t MemoryBytes(const ModelConfig& config) {
  return config.LargestKeyWidth() * (config.head_dim + 1) * static_cast<int64_t>(sizeof(float));
}

std::unique_ptr<Trace> AllocateTrace(const ModelConfig& config, kernels::Dtype dtype,
                                     int64_t capacity, bool residual, int64_t first_layer,
                                     const std::vector<at::Device>& devices) {
  auto storage = std::make_unique<Trace::Storage>();
  storage->dtype = dtype;
  const auto options = at::TensorOptions().dtype(TorchType(dtype));
  const auto layers = static_cast<size_t>(config.layers);
  const std::vector<int64_t> widths = KeyWidths(config);
  const auto key_rows = [&](at::Device device, int64_t width) {
    return at::empty({capacity, width}, options.device(device));
  };
  storage->keys.resize(layers);
  storage->values.resize(layers);
  storage->first_lent = config.FirstLentLayer();
  const int64_t first_own = std::min(first_layer, storage->first_lent);
  ShareBelow(first_own, devices, widths, key_rows, storage->keys);
  ShareBelow(first_own, devices, widths, key_rows, storage->values);
  const auto add_projected = [&](std::vector<at::Tensor>& tensors) {
    tensors.resize(layers);
    ShareBelow(residual ? first_layer : config.layers, devices, widths, key_rows, tensors);
  };
  if (FinishesQueryKey(config)) add_projected(storage->projected_keys);
  if (FinishesValue(config)) add_projected(storage->projected_values);
  // Makes one tensor per stored layer: [layers + additional entries].
  const auto add = [&](std::vector<at::Tensor>& tensors, size_t count, const auto& make) {
    tensors.resize(count);
    for (auto layer = static_cast<size_t>(first_layer); layer < count; ++layer)
      tensors[layer] = make(devices[layer]);
  };
  const auto hidden_rows = [&](at::Device device) {
    return at::empty({capacity, config.hidden}, options.device(device));
  };
  const auto floats = [&](at::Device device) {
    return at::empty({capacity}, options.dtype(at::kFloat).device(device));
  };
  for (int64_t layer = first_layer; layer < config.layers; ++layer) {
    if (!config.HasMixer(layer)) continue;
    storage->mixer_states[layer].kept =
        at::empty({capacity / kStateRows, config.Mixer().state()}, at::kFloat);
  }
  if (residual) add(storage->residual, layers + 1, hidden_rows);
  if (residual && KeepsScale(config)) add(storage->norm_scale, layers, floats);
  if (residual && KeepsMean(config)) add(storage->norm_mean, layers, floats);
  return std::make_unique<Trace>(std::move(storage), capacity, residual, first_layer);
}

}  // namespace midscope
