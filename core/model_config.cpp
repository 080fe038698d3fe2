// SPDX-License-Identifier: MIT
#include "core/model_config.h"

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"

namespace midscope {
namespace {

constexpr std::string_view kArchitecture = "llama";
constexpr int64_t kMaxLayers = 1024;
constexpr int64_t kMaxWidth = int64_t{1}
                              << 20;  // heads, widths; 16 times the largest published model
constexpr int64_t kMaxTokens = int64_t{1} << 30;  // vocabulary, context

// Keys of one architecture, with its prefix.
class Metadata {
 public:
  explicit Metadata(const GgufFile& file) : file_(file) {}

  [[noreturn]] void Fail(const std::string& reason, const std::string& remedy = "") const {
    throw Failure(file_.path().string(), reason, remedy);
  }

  std::string Key(std::string_view key) const {
    return std::string(kArchitecture) + "." + std::string(key);
  }

  // A number from 1 to `max`; `otherwise` where the key is absent, an Error where there is no
  // otherwise.
  int64_t Count(std::string_view key, int64_t max,
                std::optional<int64_t> otherwise = std::nullopt) const {
    const std::string full = Key(key);
    const auto found = file_.GetInt(full);
    if (!found && !otherwise) Fail("metadata " + full + " is missing", "Convert the model again");
    const int64_t value = found ? *found : *otherwise;
    if (value < 1 || value > max) {
      Fail(full + " is " + std::to_string(value) + "; it must be from 1 to " + std::to_string(max));
    }
    return value;
  }

  double Positive(std::string_view key, std::optional<double> otherwise = std::nullopt) const {
    const std::string full = Key(key);
    const auto found = file_.GetFloat(full);
    if (!found && !otherwise) Fail("metadata " + full + " is missing", "Convert the model again");
    const double value = found ? *found : *otherwise;
    if (!std::isfinite(value) || value <= 0.0) {
      Fail(full + " is " + std::to_string(value) + "; it must be a positive number");
    }
    return value;
  }

