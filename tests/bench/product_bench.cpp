// SPDX-License-Identifier: MIT
// Measures matrix products alone, at the shapes of the embedded model's layers with 512 rows: an
// upper bound for the speed of prefill. Prints one JSON object with GFLOP/s (the best of several)
// of LibTorch's at::mm and of the product that Midscope uses (float32:
// kernels/quantised/float_product.h with panels, if expanded weights are stored in them; bfloat16:
// core/compute/dense_product.h with packed weights), and the instruction sets in use.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "core/base/timing.h"
#include "core/compute/arithmetic.h"
#include "core/compute/aten_executor.h"
#include "core/compute/dense_product.h"
#include "core/compute/process_start.h"
#include "kernels/instruction_set.h"
#include "kernels/quantised/float_product.h"

namespace {

constexpr int64_t kRows = 512;
constexpr int kRepeats = 12;
struct Shape {
  int64_t outputs;
  int64_t inputs;
};
// The matrices q, k and v; output of attention; gate and up; down.
constexpr Shape kShapes[] = {{960, 576}, {576, 576}, {3072, 576}, {576, 1536}};

using Product = std::function<void()>;
using MakeProduct =
    std::function<Product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out)>;

double Gigaflops(at::ScalarType dtype, const MakeProduct& make) {
  double flops = 0;
  double seconds = 0;
  const auto options = at::TensorOptions().dtype(dtype);
  for (const Shape& shape : kShapes) {
    const at::Tensor x = at::randn({kRows, shape.inputs}).to(dtype);
    const at::Tensor weight = at::randn({shape.outputs, shape.inputs}).to(dtype);
    const at::Tensor out = at::empty({kRows, shape.outputs}, options);
    const Product product = make(x, weight, out);
    double least = 1e300;
    for (int i = 0; i < kRepeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      product();
      least = std::min(least, midscope::SecondsSince(start));
    }
    flops += 2.0 * static_cast<double>(kRows * shape.outputs * shape.inputs);
    seconds += least;
  }
  return flops / seconds * 1e-9;
}

Product ByAten(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) {
  return [=] {
    at::Tensor result = out;
    at::mm_out(result, x, weight.t());
  };
}

Product ByPanels(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) {
  using midscope::kernels::Dtype;
  const int64_t outputs = weight.size(0);
  const int64_t inputs = weight.size(1);
  const midscope::kernels::BlockMatrix matrix{midscope::kernels::BlockType::kF32,
                                              weight.const_data_ptr(),
                                              inputs * static_cast<int64_t>(sizeof(float)),
                                              {},
                                              outputs,
                                              inputs};
  const at::Tensor panels =
      at::empty({midscope::kernels::FloatPanelSize(outputs, inputs)}, weight.options());
  midscope::kernels::FillFloatPanels(matrix, panels.data_ptr<float>(), midscope::AtenExecutor());
  return [=] {
    const midscope::AtenExecutor executor;
    const midscope::kernels::FloatInput input(x.const_data_ptr(), Dtype::kFloat32, x.size(0),
                                              inputs, executor);
    midscope::kernels::FloatProduct({panels.const_data_ptr<float>(), outputs, inputs}, input,
                                    out.data_ptr(), Dtype::kFloat32, outputs, executor);
  };
}

Product ByMidscope(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& out) {
  if (x.scalar_type() == at::kFloat) {
    if (midscope::PacksExpanded({}, midscope::kernels::Dtype::kFloat32))
      return ByPanels(x, weight, out);
    return [=] { midscope::DenseProduct(x, weight); };
  }
  const at::Tensor packed = midscope::PackedWeight(weight);
  if (packed.defined()) return [=] { midscope::PackedProduct(x, packed); };
  return [=] { midscope::DenseProduct(x, weight); };
}

}  // namespace

int main(int /*argc*/, char** argv) {
  midscope::PrepareProcess(argv);
  const c10::InferenceMode inference;
  std::printf("{\"instructions\": \"%s\"", midscope::kernels::InstructionSetName().c_str());
  for (const auto& [name, dtype] :
       {std::pair{"float32", at::kFloat}, {"bfloat16", at::kBFloat16}}) {
    std::printf(", \"%s\": {\"aten\": %.1f, \"midscope\": %.1f}", name, Gigaflops(dtype, ByAten),
                Gigaflops(dtype, ByMidscope));
  }
  std::printf("}\n");
  return 0;
}
