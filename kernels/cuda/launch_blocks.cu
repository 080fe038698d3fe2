// SPDX-License-Identifier: MIT
#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/quantised_matrix_vector.h"
#include "kernels/cuda/start.cuh"

namespace midscope::kernels::cuda {
namespace {

template <class Format>
__global__ void DequantiseKernel(const DequantiseArguments arguments) {
  GpuMachine machine(SharedBytes());
  DequantiseBlock<Format>(machine, arguments);
}

template <class Format, int kRows>
__global__ void __launch_bounds__(kProductThreads, kRows == 1 ? ProductBlocks(Format::kType) : 1)
    QuantisedMatrixVectorKernel(const QuantisedMatrixVectorArguments arguments) {
  GpuMachine machine(SharedBytes(), StartsEarly());
  QuantisedMatrixVectorBlock<Format, kRows, GpuMachine>(machine, arguments).Run();
}

}  // namespace

void Dequantise(BlockType type, const DequantiseArguments& arguments) {
  VisitFormat(type, [&]<class Format>(Format) {
    Start(DequantiseKernel<Format>, DequantiseGrid<Format>(arguments), arguments, "dequantisation");
  });
}

void QuantisedMatrixVector(BlockType type, const QuantisedMatrixVectorArguments& arguments) {
  VisitFormat(type, [&]<class Format>(Format) {
    WithProductRows(arguments.rows, [&]<int kRows>(std::integral_constant<int, kRows>) {
      Start(QuantisedMatrixVectorKernel<Format, kRows>,
            QuantisedMatrixVectorGrid<Format, kRows>(arguments), arguments,
            "product with quantised weights");
    });
  });
}

}  // namespace midscope::kernels::cuda
