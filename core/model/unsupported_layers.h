// SPDX-License-Identifier: MIT
// The layer kinds of unsupported models, for messages.
#pragma once

#include <string>
#include <string_view>

#include "core/formats/config_json.h"
#include "core/formats/gguf_file.h"

namespace midscope {

// Returns "state space layers (Mamba), without attention"; empty if the model is unknown. `name`: a
// model_type of config.json, or an architecture of GGUF.
std::string_view LayerKindsOf(std::string_view name);

// Returns "the model_type 'mamba' is not supported: it has state space layers (Mamba), without
// attention". For an unknown model, returns "... is not supported yet; its configuration shows" and
// `shown` (from ShownLayers; empty: nothing).
std::string NotSupported(std::string_view what, const std::string& name, const std::string& shown);

// For a model that LayerKindsOf does not list, returns what its configuration shows: "state space
// layers (ssm_cfg), layer_types full_attention and mamba"; empty if no key of
// the configuration shows layer kinds. Does not throw for values of a wrong type.
std::string ShownLayers(const ConfigJson& json);

// Like ShownLayers above, from a file's metadata, whose keys begin with general.architecture.
std::string ShownLayers(const GgufFile& file);

}  // namespace midscope
