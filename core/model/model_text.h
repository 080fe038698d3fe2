// SPDX-License-Identifier: MIT
// A user's name of a model: NAME[@init[:SEED]] [adapter=FOLDER[:SCALE]].
//
// clang-format off
//   embedded
//   org/name@main
//   embedded@init:7                        the model with random weights (changed_source.h)
//   embedded adapter=out/lora:0.5          with half of an adapter (adapter_file.h)
//   org/name@main@init adapter=tuned.gguf
// clang-format on
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace midscope {

struct ModelText {
  std::string name;                   // a path, org/name[@REVISION], or "embedded"
  std::optional<uint64_t> init_seed;  // of random weights
  std::string adapter;                // a folder, a .gguf file or org/name; "": none
  double scale = 1;                   // factor of the adapter

  bool plain() const { return !init_seed && adapter.empty(); }
};

// Parses a user's model text. The path of an existing file or folder is a plain name, whatever it
// contains. A number after the adapter's last colon is its scale unless such a path exists. Throws
// Error (usage) for a second or empty adapter, and for a seed or scale that is not a number.
ModelText ParseModelText(const std::string& text);

// Returns `text` in the form that ParseModelText reads. A scale of 1 is omitted.
std::string PrintModelText(const ModelText& text);

// Returns the name `model` with an adapter (FOLDER[:SCALE]) added; `model` if `adapter` is empty.
// Throws Error (usage) if the name already contains an adapter.
std::string WithAdapterText(const std::string& model, const std::string& adapter);

// Returns the name with files and folders shortened to their last component, for display:
// "SmolLM2-135M-Instruct.Q4_1.gguf adapter=lora:0.5".
std::string ShortModelText(const std::string& text);

}  // namespace midscope
