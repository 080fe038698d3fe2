// SPDX-License-Identifier: MIT
// Control vectors in GGUF files, as repeng writes and llama.cpp reads them (repeng's
// ControlVector.export_gguf, llama.cpp's common_control_vector_load): general.architecture =
// "controlvector", controlvector.model_hint, and one float32 tensor `direction.N` [hidden] for each
// layer N that has a direction. direction.N is added to the residual stream after block N, counted
// from zero. llama.cpp adds nothing after block 0 and refuses direction.0; Midscope reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace midscope {

struct ControlVector {
  std::string model_hint;  // architecture of the model for which the vector was made
  // Directions [hidden], keyed by layer from zero: finite, of equal size > 0. Not empty.
  std::map<int64_t, std::vector<float>> directions;
  bool operator==(const ControlVector&) const = default;
};

// The largest layer that a file may name.
inline constexpr int64_t kMostControlLayers = 1 << 16;

// Reads a control vector. Throws Error naming the file and the fault: the faults of GgufFile, an
// architecture other than "controlvector", a tensor with an unexpected name, type or shape,
// directions of different sizes, numbers that are not finite.
ControlVector ReadControlVector(const std::filesystem::path& path);

// Returns the vector as the bytes of a GGUF file: version 3, tensors in the order of layers.
std::string ControlVectorBytes(const ControlVector& vector);

// Returns 16 hexadecimal digits that identify the layers and the numbers.
std::string ControlVectorDigest(const ControlVector& vector);

}  // namespace midscope
