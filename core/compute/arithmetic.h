// SPDX-License-Identifier: MIT
// What a model computes in: the dtype of its activations, and the products with quantised weights.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/types.h"

namespace midscope {

// Arithmetic of products with quantised weights. kFloat: weights as floating-point numbers. kInt16
// and kInt8: the file's whole numbers with inputs rounded to 16 or 8 bits in blocks of 32
// (kernels/whole_number_product.h); formats that have no such product are multiplied as with
// kFloat.
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

// What differs from float32 with products in float: "bfloat16", "int16", "bfloat16 with int8";
// "float32" for nothing.
std::string ArithmeticName(const Arithmetic& arithmetic);

}  // namespace midscope
