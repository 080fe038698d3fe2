// SPDX-License-Identifier: MIT
// Reads the terms whose sum is the residual stream of the last prompt row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/model/model_config.h"

namespace midscope {

// For the last prompt row, reads the embedding, each layer's z and MLP output, and the output of
// the last layer; of layers without attention all that they add beside their MLP; with `values`,
// also every layer's values of all prompt rows, as attention mixes them.
class StreamParts : public Hook {
 public:
  StreamParts(const ModelConfig& config, bool values);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

  std::span<const float> embedding() const { return embedding_; }      // [hidden]
  std::span<const float> last_stream() const { return last_stream_; }  // [hidden]
  std::span<const float> Z(int64_t layer) const;                       // [heads * head_dim]
  // [hidden]: of the MLP, and of the layer's own embedding of the token (gemma4).
  std::span<const float> MlpOut(int64_t layer) const;
  std::span<const float> MixerOut(int64_t layer) const;  // [hidden], of layers without attention
  // [key, key_value_heads * head_dim], clamped or normed if the model does so.
  std::span<const float> Values(int64_t layer) const;

 private:
  void ReadValues(const HookView& view);

  const ModelConfig& config_;
  bool with_values_;
  std::vector<float> embedding_;
  std::vector<float> last_stream_;
  std::vector<std::vector<float>> z_;
  std::vector<std::vector<float>> mlp_out_;
  std::vector<std::vector<float>> mixer_out_;
  std::vector<std::vector<float>> values_;
};

}  // namespace midscope
