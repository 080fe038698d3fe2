// SPDX-License-Identifier: MIT
// The arithmetic of a model: the dtype of its activations, and the products with quantised weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model_config.h"
#include "kernels/types.h"

namespace midscope {

// Arithmetic of products with quantised weights. kFloat: weights as floating-point numbers. kInt16
// and kInt8: the file's integers with inputs rounded to 16 or 8 bits in blocks of 32
// (kernels/quantised/whole_number_product.h); formats that have no such product are multiplied as
// with kFloat.
enum class Products { kFloat, kInt16, kInt8 };

struct Arithmetic {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  Products products = Products::kFloat;
  bool operator==(const Arithmetic&) const = default;
};

// "float32", "bfloat16", "float16".
std::string DtypeName(kernels::Dtype dtype);

// As options and files call them: "float", "int16", "int8".
std::string ProductsName(Products products);
std::vector<std::string> ProductsNames();
// nullopt: none has this name.
std::optional<Products> FindProducts(std::string_view name);

// The difference from float32 with products in float: "bfloat16", "int16", "bfloat16 with int8";
// "float32" for nothing.
std::string ArithmeticName(const Arithmetic& arithmetic);

// The storage of a model's matrices during runs.

// kExpanded: dequantised to the run's dtype when the model is opened. kStored: as in the file,
// dequantised in the products. kAuto: expanded where that takes at most 1 GiB.
enum class WeightStorage { kAuto, kStored, kExpanded };

// Resolves kAuto for this model; others are returned unchanged. Integer products read the file's
// integers: kAuto is then kStored.
WeightStorage ResolveStorage(WeightStorage asked, const ModelConfig& config, kernels::Dtype dtype,
                             Products products = Products::kFloat);

// Whether expanded matrices of layers on the CPU are packed (WeightMatrix::Pack). bfloat16: where
// the CPU multiplies it, and all copies together take no more than `auto` allows expanded weights.
// float32: on x86, where our product was measured to be as fast as LibTorch's or faster.
bool PacksExpanded(const ModelConfig& config, kernels::Dtype dtype);

// Bytes that packing adds to expanded weights and the blocks beside them: bfloat16 weights that are
// not quantised are stored packed, and also unpacked for products of few rows.
int64_t PackedBytesBeside(const ModelConfig& config, kernels::Dtype dtype);

// Rows of a stored matrix with `inputs` columns that are dequantised at a time.
int64_t WeightsAtOnce(int64_t inputs, kernels::Dtype dtype);

// Bytes that products of stored weights need beside the file: the block of dequantised rows.
int64_t StoredScratchBytes(const ModelConfig& config, kernels::Dtype dtype);

}  // namespace midscope
