// SPDX-License-Identifier: MIT
#include "core/weights.h"

#include <ATen/ATen.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "core/error.h"
#include "kernels/dequantise.h"

namespace midscope {
namespace {

// Row of the file that becomes row `row` of a half-split projection. GGUF's llama keeps pair j in
// rows 2j and 2j + 1 of a head.
int64_t InterleavedRow(int64_t row, int64_t head_dim) {
  const int64_t head = row / head_dim;
  const int64_t within = row % head_dim;
  const int64_t half = head_dim / 2;
  const int64_t source = within < half ? 2 * within : 2 * (within - half) + 1;
  return head * head_dim + source;
}

class Loader {
 public:
  Loader(const GgufFile& file, const ModelConfig& config, kernels::Dtype dtype,
         const kernels::Executor& executor, const JobContext& context)
      : file_(file), config_(config), dtype_(dtype), executor_(executor), context_(context) {}

  Weights Load() {
    Weights weights;
    weights.embedding = Matrix(config_.vocabulary, config_.hidden);
    Fill(weights.embedding, 0, "token_embd.weight", 0);
    weights.output = weights.embedding;
    if (!config_.tied_embeddings) {
      weights.output = Matrix(config_.vocabulary, config_.hidden);
      Fill(weights.output, 0, "output.weight", 0);
    }
    weights.final_norm = Vector("output_norm.weight");
    for (int64_t layer = 0; layer < config_.layers; ++layer) weights.layers.push_back(Layer(layer));
    return weights;
  }

 private:
  LayerWeights Layer(int64_t layer) {
    context_.ThrowIfCancelled();
    context_.Report({"load weights", layer, config_.layers, "layers"});
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const int64_t q_rows = config_.heads * config_.head_dim;
    const int64_t kv_rows = config_.key_value_heads * config_.head_dim;
    LayerWeights weights;
    weights.query_key_value = Matrix(q_rows + 2 * kv_rows, config_.hidden);
    Fill(weights.query_key_value, 0, prefix + "attn_q.weight", config_.head_dim);
    Fill(weights.query_key_value, q_rows, prefix + "attn_k.weight", config_.head_dim);
    Fill(weights.query_key_value, q_rows + kv_rows, prefix + "attn_v.weight", 0);
    weights.attention_out = Matrix(config_.hidden, q_rows);
    Fill(weights.attention_out, 0, prefix + "attn_output.weight", 0);
    weights.gate_up = Matrix(2 * config_.feed_forward, config_.hidden);
    Fill(weights.gate_up, 0, prefix + "ffn_gate.weight", 0);
    Fill(weights.gate_up, config_.feed_forward, prefix + "ffn_up.weight", 0);
    weights.down = Matrix(config_.hidden, config_.feed_forward);
    Fill(weights.down, 0, prefix + "ffn_down.weight", 0);
    weights.attention_norm = Vector(prefix + "attn_norm.weight");
    weights.mlp_norm = Vector(prefix + "ffn_norm.weight");
    return weights;
  }

  at::Tensor Matrix(int64_t rows, int64_t columns) const {
    return at::empty({rows, columns}, at::TensorOptions().dtype(TorchType(dtype_)));
  }

  // Rows first_row ... of `target` from a whole tensor of the file; interleaved_head_dim > 0: rows
  // are put in half-split order.
  void Fill(const at::Tensor& target, int64_t first_row, const std::string& name,
            int64_t interleaved_head_dim) {
    const GgufTensor& tensor = file_.Require(name);
    const int64_t columns = target.size(1);
    const int64_t rows = tensor.elements() / columns;
    const int64_t row_bytes = tensor.bytes / rows;
    auto* base = static_cast<std::byte*>(target.data_ptr());
    const int64_t element_bytes = kernels::SizeOf(dtype_);
    std::atomic<bool> finite{true};
    constexpr int64_t kRowsAtOnce = 64;
    executor_.For(rows, kRowsAtOnce, [&](int64_t begin, int64_t end) {
      std::vector<float> values(static_cast<size_t>(columns));
      for (int64_t row = begin; row < end; ++row) {
        const int64_t source =
            interleaved_head_dim > 0 ? InterleavedRow(row, interleaved_head_dim) : row;
        kernels::Dequantise(tensor.format.type, tensor.data + source * row_bytes, columns,
                            values.data());
        Store(values, base + (first_row + row) * columns * element_bytes);
        // A sum of finite weights is finite: models' weights are far from the largest float.
        if (!std::isfinite(std::accumulate(values.begin(), values.end(), 0.0f))) finite = false;
      }
    });
    if (!finite) throw NotFinite(name);
    file_.DontNeed(tensor);
  }

  void Store(const std::vector<float>& values, std::byte* target) const {
    if (dtype_ == kernels::Dtype::kFloat32) {
      std::copy(values.begin(), values.end(), reinterpret_cast<float*>(target));
    } else {
      auto* out = reinterpret_cast<kernels::BFloat16*>(target);
      for (size_t i = 0; i < values.size(); ++i) out[i] = kernels::ToBFloat16(values[i]);
    }
  }

  std::vector<float> Vector(const std::string& name) const {
    const GgufTensor& tensor = file_.Require(name);
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    kernels::Dequantise(tensor.format.type, tensor.data, tensor.elements(), values.data());
    for (const float value : values) {
      if (!std::isfinite(value)) throw NotFinite(name);
    }
    return values;
  }

  Error NotFinite(const std::string& name) const {
    return Failure(file_.path().string(), "tensor " + name + " holds values that are not finite",
                   "The file is damaged; fetch it again");
  }

  const GgufFile& file_;
  const ModelConfig& config_;
  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
  const JobContext& context_;
};

}  // namespace

at::ScalarType TorchType(kernels::Dtype dtype) {
  return dtype == kernels::Dtype::kFloat32 ? at::kFloat : at::kBFloat16;
}

Weights LoadWeights(const GgufFile& file, const ModelConfig& config, kernels::Dtype dtype,
                    const kernels::Executor& executor, const JobContext& context) {
  return Loader(file, config, dtype, executor, context).Load();
}

}  // namespace midscope
