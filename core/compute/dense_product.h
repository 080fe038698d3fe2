// SPDX-License-Identifier: MIT
// Matrix products on the CPU by MKL or oneDNN, whichever is faster there. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

namespace midscope {

// Computes out = x weight^T. x [rows, inputs], weight [outputs, inputs] and out [rows, outputs]
// have one dtype and contiguous rows. Sums are float32 for any dtype.
//
// In float32, LibTorch's own product is MKL's, which on CPUs not made by Intel uses neither AVX-512
// nor its best code for AVX2. On these CPUs oneDNN's is used: 2.2 times faster with AVX-512 and 1.1
// to 1.2 times with AVX2 (Zen 5, tests/bench/FIGURES.md). The choice depends on the CPU's maker
// instead of a measurement, so that a machine gives the same bits every time.
void DenseProduct(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out);

// Returns x weight^T in a new tensor, which saves a copy if oneDNN itself makes a new tensor.
at::Tensor DenseProduct(const at::Tensor& x, const at::Tensor& weight);

// Returns a bfloat16 weight [outputs, inputs] in oneDNN's internal layout. With an ordinary weight,
// every product of many rows reorders it again, which takes 3 % of a product of 512 rows and 8 % of
// one of 2,048 (Zen 4). Returns an undefined tensor if LibTorch has no such operation or the CPU
// has no bfloat16 products.
at::Tensor PackedWeight(const at::Tensor& weight);

// Returns x weight^T, with the weight from PackedWeight.
at::Tensor PackedProduct(const at::Tensor& x, const at::Tensor& packed);

}  // namespace midscope
