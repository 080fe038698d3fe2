// SPDX-License-Identifier: MIT
// Descriptions of the layer kinds of unsupported models, for error messages.
#pragma once

#include <string>
#include <string_view>

#include "core/formats/config_json.h"
#include "core/formats/gguf_file.h"

namespace midscope {

// Returns the layer kinds of a model, "state space layers (Mamba), without attention"; empty if the
// model is unknown. `name`: a model_type of config.json, or an architecture of GGUF.
std::string_view LayerKindsOf(std::string_view name);

// Returns the error message "the model_type 'mamba' is not supported: it has state space layers
// (Mamba), without attention". For an unknown model: "... is not supported yet; its configuration
// shows" and `shown` (from ShownLayers; empty: nothing).
std::string NotSupported(std::string_view what, const std::string& name, const std::string& shown);

// Returns the layer kinds that a configuration shows, for models that LayerKindsOf does not know:
// "state space layers (ssm_cfg), layer_types full_attention and mamba"; empty if no key shows layer
// kinds. Does not throw for values of a wrong type.
std::string ShownLayers(const ConfigJson& json);

// Returns the layer kinds that a GGUF file's metadata shows: "experts (expert_count)".
std::string ShownLayers(const GgufFile& file);

}  // namespace midscope
