// SPDX-License-Identifier: MIT
// Shared by the gemma families.
#pragma once

#include <optional>

#include "core/formats/config_json.h"
#include "core/formats/gguf_metadata.h"
#include "core/model/model_config.h"

namespace midscope {

// The scale of the embeddings.
void SetGemma(ModelConfig* config);

// gemma2 and gemma3: norms after attention and MLP, the scale of attention's logits, soft caps
// (attention_cap, final_cap: of attention and of the model's logits where the keys are absent; a
// null in the file: none). Without attention_cap the key is not applied, which becomes a note.
void ReadGemma2Folder(const ConfigJson& json, std::optional<double> attention_cap, double final_cap,
                      ModelConfig* config);

// As above, from a GGUF file. Its format has no key for the scale: it is 1 / sqrt(head_dim), except
// for the 27B models (identified by their number of layers), as in llama.cpp.
void ReadGemma2Gguf(const GgufMetadata& metadata, std::optional<double> attention_cap,
                    double final_cap, int64_t layers_of_27b, ModelConfig* config);

}  // namespace midscope
