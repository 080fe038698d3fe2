// SPDX-License-Identifier: MIT
#include "core/decoder/auto_dtype.h"

#include "core/compute/arithmetic.h"
#include "kernels/instruction_set.h"

namespace midscope {

kernels::Dtype AutoDtype(int64_t parameters, const Placement& placement, bool bfloat16_products) {
  if (placement.Has(DeviceKind::kCuda)) return kernels::Dtype::kBFloat16;
  const bool small = parameters <= kMostFloat32Parameters;
  return small || !bfloat16_products ? kernels::Dtype::kFloat32 : kernels::Dtype::kBFloat16;
}

kernels::Dtype AutoDtype(const ModelConfig& config, const Placement& placement) {
  return AutoDtype(config.parameters, placement, kernels::HasBFloat16Products());
}

std::string AutoDtypeText(const ModelConfig& config, const Placement& placement) {
  std::string text = "dtype: auto is " + DtypeName(AutoDtype(config, placement)) + ": ";
  if (placement.Has(DeviceKind::kCuda)) return text + "layers are on a GPU";
  constexpr int64_t kMillion = 1'000'000;
  text += "the model has " + std::to_string(config.parameters / kMillion) + " million parameters";
  if (config.parameters > kMostFloat32Parameters && !kernels::HasBFloat16Products())
    text += ", and this CPU has no products in bfloat16";
  return text;
}

}  // namespace midscope
