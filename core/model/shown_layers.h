// SPDX-License-Identifier: MIT
// Layer kinds of a model that is in no family and no list (layer_kinds.h), as far as its
// configuration shows, for messages.
#pragma once

#include <string>

#include "core/formats/config_json.h"
#include "core/formats/gguf_file.h"

namespace midscope {

// "state space layers (ssm_cfg), layer_types full_attention and mamba"; empty where no key of the
// configuration shows it. Does not throw for values of a wrong type.
std::string ShownLayers(const ConfigJson& json);

// As above, from a file's metadata, whose keys begin with general.architecture.
std::string ShownLayers(const GgufFile& file);

}  // namespace midscope
