// SPDX-License-Identifier: MIT
// Code shared by the Gemma families.
#pragma once

#include <optional>

#include "core/formats/config_json.h"
#include "core/formats/gguf_metadata.h"
#include "core/model/model_config.h"

namespace midscope {

// Sets the scale of the embeddings, sqrt(hidden).
void SetGemma(ModelConfig* config);

// Reads settings of gemma2 and gemma3 from config.json: norms after attention and MLP, the scale of
// attention logits, and soft caps. `attention_cap` and `final_cap`: default caps of attention
// logits and of the model's logits; null in the file means no cap. If `attention_cap` is nullopt,
// the key is not applied and a note says so.
void ReadGemma2Folder(const ConfigJson& json, std::optional<double> attention_cap, double final_cap,
                      ModelConfig* config);

// Reads the same settings of gemma2 and gemma3 from a GGUF file. The format has no key for the
// scale of attention logits: it is 1 / sqrt(head_dim), except for the 27B models (identified by
// their number of layers), as in llama.cpp.
void ReadGemma2Gguf(const GgufMetadata& metadata, std::optional<double> attention_cap,
                    double final_cap, int64_t layers_of_27b, ModelConfig* config);

}  // namespace midscope
