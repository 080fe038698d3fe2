// SPDX-License-Identifier: MIT
#include "core/formats/jacobian_lens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/formats/safetensors.h"
#include "core/formats/torch_file.h"
#include "kernels/check.h"
#include "kernels/types.h"

namespace midscope {
namespace {

constexpr std::string_view kTorchMatrices = "J";
constexpr std::string_view kMatrixPrefix = "J.";
constexpr const char* kPrompts = "n_prompts";
constexpr const char* kFit = "midscope_fit";
constexpr int64_t kMostLensLayers = 1 << 16;
constexpr std::array<std::string_view, 4> kElementTypes = {"F32", "F16", "BF16", "F64"};

// Parses a layer such as "12". Only one spelling is accepted, so that no layer is named twice.
std::optional<int64_t> LayerOfDigits(std::string_view digits) {
  int64_t layer = 0;
  const bool is_layer = ReadWhole(digits, layer) && layer >= 0 && layer < kMostLensLayers;
  if (!is_layer || std::to_string(layer) != digits) return std::nullopt;
  return layer;
}

template <class T>
void ConvertElements(const SafetensorsTensor& tensor, std::vector<float>* to) {
  for (size_t i = 0; i < to->size(); ++i) {
    T element;
    std::memcpy(&element, tensor.data + i * sizeof(T), sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      (*to)[i] = static_cast<float>(element);
    } else {
      (*to)[i] = kernels::ToFloat(element);
    }
  }
}

}  // namespace

JacobianLensFile::JacobianLensFile(const std::filesystem::path& path) : map_(path) {
  const std::string thing = path.string();
  SafetensorsTensors tensors;
  pickled_ = map_.size() > 1 && std::memcmp(map_.data(), "PK", 2) == 0;
  if (pickled_) {
    TorchContents contents = ReadTorchContents(map_.bytes(), thing, kTorchMatrices, &copies_);
    tensors = std::move(contents.tensors);
    const auto number = [&](const char* name, int64_t missing) {
      const auto found = contents.integers.find(name);
      return found == contents.integers.end() ? missing : found->second;
    };
    hidden_ = number("d_model", 0);
    prompts_ = number(kPrompts, 0);
    target_layer_ = number("metadata.target_layer", -1);
  } else {
    for (const auto& [name, tensor] : ParseSafetensorsHeader(map_.bytes(), thing)) {
      if (name.starts_with(kMatrixPrefix)) {
        tensors.emplace(name.substr(kMatrixPrefix.size()), tensor);
      } else if (name == kPrompts && tensor.dtype == "I64" && tensor.bytes == sizeof(prompts_)) {
        std::memcpy(&prompts_, tensor.data, sizeof(prompts_));
      }
    }
  }
  for (const auto& [name, tensor] : tensors) {
    const std::optional<int64_t> layer = LayerOfDigits(name);
    const std::string what = "its matrix " + Quote(name, 40);
    if (!layer) {
      throw Failure(thing, what + " names no layer",
                    fmt::format("Layers are integers from 0 to {}", kMostLensLayers - 1));
    }
    const std::vector<int64_t>& shape = tensor.shape;
    if (hidden_ == 0 && !shape.empty()) hidden_ = shape.front();
    if (shape.size() != 2 || shape[0] != hidden_ || shape[1] != hidden_ || hidden_ <= 0) {
      throw Failure(thing,
                    fmt::format("{} has the shape [{}]; it must be [{}, {}]", what,
                                fmt::join(shape, ", "), hidden_, hidden_),
                    "Fit the lens again, or fetch it again");
    }
    if (std::find(kElementTypes.begin(), kElementTypes.end(), tensor.dtype) == kElementTypes.end())
      throw Failure(thing, what + " is " + tensor.dtype,
                    "Save it as float16, bfloat16, float32 or float64");
    matrices_.emplace(*layer, tensor);
  }
  if (matrices_.empty()) {
    throw Failure(thing, "it has no tensor J.LAYER, so it is not a Jacobian lens",
                  "Name a file of midscope lens, or a lens .pt of jlens or TransformerLens");
  }
  if (prompts_ < 0) throw Failure(thing, "its n_prompts is negative", "Fit the lens again");
}

std::vector<int64_t> JacobianLensFile::layers() const {
  std::vector<int64_t> layers;
  for (const auto& [layer, tensor] : matrices_) layers.push_back(layer);
  return layers;
}

void JacobianLensFile::CheckFits(int64_t hidden, int64_t layers) const {
  const std::string thing = map_.path().string();
  const char* remedy = "Use the lens of this model; midscope lens fits one";
  if (hidden != hidden_) {
    throw UsageError(
        thing,
        fmt::format("its matrices are {0} x {0}; the model's hidden size is {1}", hidden_, hidden),
        remedy);
  }
  const int64_t last = matrices_.rbegin()->first;
  if (last >= layers - 1) {
    throw UsageError(thing,
                     fmt::format("it has a matrix of layer {}; the model's layers before the last "
                                 "one are 0 to {}",
                                 last, layers - 2),
                     remedy);
  }
  if (target_layer_ >= 0 && target_layer_ != layers - 1) {
    throw UsageError(thing,
                     fmt::format("it transports to layer {}; the model's last layer is {}",
                                 target_layer_, layers - 1),
                     remedy);
  }
}

std::vector<float> JacobianLensFile::Matrix(int64_t layer) const {
  const auto found = matrices_.find(layer);
  MIDSCOPE_CHECK(found != matrices_.end(), "the lens has no matrix of this layer");
  const SafetensorsTensor& tensor = found->second;
  std::vector<float> matrix(static_cast<size_t>(hidden_ * hidden_));
  if (tensor.dtype == "F32") {
    ConvertElements<float>(tensor, &matrix);
  } else if (tensor.dtype == "F64") {
    ConvertElements<double>(tensor, &matrix);
  } else if (tensor.dtype == "F16") {
    ConvertElements<kernels::Float16>(tensor, &matrix);
  } else {
    ConvertElements<kernels::BFloat16>(tensor, &matrix);
  }
  map_.CheckWhole();
  if (!std::all_of(matrix.begin(), matrix.end(), [](float x) { return std::isfinite(x); })) {
    throw Failure(map_.path().string(),
                  fmt::format("its matrix of layer {} has an element that is not finite", layer),
                  "Fit the lens again in float32");
  }
  return matrix;
}

JacobianLens JacobianLensFile::ReadAll() const {
  JacobianLens lens{hidden_, prompts_, {}};
  for (const int64_t layer : layers()) lens.matrices.emplace(layer, Matrix(layer));
  return lens;
}

std::string JacobianLensFile::FitText() const {
  if (pickled_) return "";
  const auto metadata = SafetensorsMetadata(map_.bytes(), map_.path().string());
  const auto found = metadata.find(kFit);
  return found == metadata.end() ? "" : found->second;
}

void WriteJacobianLens(const std::filesystem::path& path, const JacobianLens& lens,
                       const std::string& fit_text) {
  SafetensorsTensors tensors;
  for (const auto& [layer, matrix] : lens.matrices) {
    tensors[std::string(kMatrixPrefix) + std::to_string(layer)] = {
        "F32",
        {lens.hidden, lens.hidden},
        reinterpret_cast<const std::byte*>(matrix.data()),
        static_cast<int64_t>(matrix.size() * sizeof(float))};
  }
  tensors[kPrompts] = {"I64",
                       {1},
                       reinterpret_cast<const std::byte*>(&lens.prompts),
                       static_cast<int64_t>(sizeof(lens.prompts))};
  WriteSafetensors(path, tensors, {{kFit, fit_text}});
}

}  // namespace midscope
