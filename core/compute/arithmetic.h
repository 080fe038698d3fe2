// SPDX-License-Identifier: MIT
// The arithmetic of a model: the dtype of its activations, and the products with quantised weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compute/placement.h"
#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Arithmetic of products with quantised weights. kFloat: weights as floating-point numbers. kInt16
// and kInt8: the file's integers with inputs rounded to 16 or 8 bits in blocks of 32
// (kernels/quantised/whole_number_product.h); formats without such a product are multiplied as with
// kFloat.
enum class Products { kFloat, kInt16, kInt8 };

struct Arithmetic {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  Products products = Products::kFloat;
  bool operator==(const Arithmetic&) const = default;
};

// Returns "float32", "bfloat16" or "float16".
std::string DtypeName(kernels::Dtype dtype);

// Returns the name of the product arithmetic in options and files: "float", "int16", "int8".
std::string ProductsName(Products products);
std::vector<std::string> ProductsNames();
// Returns the value that ProductsName names; nullopt for an unknown name.
std::optional<Products> FindProducts(std::string_view name);

// Returns how the arithmetic differs from float32 without integer products: "bfloat16", "int16",
// "bfloat16 with int8"; "float32" if there is none.
std::string ArithmeticName(const Arithmetic& arithmetic);

// How a model's weight matrices are stored in memory during runs.

// kExpanded: dequantised to the run's dtype when the model is opened. kStored: as in the file,
// dequantised during products. kAuto: expanded if that takes at most 1 GiB.
enum class WeightStorage { kAuto, kStored, kExpanded };

// Whether the model must be expanded, because its file has matrices that products cannot read:
// neither floats of at least 2 bytes nor quantised blocks (FP8, for example).
bool MustExpand(const ModelConfig& config);

// Returns the storage for this model. kAuto becomes kExpanded or kStored; with integer products it
// becomes kStored, because they read the file's integers. Other values are returned unchanged, but
// if MustExpand is true, the result is kExpanded.
WeightStorage ResolveStorage(WeightStorage requested, const ModelConfig& config,
                             kernels::Dtype dtype, Products products = Products::kFloat);

// Whether expanded matrices of layers on the CPU are packed (WeightMatrix::Pack). bfloat16: if the
// CPU has bfloat16 instructions and all copies together take at most 1 GiB. float32: on x86, where
// Midscope's product was measured to be at least as fast as LibTorch's.
bool PacksExpanded(const ModelConfig& config, kernels::Dtype dtype);

// Returns the bytes that packing adds to expanded weights and the blocks stored with them: bfloat16
// weights that are not quantised are stored both packed and, for products of few rows, unpacked.
int64_t PackedBytesBeside(const ModelConfig& config, kernels::Dtype dtype);

// Returns how many rows of a stored matrix with `inputs` columns are dequantised at a time.
int64_t WeightsAtOnce(int64_t inputs, kernels::Dtype dtype);

// Returns the bytes that products of stored weights need in addition to the file: the block of
// dequantised rows.
int64_t StoredScratchBytes(const ModelConfig& config, kernels::Dtype dtype);

// The rule of --dtype auto depends on the model and the machine, never on a measurement, so that
// the same command gives the same numbers.

// Largest parameter count for float32 by --dtype auto. "1.5B" models have up to 1.54e9.
inline constexpr int64_t kMostFloat32Parameters = 1'550'000'000;

// Returns bfloat16 if any layer is on a GPU, or if the model has more than kMostFloat32Parameters
// parameters and the CPU has bfloat16 instructions; else float32. Differences of less than 0.1 nats
// between settings are noise in bfloat16, and a small model takes little time in float32.
kernels::Dtype AutoDtype(int64_t parameters, const Placement& placement, bool bfloat16_products);

// Returns the dtype of --dtype auto for this model and this machine's CPU.
kernels::Dtype AutoDtype(const ModelConfig& config, const Placement& placement);

// Returns "dtype: auto is float32: the model has 135M parameters".
std::string AutoDtypeText(const ModelConfig& config, const Placement& placement);

}  // namespace midscope
