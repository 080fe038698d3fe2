// SPDX-License-Identifier: MIT
// Files of Jacobian lenses (Gurnee et al. 2026, "Verbalizable Representations Form a Global
// Workspace in Language Models", transformer-circuits.pub/2026/workspace): for each layer a matrix
// J that transports the residual stream after the layer to that after the last layer, so that the
// model's own final norm and output can decode it: lens(h) = W_U norm(J h). With J = I it is the
// logit lens.
//
// Two formats are read:
//   .pt          torch.save of {"J": {layer: [hidden, hidden]}, "n_prompts", "source_layers",
//                "d_model"}, as the reference implementation writes it (jlens/lens.py; read in its
//                fork senku14x/jacobian-lens at f86e1402) and neuronpedia/jacobian-lens publishes
//                it; with the additional dictionary "metadata" of TransformerLens 4.3
//   safetensors  tensors J.LAYER [hidden, hidden] and n_prompts [1] I64; Midscope's own, because a
//                pickle is not a format to write
// The elements are float16, bfloat16, float32 or float64; row i of J has the derivatives of element
// i of the last layer's stream.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/memory_map.h"
#include "core/formats/safetensors.h"

namespace midscope {

struct JacobianLens {
  int64_t hidden = 0;
  int64_t prompts = 0;  // number of prompts over which the matrices are averaged
  std::map<int64_t, std::vector<float>> matrices;  // keyed by layer: [hidden, hidden], row-major
};

// A lens whose matrices stay in the mapped file until they are read. Move-only.
class JacobianLensFile {
 public:
  // Throws Error naming the file for the faults of ReadTorchContents and ParseSafetensorsHeader, if
  // there are no matrices, if a matrix is not square or differs from the others in size or dtype,
  // and if d_model differs from their size.
  explicit JacobianLensFile(const std::filesystem::path& path);

  int64_t hidden() const { return hidden_; }
  int64_t prompts() const { return prompts_; }  // 0: the file does not say
  std::vector<int64_t> layers() const;          // ascending; not empty

  // Throws Error (usage) if the lens does not fit a model with this hidden size and number of
  // layers: the lens' layers must be below the last layer, which must be its target.
  void CheckFits(int64_t hidden, int64_t layers) const;

  // Returns the layer's matrix [hidden, hidden]. Throws Error if an element is not finite, and
  // std::logic_error for a layer that the file does not have.
  std::vector<float> Matrix(int64_t layer) const;
  JacobianLens ReadAll() const;

  // Returns the fit settings that WriteJacobianLens stored as `fit_text`; "" if the file has none.
  std::string FitText() const;

 private:
  MemoryMap map_;
  std::deque<std::vector<std::byte>> copies_;
  std::map<int64_t, SafetensorsTensor> matrices_;
  int64_t hidden_ = 0;
  int64_t prompts_ = 0;
  int64_t target_layer_ = -1;  // -1: the file does not say
  bool pickled_ = false;
};

// Writes a safetensors file in float32, whose metadata has `fit_text` as midscope_fit: JSON with
// the settings of the fit. Throws Error in the same cases as WriteSafetensors.
void WriteJacobianLens(const std::filesystem::path& path, const JacobianLens& lens,
                       const std::string& fit_text);

}  // namespace midscope
