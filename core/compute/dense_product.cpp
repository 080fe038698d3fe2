// SPDX-License-Identifier: MIT
#include "core/compute/dense_product.h"

#include <ATen/ATen.h>
#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string_view>

#include "kernels/instruction_set.h"

#ifdef MIDSCOPE_ONEDNN_PRODUCTS
// LibTorch exports these functions, but installs no header that declares them; core/CMakeLists.txt
// checks that they exist.
namespace at::native {
void mkldnn_matmul(const Tensor& a, const Tensor& b, const Tensor& result, float beta, float alpha);
Tensor mkldnn_linear_pointwise(const Tensor& x, const Tensor& weight,
                               const std::optional<Tensor>& bias, std::string_view attribute,
                               c10::List<std::optional<at::Scalar>> scalars,
                               std::optional<std::string_view> algorithm);
}  // namespace at::native
#endif

namespace midscope {
namespace {

#ifdef MIDSCOPE_ONEDNN_PRODUCTS
enum class FloatProduct {
  kMkl,
  kOneDnn,        // into `out`
  kOneDnnCopied,  // into a new tensor that is copied to `out`: oneDNN cannot write into `out` here
};

bool OneDnnWritesInPlace() {
  const at::Tensor one = at::ones({1, 1}, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor out = at::empty_like(one);
  try {
    at::native::mkldnn_matmul(one, one, out, /*beta=*/0.0f, /*alpha=*/1.0f);
  } catch (const c10::Error&) {
    return false;
  }
  return true;
}

FloatProduct Choose() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_is("intel") || !__builtin_cpu_supports("avx2") || !at::hasMKLDNN())
    return FloatProduct::kMkl;
  return OneDnnWritesInPlace() ? FloatProduct::kOneDnn : FloatProduct::kOneDnnCopied;
#else
  return FloatProduct::kMkl;
#endif
}

FloatProduct Chosen() {
  static const FloatProduct product = Choose();
  return product;
}

at::Tensor Linear(const at::Tensor& x, const at::Tensor& weight) {
  return at::native::mkldnn_linear_pointwise(x, weight, std::nullopt, "none",
                                             c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

// Computes the product by oneDNN, or returns false if MKL's product must be used.
bool MultiplyByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) {
  switch (Chosen()) {
    case FloatProduct::kMkl:
      return false;
    case FloatProduct::kOneDnn:
      at::native::mkldnn_matmul(x, weight.t(), out, /*beta=*/0.0f, /*alpha=*/1.0f);
      return true;
    case FloatProduct::kOneDnnCopied:
      // Multiplies all rows at once: every call packs the weights, which costs more than copying
      // results that have left the cache.
      out.copy_(Linear(x, weight));
      return true;
  }
  return false;
}
#endif

}  // namespace

void DenseProduct(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) {
#ifdef MIDSCOPE_ONEDNN_PRODUCTS
  if (x.scalar_type() == at::kFloat && MultiplyByOneDnn(x, weight, out)) return;
#endif
  at::Tensor result = out;
  at::mm_out(result, x, weight.t());
}

at::Tensor DenseProduct(const at::Tensor& x, const at::Tensor& weight) {
#ifdef MIDSCOPE_ONEDNN_PRODUCTS
  if (x.scalar_type() == at::kFloat && Chosen() == FloatProduct::kOneDnnCopied)
    return Linear(x, weight);
#endif
  at::Tensor out = at::empty({x.size(0), weight.size(0)}, x.options());
  DenseProduct(x, weight, out);
  return out;
}

at::Tensor PackedWeight([[maybe_unused]] const at::Tensor& weight) {
#ifdef MIDSCOPE_ONEDNN_PRODUCTS
  // oneDNN chooses the layout for this many rows; other large numbers of rows can use it too.
  constexpr int64_t kRows = 1024;
  static const auto reorder =
      c10::Dispatcher::singleton().findSchema({"mkldnn::_reorder_linear_weight", ""});
  if (!reorder || !kernels::HasBFloat16Products()) return {};
  try {
    return reorder->typed<at::Tensor(const at::Tensor&, std::optional<int64_t>)>().call(weight,
                                                                                        kRows);
  } catch (const c10::Error&) {
    return {};  // ONEDNN_MAX_CPU_ISA may forbid oneDNN instructions that the kernels may use
  }
#else
  return {};
#endif
}

at::Tensor PackedProduct(const at::Tensor& x, const at::Tensor& packed) {
#ifdef MIDSCOPE_ONEDNN_PRODUCTS
  return Linear(x, packed);
#else
  return DenseProduct(x, packed);  // PackedWeight returns undefined here
#endif
}

}  // namespace midscope
