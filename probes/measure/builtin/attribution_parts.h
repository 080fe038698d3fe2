// SPDX-License-Identifier: MIT
// The two tokens whose logit difference is attributed, and the terms of the residual stream.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/decoder/hooks.h"
#include "core/model/model_config.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

// The two tokens whose logit difference is decomposed.
struct ComparedTokens {
  int32_t token = 0;
  int32_t against = 0;
  std::string rule;  // how `against` was chosen: "other pieces", "vocabulary", "given"
};

// Chooses `token`, the first token of the answer or, without an answer, the likeliest token; and
// `against`: the first token of `given` if that is not empty; otherwise, among the tokens of other
// named pieces that do not occur in the gold passage, the one with the largest logit (the best
// wrong piece); if there are no such tokens, the likeliest other one. `logits`: [vocabulary], of
// the last prompt row. Throws Error (usage) if `given` begins with the answer's token or has no
// tokens.
ComparedTokens FindComparedTokens(const Tokenizer& tokenizer, const Prompt& prompt,
                                  std::span<const float> logits, const std::string& given);

// Reads the terms whose sum is the residual stream of the last prompt row: the embedding, each
// layer's z and MLP output, the output of the last layer and, for layers with a mixer, everything
// that they add except the MLP output. With `values`, also reads every layer's values of all prompt
// rows, as attention mixes them.
class StreamParts : public Hook {
 public:
  StreamParts(const ModelConfig& config, bool values);
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override;
  void OnActivation(HookView& view) override;

  std::span<const float> embedding() const { return embedding_; }      // [hidden]
  std::span<const float> last_stream() const { return last_stream_; }  // [hidden]
  std::span<const float> Z(int64_t layer) const;                       // [heads * head_dim]
  // [hidden]: what the MLP and the layer's own token embedding (gemma4) add.
  std::span<const float> MlpOut(int64_t layer) const;
  std::span<const float> MixerOut(int64_t layer) const;  // [hidden], of layers with a mixer
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
