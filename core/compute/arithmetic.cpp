// SPDX-License-Identifier: MIT
#include "core/compute/arithmetic.h"

#include <algorithm>

#include "core/base/text.h"
#include "kernels/instruction_set.h"

namespace midscope {

namespace {

struct NamedProducts {
  Products products;
  const char* name;
};
constexpr NamedProducts kNamedProducts[] = {
    {Products::kFloat, "float"}, {Products::kInt16, "int16"}, {Products::kInt8, "int8"}};

}  // namespace

std::string DtypeName(kernels::Dtype dtype) {
  switch (dtype) {
    case kernels::Dtype::kFloat32:
      return "float32";
    case kernels::Dtype::kBFloat16:
      return "bfloat16";
    case kernels::Dtype::kFloat16:
      return "float16";
  }
  return "";
}

std::string ProductsName(Products products) {
  for (const NamedProducts& each : kNamedProducts) {
    if (each.products == products) return each.name;
  }
  return "";
}

std::vector<std::string> ProductsNames() { return NamesIn(kNamedProducts); }

std::optional<Products> FindProducts(std::string_view name) {
  for (const NamedProducts& each : kNamedProducts) {
    if (each.name == name) return each.products;
  }
  return std::nullopt;
}

std::string ArithmeticName(const Arithmetic& arithmetic) {
  if (arithmetic.products == Products::kFloat) return DtypeName(arithmetic.dtype);
  const std::string products = ProductsName(arithmetic.products);
  return arithmetic.dtype == kernels::Dtype::kFloat32
             ? products
             : DtypeName(arithmetic.dtype) + " with " + products;
}

namespace {

// The largest size of expanded weights that kAuto accepts. Small models run fastest expanded; for
// large ones, the machine may not have enough memory for a copy of the weights.
constexpr int64_t kExpandedBytes = int64_t{1} << 30;

}  // namespace

bool MustExpand(const ModelConfig& config) {
  return config.quantised_bytes == 0 && config.stored_bytes > 0 &&
         config.stored_bytes < 2 * config.parameters;
}

WeightStorage ResolveStorage(WeightStorage requested, const ModelConfig& config,
                             kernels::Dtype dtype, Products products) {
  if (MustExpand(config)) return WeightStorage::kExpanded;
  if (requested != WeightStorage::kAuto) return requested;
  if (products != Products::kFloat) return WeightStorage::kStored;
  return config.parameters <= kExpandedBytes / kernels::SizeOf(dtype) ? WeightStorage::kExpanded
                                                                      : WeightStorage::kStored;
}

bool PacksExpanded(const ModelConfig& config, kernels::Dtype dtype) {
#if defined(__x86_64__)
  constexpr bool kPacksFloat32 = true;
#else
  constexpr bool kPacksFloat32 = false;
#endif
  if (config.experts.count > 0 || config.latent.used()) return false;
  if (dtype == kernels::Dtype::kFloat32) return kPacksFloat32;
  return dtype == kernels::Dtype::kBFloat16 && kernels::HasBFloat16Products() &&
         config.parameters <= kExpandedBytes / (2 * kernels::SizeOf(dtype));
}

int64_t PackedBytesBeside(const ModelConfig& config, kernels::Dtype dtype) {
  const bool beside = dtype == kernels::Dtype::kBFloat16 && config.quantised_bytes == 0 &&
                      PacksExpanded(config, dtype);
  return beside ? config.parameters * kernels::SizeOf(dtype) : 0;
}

// Returns a number of rows that fits a cache, but lets a matrix product reach its full speed.
int64_t WeightsAtOnce(int64_t inputs, kernels::Dtype dtype) {
  constexpr int64_t kBytes = int64_t{8} << 20;
  constexpr int64_t kMultiple = 64;
  const int64_t rows = kBytes / (inputs * kernels::SizeOf(dtype));
  return std::max(kMultiple, rows / kMultiple * kMultiple);
}

int64_t StoredScratchBytes(const ModelConfig& config, kernels::Dtype dtype) {
  int64_t most = 0;
  for (const int64_t inputs : {config.hidden, config.feed_forward, config.heads * config.head_dim,
                               std::max<int64_t>(config.experts.width, 1),
                               std::max<int64_t>(config.experts.shared_width, 1)}) {
    most = std::max(most, WeightsAtOnce(inputs, dtype) * inputs * kernels::SizeOf(dtype));
  }
  return most;
}

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