 private:
  const GgufFile& file_;
};

void CheckArchitecture(const GgufFile& file, const std::string& architecture) {
  if (architecture == kArchitecture) return;
  throw Failure(file.path().string(),
                architecture.empty()
                    ? "metadata general.architecture is missing"
                    : "the architecture " + Quote(architecture) + " is not supported yet",
                "Supported: llama");
}

// Rope scaling changes every angle; a file that asks for it must not run without.
void CheckRopeScaling(const GgufFile& file, const Metadata& metadata) {
  const auto scaling = file.GetString(metadata.Key("rope.scaling.type"));
  if (scaling && *scaling != "none") {
    metadata.Fail("its rope scaling " + Quote(*scaling) + " is not supported yet",
                  "Supported: none");
  }
  for (const char* key : {"rope.scaling.factor", "rope.scale_linear", "rope.scaling.attn_factor"}) {
    const double factor = file.GetFloat(metadata.Key(key)).value_or(1.0);
    if (factor != 1.0) {
      metadata.Fail(metadata.Key(key) + " is " + std::to_string(factor) +
                        "; rope scaling is not supported yet",
                    "Supported: none");
    }
  }
  for (const char* name :
       {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"}) {
    if (file.Find(name) != nullptr) {
      metadata.Fail("it scales rope frequencies by the tensor " + std::string(name) +
                        ", which is not supported yet",
                    "Supported: none");
    }
  }
}

// What some models of the family have and the decoder does not do.
void CheckPlainLlama(const GgufFile& file, const Metadata& metadata) {
  const std::array<std::pair<const char*, int64_t>, 3> counts = {
      {{"expert_count", 0}, {"expert_used_count", 0}, {"attention.sliding_window", 0}}};
  for (const auto& [key, plain] : counts) {
    const int64_t value = file.GetInt(metadata.Key(key)).value_or(plain);
    if (value != plain) {
      metadata.Fail(metadata.Key(key) + " is " + std::to_string(value) +
                    ", which is not supported yet");
    }
  }
  for (const char* key : {"attention.scale", "attention.clamp_kqv", "attention.max_alibi_bias",
                          "attn_logit_softcapping", "final_logit_softcapping", "logit_scale",
                          "embedding_scale", "residual_scale", "attention.temperature_length",
                          "attention.temperature_scale", "use_parallel_residual"}) {
    if (file.Has(metadata.Key(key)))
      metadata.Fail(metadata.Key(key) + " is set, which is not supported yet");
  }
  if (!file.GetBool(metadata.Key("attention.causal")).value_or(true)) {
    metadata.Fail("its attention is not causal, which is not supported");
  }
}

void ReadAttentionShape(const Metadata& metadata, ModelConfig* config) {
  config->heads = metadata.Count("attention.head_count", kMaxWidth);
  config->key_value_heads = metadata.Count("attention.head_count_kv", kMaxWidth, config->heads);
  if (config->heads % config->key_value_heads != 0) {
    metadata.Fail(std::to_string(config->heads) + " heads can't share " +
                  std::to_string(config->key_value_heads) + " key-value heads evenly");
  }
  const int64_t implied = config->hidden / config->heads;
  config->head_dim = metadata.Count("attention.key_length", kMaxWidth, implied);
  if (config->head_dim == implied && config->hidden % config->heads != 0) {
    metadata.Fail("a width of " + std::to_string(config->hidden) + " is not a multiple of " +
                  std::to_string(config->heads) + " heads");
  }
  const int64_t value_dim = metadata.Count("attention.value_length", kMaxWidth, implied);
  if (value_dim != config->head_dim) {
    metadata.Fail("keys of " + std::to_string(config->head_dim) + " and values of " +
                  std::to_string(value_dim) + " dimensions a head are not supported together");
  }
  config->rope_dimensions = metadata.Count("rope.dimension_count", kMaxWidth, config->head_dim);
  if (config->head_dim % 2 != 0 || config->rope_dimensions != config->head_dim) {
    metadata.Fail("rotating " + std::to_string(config->rope_dimensions) + " of " +
                      std::to_string(config->head_dim) + " dimensions of a head is not supported",
                  "Supported: all of an even number");
  }
}

void SumTensors(const GgufFile& file, ModelConfig* config) {
  std::map<std::string_view, int64_t> elements;
  for (const GgufTensor& tensor : file.tensors()) {
    // Each tensor's bytes lie in the file, without overlap, so these sums can't overflow.
    elements[tensor.format.name] += tensor.elements();
    config->parameters += tensor.elements();
  }
  int64_t most = 0;
  for (const auto& [name, count] : elements) {
    if (count <= most) continue;
    most = count;
    config->quantisation = name;
  }
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

}  // namespace

ModelConfig ReadModelConfig(const GgufFile& file) {
  ModelConfig config;
  config.architecture = file.GetString("general.architecture").value_or("");
  CheckArchitecture(file, config.architecture);
  const Metadata metadata(file);
  CheckRopeScaling(file, metadata);
  CheckPlainLlama(file, metadata);
  config.name = file.GetString("general.name").value_or("");
  config.layers = metadata.Count("block_count", kMaxLayers);
  config.hidden = metadata.Count("embedding_length", kMaxWidth);
  config.feed_forward = metadata.Count("feed_forward_length", kMaxWidth);
  config.trained_context = metadata.Count("context_length", kMaxTokens);
  ReadAttentionShape(metadata, &config);
  config.rope_base = metadata.Positive("rope.freq_base", 10000.0);
  config.rms_norm_epsilon = metadata.Positive("attention.layer_norm_rms_epsilon");
  const GgufValue* tokens = file.FindValue("tokenizer.ggml.tokens");
  config.vocabulary = metadata.Count(
      "vocab_size", kMaxTokens,
      tokens != nullptr && tokens->is_array ? std::optional(tokens->count) : std::nullopt);
  if (tokens != nullptr && tokens->is_array && tokens->count != config.vocabulary) {
    metadata.Fail("its tokenizer has " + std::to_string(tokens->count) + " tokens, the model " +
                  std::to_string(config.vocabulary));
  }
  config.tied_embeddings = file.Find("output.weight") == nullptr;
  SumTensors(file, &config);
  return config;
}

void CheckTensorShapes(const GgufFile& file, const ModelConfig& config) {
  const int64_t hidden = config.hidden;
  const int64_t query_width = config.heads * config.head_dim;
  const int64_t key_value_width = config.key_value_heads * config.head_dim;
  std::map<std::string, std::vector<int64_t>> wanted = {
      {"token_embd.weight", {config.vocabulary, hidden}}, {"output_norm.weight", {hidden}}};
  if (!config.tied_embeddings) wanted["output.weight"] = {config.vocabulary, hidden};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    wanted[prefix + "attn_norm.weight"] = {hidden};
    wanted[prefix + "attn_q.weight"] = {query_width, hidden};
    wanted[prefix + "attn_k.weight"] = {key_value_width, hidden};
    wanted[prefix + "attn_v.weight"] = {key_value_width, hidden};
    wanted[prefix + "attn_output.weight"] = {hidden, query_width};
    wanted[prefix + "ffn_norm.weight"] = {hidden};
    wanted[prefix + "ffn_gate.weight"] = {config.feed_forward, hidden};
    wanted[prefix + "ffn_up.weight"] = {config.feed_forward, hidden};
    wanted[prefix + "ffn_down.weight"] = {hidden, config.feed_forward};
  }
  for (const auto& [name, shape] : wanted) {
    const GgufTensor& tensor = file.Require(name);
    if (tensor.shape != shape) {
      throw Failure(file.path().string(), "tensor " + name + " has shape " +
                                              ShapeText(tensor.shape) + "; the model needs " +
                                              ShapeText(shape));
    }
  }
  for (const GgufTensor& tensor : file.tensors()) {
    if (!wanted.contains(tensor.name)) {
      throw Failure(file.path().string(),
                    "tensor " + Quote(tensor.name) + " has no place in a llama decoder of " +
                        std::to_string(config.layers) + " layers",
                    "This variant is not supported yet");
    }
  }
}

}  // namespace midscope
