// SPDX-License-Identifier: MIT
// Describes, for messages, the layer kinds of a model that is in no family and not listed in
// layer_kinds.h, as far as its configuration shows them.
#pragma once

#include <string>

#include "core/formats/config_json.h"
#include "core/formats/gguf_file.h"

namespace midscope {

// Returns "state space layers (ssm_cfg), layer_types full_attention and mamba"; empty if no key of
// the configuration shows layer kinds. Does not throw for values of a wrong type.
std::string ShownLayers(const ConfigJson& json);

// Like ShownLayers above, from a file's metadata, whose keys begin with general.architecture.
std::string ShownLayers(const GgufFile& file);

}  // namespace midscope
