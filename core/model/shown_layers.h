// SPDX-License-Identifier: MIT
// What kinds of layers a model that no family and no list knows (layer_kinds.h) has, as far as its
// configuration shows, for messages.
#pragma once

#include <string>

#include "core/formats/config_json.h"
#include "core/formats/gguf_file.h"

namespace midscope {

// "state space layers (ssm_cfg), layer_types full_attention and mamba"; empty where no key of the
// configuration tells. Does not throw for values of a wrong type.
std::string ShownLayers(const ConfigJson& json);

// The same of a file's metadata, whose keys begin with general.architecture.
std::string ShownLayers(const GgufFile& file);

}  // namespace midscope
