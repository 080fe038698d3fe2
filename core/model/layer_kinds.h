// SPDX-License-Identifier: MIT
// Layer kinds of unsupported models, for messages.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// Returns "state space layers (Mamba), without attention"; empty if the model is unknown. `name`: a
// model_type of config.json, or an architecture of GGUF.
std::string_view LayerKindsOf(std::string_view name);

// Returns "the model_type 'mamba' is not supported: it has state space layers (Mamba), without
// attention". For an unknown model, returns "... is not supported yet; its configuration shows" and
// `shown` (from ShownLayers; empty: nothing).
std::string NotSupported(std::string_view what, const std::string& name, const std::string& shown);

}  // namespace midscope
