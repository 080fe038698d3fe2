// SPDX-License-Identifier: MIT
#include "core/formats/control_vector_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/hashes.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/formats/gguf_file.h"

namespace midscope {
namespace {

constexpr std::string_view kArchitecture = "controlvector";
constexpr std::string_view kHint = "controlvector.model_hint";
constexpr std::string_view kLayerCount = "controlvector.layer_count";
constexpr std::string_view kDirectionPrefix = "direction.";
constexpr size_t kTensorAlignment = 32;

// Parses "direction.12" to 12. Only one spelling is accepted, so that no layer is named twice.
std::optional<int64_t> LayerOf(std::string_view name) {
  if (!name.starts_with(kDirectionPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kDirectionPrefix.size());
  int64_t layer = 0;
  const bool is_layer = ReadWhole(digits, layer) && layer >= 0 && layer < kMostControlLayers;
  if (!is_layer || std::to_string(layer) != digits) return std::nullopt;
  return layer;
}

void CheckIsControlVector(const GgufFile& file) {
  const auto architecture = file.GetString("general.architecture");
  if (architecture == kArchitecture) return;
  throw Failure(file.path().string(),
                architecture
                    ? "it is not a control vector: its architecture is " + Quote(*architecture)
                    : "it is not a control vector: general.architecture is missing",
                "Name a file with general.architecture=controlvector, as repeng writes them");
}

std::vector<float> Direction(const GgufFile& file, const GgufTensor& tensor) {
  const std::string what = "tensor " + Quote(tensor.name);
  if (tensor.format.type != kernels::BlockType::kF32)
    throw Failure(file.path().string(), what + " is not float32");
  const auto dimensions = std::count_if(tensor.shape.begin(), tensor.shape.end(),
                                        [](int64_t size) { return size > 1; });
  if (dimensions > 1) throw Failure(file.path().string(), what + " has more than one dimension");
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  std::memcpy(values.data(), tensor.data, values.size() * sizeof(float));
  if (!std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
    throw Failure(file.path().string(), what + " holds a number that is not finite");
  return values;
}

template <typename T>
void Append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void AppendText(std::string& bytes, std::string_view text) {
  Append<uint64_t>(bytes, text.size());
  bytes += text;
}

void Pad(std::string& bytes) {
  bytes.resize((bytes.size() + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment);
}

}  // namespace

ControlVector ReadControlVector(const std::filesystem::path& path) {
  const GgufFile file(path);
  CheckIsControlVector(file);
  ControlVector vector;
  vector.model_hint = file.GetString(kHint).value_or("");
  for (const GgufTensor& tensor : file.tensors()) {
    const std::optional<int64_t> layer = LayerOf(tensor.name);
    if (!layer) {
      throw Failure(
          path.string(), "tensor " + Quote(tensor.name) + " names no layer",
          fmt::format("Tensors are called direction.N, N from 0 to {}", kMostControlLayers - 1));
    }
    std::vector<float> values = Direction(file, tensor);
    const bool same =
        vector.directions.empty() || vector.directions.begin()->second.size() == values.size();
    if (!same) {
      throw Failure(path.string(),
                    fmt::format("tensor {} has {} numbers, the one of layer {} has {}",
                                Quote(tensor.name), values.size(), vector.directions.begin()->first,
                                vector.directions.begin()->second.size()));
    }
    vector.directions.emplace(*layer, std::move(values));
  }
  if (vector.directions.empty())
    throw Failure(path.string(), "it has no directions", "It must hold a tensor direction.N");
  return vector;
}

std::string ControlVectorBytes(const ControlVector& vector) {
  std::string bytes = "GGUF";
  Append<uint32_t>(bytes, 3);
  Append<uint64_t>(bytes, vector.directions.size());
  Append<uint64_t>(bytes, 3);  // number of metadata entries
  for (const auto& [key, text] :
       {std::pair{std::string_view("general.architecture"), kArchitecture},
        std::pair{kHint, std::string_view(vector.model_hint)}}) {
    AppendText(bytes, key);
    Append(bytes, GgufType::kString);
    AppendText(bytes, text);
  }
  AppendText(bytes, kLayerCount);
  Append(bytes, GgufType::kUint32);
  Append(bytes, static_cast<uint32_t>(vector.directions.size()));
  std::string data;
  for (const auto& [layer, values] : vector.directions) {
    Pad(data);
    AppendText(bytes, std::string(kDirectionPrefix) + std::to_string(layer));
    Append<uint32_t>(bytes, 1);  // number of dimensions
    Append<uint64_t>(bytes, values.size());
    Append(bytes, kernels::BlockType::kF32);
    Append<uint64_t>(bytes, data.size());
    for (const float value : values) Append(data, value);
  }
  Pad(bytes);
  Pad(data);
  return bytes + data;
}

std::string ControlVectorDigest(const ControlVector& vector) {
  std::string text;
  for (const auto& [layer, values] : vector.directions) {
    text += std::to_string(layer) + ' ' + std::to_string(values.size()) + ' ';
    for (const float value : values) Append(text, value);
  }
  return ShortDigest(text);
}

}  // namespace midscope
