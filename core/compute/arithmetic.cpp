// SPDX-License-Identifier: MIT
#include "core/compute/arithmetic.h"

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

std::vector<std::string> ProductsNames() {
  std::vector<std::string> names;
  for (const NamedProducts& each : kNamedProducts) names.emplace_back(each.name);
  return names;
}

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

}  // namespace midscope
