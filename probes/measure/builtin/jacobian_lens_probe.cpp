// SPDX-License-Identifier: MIT
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/formats/jacobian_lens.h"
#include "probes/measure/builtin/layer_lens.h"
#include "probes/measure/builtin/probes.h"

namespace midscope {
namespace {

constexpr const char* kJacobianLens = "jacobian_lens";
constexpr const char* kLensFile = "lens-file";

}  // namespace

ProbeType JacobianLensProbe() {
  ProbeType type;
  type.name = kJacobianLens;
  type.summary =
      "as logit_lens, with the rows transported to the last block by a lens of midscope lens or a "
      "published one";
  type.source =
      "Gurnee et al. 2026, 'Verbalizable Representations Form a Global Workspace in Language "
      "Models'";
  type.departures =
      "none in the formula, lens(h) = W_U norm(J h); by default the last prompt row, where the "
      "public code reads all rows";
  type.limits =
      "works for every family; the lens must be of this model. Layers without a matrix are left "
      "out; the last layer has the identity";
  type.options = {FileParameter(kLensFile,
                                "the lens: .safetensors of midscope lens, or .pt of jlens or "
                                "TransformerLens")};
  for (const Parameter& option : LayerLensOptions()) type.options.push_back(option);
  type.on_request = true;
  type.make = [](const ProbeInput& input) {
    const std::string& file = input.options.Text(kLensFile);
    if (file.empty()) {
      throw UsageError(std::string("probe '") + kJacobianLens + "'", "it reads a lens from a file",
                       "Give --lens-file; midscope lens fits one");
    }
    return MakeLayerLens(input, kJacobianLens, std::make_unique<const JacobianLensFile>(file));
  };
  type.summarise = SummariseLayerLens;
  return type;
}

}  // namespace midscope
