// SPDX-License-Identifier: MIT
// Code shared by the gemma families.
#pragma once

#include <optional>

#include "core/formats/config_json.h"
#include "core/formats/gguf_metadata.h"
#include "core/model/model_config.h"

namespace midscope {

// Sets the scale of the embeddings.
void SetGemma(ModelConfig* config);

// For gemma2 and gemma3: reads norms after attention and MLP, the scale of attention's logits and
// soft caps. attention_cap and final_cap are the caps of attention's and of the model's logits if
// the keys are absent; null in the file means no cap. If attention_cap is nullopt, the key is not
// applied and a note says so.
void ReadGemma2Folder(const ConfigJson& json, std::optional<double> attention_cap, double final_cap,
                      ModelConfig* config);

// Like ReadGemma2Folder, from a GGUF file. Its format has no key for the scale: it is 1 /
// sqrt(head_dim), except for the 27B models (identified by their number of layers), as in
// llama.cpp.
void ReadGemma2Gguf(const GgufMetadata& metadata, std::optional<double> attention_cap,
                    double final_cap, int64_t layers_of_27b, ModelConfig* config);

}  // namespace midscope
