// SPDX-License-Identifier: MIT
// A matrix product on the CPU by whichever library of LibTorch is faster there. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

namespace midscope {

// out = x weight^T. x [rows, inputs], weight [outputs, inputs] and out [rows, outputs] of one
// dtype, with contiguous rows. Sums are float32 in any dtype.
//
// In float32 LibTorch's own product is MKL's, which on CPUs that Intel did not make uses neither
// AVX-512 nor its best code for AVX2: there it is oneDNN's, 2.2 times faster with AVX-512 and 1.1
// to 1.2 times with AVX2 (Zen 5, tests/bench/FIGURES.md). The rule is the maker and not a
// measurement, so that a machine gives the same bits every time.
void DenseProduct(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out);

// The result in a tensor of its own. oneDNN returns some products so, of which the former copies.
at::Tensor DenseProduct(const at::Tensor& x, const at::Tensor& weight);

// A weight [outputs, inputs] in bfloat16 as oneDNN keeps it for itself: else every product of many
// rows reorders it anew, which takes 3 % of one of 512 rows and 8 % of one of 2,048 (Zen 4).
// Undefined where LibTorch has no such operation, or the CPU does not multiply bfloat16.
at::Tensor PackedWeight(const at::Tensor& weight);

// x weight^T with the weight from PackedWeight.
at::Tensor PackedProduct(const at::Tensor& x, const at::Tensor& packed);

}  // namespace midscope
