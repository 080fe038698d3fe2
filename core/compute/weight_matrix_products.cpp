// SPDX-License-Identifier: MIT
// The matrix products of WeightMatrix on the CPU.
#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "core/compute/arithmetic.h"
#include "core/compute/dense_product.h"
#include "core/compute/weight_matrix.h"
#include "kernels/instruction_set.h"
#include "kernels/matrix_vector.h"
#include "kernels/quantised/float_product.h"
#include "kernels/quantised/quantised_matrix_vector.h"
#include "kernels/quantised/quantised_product.h"
#include "kernels/quantised/whole_number_product.h"
#include "kernels/scratch.h"

namespace midscope {
namespace {

// Rows of x multiplied between two checks of the cancel flag; limits the memory of packed rows.
constexpr int64_t kRowChunk = 1024;
// Number of rows of x between two checks in a product with panels. Chunks have no fixed cost there,
// and the sums of this many rows stay in the L2 cache.
constexpr int64_t kPanelRowChunk = 512;

// Work of a product by LibTorch between two checks of the cancel flag: up to this many
// multiply-adds (5 to 10 ms on two cores), or, with wide matrices, the smallest block that keeps
// the cores busy. Every block packs its weights again.
constexpr int64_t kMultiplyAdds = int64_t{1} << 30;
constexpr int64_t kLeastRows = 256;
constexpr int64_t kLeastOutputs = 1024;

struct ProductBlock {
  int64_t rows;
  int64_t outputs;
};

ProductBlock BlockOf(int64_t inputs, int64_t outputs) {
  constexpr int64_t kMultiple = 64;
  const auto rounded = [](int64_t value) { return value / kMultiple * kMultiple; };
  const int64_t rows =
      std::clamp(rounded(kMultiplyAdds / (inputs * outputs)), kLeastRows, kRowChunk);
  return {rows, std::max(rounded(kMultiplyAdds / (inputs * rows)), kLeastOutputs)};
}

// Work of a product with a packed matrix, or into a new tensor, between two checks (10 to 20 ms on
// two cores).
constexpr int64_t kWholeMultiplyAdds = int64_t{1} << 31;
// With fewer rows than this, bfloat16 products with a quantised matrix' blocks are faster than with
// the expanded matrix, and as fast as with a packed one.
constexpr int64_t kDenseRows = 128;

struct WeightTag {};

kernels::RoundedBits BitsOf(Products products) {
  return products == Products::kInt8 ? kernels::RoundedBits::k8 : kernels::RoundedBits::k16;
}

// Computes y = x weight^T.
void MultiplyExpanded(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& y,
                      const JobContext& job) {
  const int64_t outputs = weight.size(0);
  const ProductBlock block = BlockOf(weight.size(1), outputs);
  const int64_t blocks = (x.size(0) + block.rows - 1) / block.rows;
  const int64_t rows = (x.size(0) + blocks - 1) / blocks;
  for (int64_t first_output = 0; first_output < outputs; first_output += block.outputs) {
    const int64_t width = std::min(block.outputs, outputs - first_output);
    const at::Tensor block_of_weight = weight.narrow(0, first_output, width);
    for (int64_t first = 0; first < x.size(0); first += rows) {
      job.ThrowIfCancelled();
      const int64_t count = std::min(rows, x.size(0) - first);
      DenseProduct(x.narrow(0, first, count), block_of_weight,
                   y.narrow(0, first, count).narrow(1, first_output, width));
    }
  }
}

// Computes y = x weight^T in bfloat16 matrix tiles, with a matrix as stored in the file.
void MultiplyInTiles(const kernels::BlockMatrix& weight, const at::Tensor& x, const at::Tensor& y,
                     const ProductContext& context) {
  for (int64_t first = 0; first < x.size(0); first += kRowChunk) {
    const int64_t count = std::min(kRowChunk, x.size(0) - first);
    const auto* from = static_cast<const kernels::BFloat16*>(x.narrow(0, first, count).data_ptr());
    auto* to = static_cast<kernels::BFloat16*>(y.narrow(0, first, count).data_ptr());
    if (!kernels::QuantisedProduct(weight, from, count, to, y.stride(0), context.executor,
                                   context.job.cancel)) {
      throw Cancelled();
    }
  }
}

// Calls product(input, y) for `chunk` rows at a time: input contains rows of x in the order in
// which float32 products read them, y the output rows. product returns false if it was cancelled.
template <class Product>
void InFloat32(const at::Tensor& x, const at::Tensor& y, kernels::Dtype dtype, int64_t chunk,
               const ProductContext& context, const Product& product) {
  for (int64_t first = 0; first < x.size(0); first += chunk) {
    const int64_t count = std::min(chunk, x.size(0) - first);
    const kernels::FloatInput input(x.narrow(0, first, count).const_data_ptr(), dtype, count,
                                    x.size(1), context.executor);
    if (!product(input, y.narrow(0, first, count))) throw Cancelled();
  }
}

// Returns a tensor over memory that it does not own. Products only read it.
at::Tensor View(const void* data, int64_t rows, int64_t columns, kernels::Dtype dtype) {
  return at::from_blob(const_cast<void*>(data), {rows, columns},
                       at::TensorOptions().dtype(TorchType(dtype)));
}

}  // namespace

void WeightMatrix::Multiply(const at::Tensor& x, const at::Tensor& y,
                            const ProductContext& context) const {
  switch (WayOf(x.size(0))) {
    case Way::kFew:
      return MultiplyFew(x, y.data_ptr(), dtype_, context.executor);
    case Way::kPacked:
      return MultiplyPacked(x, y, context.job);
    case Way::kPanels:
      return MultiplyPanels(x, y.data_ptr(), context);
    case Way::kExpanded:
      return MultiplyReady(x, expanded_.data_ptr(), outputs_, y, context);
    case Way::kBlocks:
      CheckOnce(context.executor);
      return MultiplyBlocks(x, y, context);
  }
}

WeightMatrix::Way WeightMatrix::WayOf(int64_t rows) const {
  if (rows <= kernels::kMatrixVectorRows) return Way::kFew;
  if (packed_.defined() && rows >= kDenseRows) return Way::kPacked;
  if (!panels_.empty()) return Way::kPanels;
  const bool blocks_are_faster = rows < kDenseRows && dtype_ == kernels::Dtype::kBFloat16 &&
                                 kernels::HasQuantisedProduct() && !copied_.empty();
  return stored() || blocks_are_faster ? Way::kBlocks : Way::kExpanded;
}

int64_t WeightMatrix::RowsAtOnce() const {
  return std::max(kLeastRows, kWholeMultiplyAdds / (inputs_ * outputs_));
}

at::Tensor WeightMatrix::Product(const at::Tensor& x, const ProductContext& context) const {
  const Way way = WayOf(x.size(0));
  const bool by_libtorch = dtype_ == kernels::Dtype::kFloat32 || kernels::HasBFloat16Products();
  if (x.size(0) <= RowsAtOnce()) {
    context.job.ThrowIfCancelled();
    if (way == Way::kPacked) return PackedProduct(x, packed_);
    if (way == Way::kExpanded && by_libtorch) return DenseProduct(x, expanded_);
  }
  at::Tensor y = at::empty({x.size(0), outputs_}, x.options());
  Multiply(x, y, context);
  return y;
}

void WeightMatrix::MultiplyPacked(const at::Tensor& x, const at::Tensor& y,
                                  const JobContext& job) const {
  const int64_t rows = x.size(0);
  const int64_t parts = (rows + RowsAtOnce() - 1) / RowsAtOnce();
  const int64_t of_part = (rows + parts - 1) / parts;
  for (int64_t first = 0; first < rows; first += of_part) {
    job.ThrowIfCancelled();
    const int64_t count = std::min(of_part, rows - first);
    y.narrow(0, first, count).copy_(PackedProduct(x.narrow(0, first, count), packed_));
  }
}

// Multiplies the parts whose products are in integers. x is rounded once for all parts.
void WeightMatrix::MultiplyInWholeNumbers(const at::Tensor& x, const at::Tensor& y,
                                          const ProductContext& context) const {
  for (int64_t first = 0; first < x.size(0); first += kRowChunk) {
    const int64_t count = std::min(kRowChunk, x.size(0) - first);
    const kernels::RoundedInput rounded(x.narrow(0, first, count).const_data_ptr(), dtype_, count,
                                        inputs_, BitsOf(products_), context.executor);
    for (const StoredPart& part : Blocks()) {
      if (!part.whole_numbers) continue;
      const at::Tensor out = y.narrow(0, first, count).narrow(1, part.first, part.matrix.rows);
      if (!kernels::WholeNumberProduct(part.matrix, rounded, out.data_ptr(), dtype_, y.stride(0),
                                       context.executor, context.job.cancel)) {
        throw Cancelled();
      }
    }
  }
}

// Multiplies the parts whose products are in float32. x is packed once for all parts.
void WeightMatrix::MultiplyInFloat32(const at::Tensor& x, const at::Tensor& y,
                                     const ProductContext& context) const {
  InFloat32(x, y, dtype_, kRowChunk, context,
            [&](const kernels::FloatInput& input, const at::Tensor& rows) {
              return std::all_of(Blocks().begin(), Blocks().end(), [&](const StoredPart& part) {
                return WayOf(part) != PartWay::kFloat32 ||
                       kernels::FloatProduct(
                           part.matrix, input,
                           rows.narrow(1, part.first, part.matrix.rows).data_ptr(), dtype_,
                           y.stride(0), context.executor, context.job.cancel);
              });
            });
}

// Computes y = x weight^T from the panels. y [rows, outputs] is float32 and contiguous.
void WeightMatrix::MultiplyPanels(const at::Tensor& x, void* y,
                                  const ProductContext& context) const {
  const at::Tensor out =
      at::from_blob(y, {x.size(0), outputs_}, at::TensorOptions().dtype(at::kFloat));
  InFloat32(x, out, dtype_, kPanelRowChunk, context,
            [&](const kernels::FloatInput& input, const at::Tensor& rows) {
              return std::all_of(panels_.begin(), panels_.end(), [&](const Panels& panels) {
                return kernels::FloatProduct(panels.matrix, input,
                                             rows.data_ptr<float>() + panels.first, dtype_,
                                             outputs_, context.executor, context.job.cancel);
              });
            });
}

WeightMatrix::PartWay WeightMatrix::WayOf(const StoredPart& part) const {
  if (part.whole_numbers) return PartWay::kWholeNumbers;
  if (dtype_ == kernels::Dtype::kBFloat16 && kernels::HasQuantisedProduct()) return PartWay::kTiles;
  if (dtype_ == kernels::Dtype::kBFloat16 && !kernels::HasBFloat16Products())
    return PartWay::kFloat32;
  if (IsReady(part.matrix)) return PartWay::kReady;
  return dtype_ == kernels::Dtype::kFloat32 ? PartWay::kFloat32 : PartWay::kDequantised;
}

void WeightMatrix::MultiplyBlocks(const at::Tensor& x, const at::Tensor& y,
                                  const ProductContext& context) const {
  const auto any = [&](PartWay way) {
    return std::any_of(Blocks().begin(), Blocks().end(),
                       [&](const StoredPart& part) { return WayOf(part) == way; });
  };
  if (any(PartWay::kWholeNumbers)) MultiplyInWholeNumbers(x, y, context);
  if (any(PartWay::kFloat32)) MultiplyInFloat32(x, y, context);
  for (const StoredPart& part : Blocks()) {
    const at::Tensor out = y.narrow(1, part.first, part.matrix.rows);
    switch (WayOf(part)) {
      case PartWay::kWholeNumbers:
      case PartWay::kFloat32:
        break;
      case PartWay::kTiles:
        MultiplyInTiles(part.matrix, x, out, context);
        break;
      case PartWay::kReady:
        MultiplyReady(x, part.matrix.data, part.matrix.rows, out, context);
        break;
      case PartWay::kDequantised:
        MultiplyDequantised(part, x, out, context);
        break;
    }
  }
}

void WeightMatrix::MultiplyDequantised(const StoredPart& part, const at::Tensor& x,
                                       const at::Tensor& y, const ProductContext& context) const {
  const int64_t block = std::min(WeightsAtOnce(inputs_, dtype_), part.matrix.rows);
  kernels::BorrowedScratch<WeightTag> scratch;
  void* weights = scratch.Get<std::byte>(block * inputs_ * kernels::SizeOf(dtype_));
  for (int64_t first = 0; first < part.matrix.rows; first += block) {
    const int64_t count = std::min(block, part.matrix.rows - first);
    context.job.ThrowIfCancelled();
    kernels::DequantiseRows(part.matrix.Rows(first, count), dtype_, weights, context.executor);
    MultiplyReady(x, weights, count, y.narrow(1, first, count), context);
  }
}

// Computes y = x weights^T for weights [rows, inputs] in the run's dtype, contiguous.
void WeightMatrix::MultiplyReady(const at::Tensor& x, const void* weights, int64_t rows,
                                 const at::Tensor& y, const ProductContext& context) const {
  if (dtype_ == kernels::Dtype::kBFloat16 && !kernels::HasBFloat16Products()) {
    const kernels::BlockMatrix matrix{
        kernels::BlockType::kBF16, weights, inputs_ * kernels::SizeOf(dtype_), {}, rows, inputs_};
    InFloat32(x, y, dtype_, kRowChunk, context,
              [&](const kernels::FloatInput& input, const at::Tensor& out) {
                return kernels::FloatProduct(matrix, input, out.data_ptr(), dtype_, y.stride(0),
                                             context.executor, context.job.cancel);
              });
  } else {
    MultiplyExpanded(x, View(weights, rows, inputs_, dtype_), y, context.job);
  }
}

// Whether the file's bytes have the layout that a product in the run's dtype reads.
bool WeightMatrix::IsReady(const kernels::BlockMatrix& matrix) const {
  return matrix.type == kernels::BlockTypeOf(dtype_) && matrix.row_order.empty() &&
         reinterpret_cast<uintptr_t>(matrix.data) %
                 static_cast<uintptr_t>(kernels::SizeOf(dtype_)) ==
             0;
}

void WeightMatrix::MultiplyFew(const at::Tensor& x, void* y, kernels::Dtype y_dtype,
                               const kernels::Executor& executor) const {
  const int64_t rows = x.size(0);
  if (HasOnlyPanels()) return MultiplyPanels(x, y, {executor, {}});
  if (!stored() && copied_.empty()) {
    kernels::MatrixVector(expanded_.data_ptr(), x.data_ptr(), rows, inputs_, outputs_, dtype_, y,
                          y_dtype, executor);
    return;
  }
  CheckOnce(executor);
  std::optional<kernels::RoundedInput> rounded;
  if (HasWholeNumberProducts())
    rounded.emplace(x.const_data_ptr(), dtype_, rows, inputs_, BitsOf(products_), executor);
  for (const StoredPart& part : Blocks()) {
    auto* out = static_cast<std::byte*>(y) + part.first * kernels::SizeOf(y_dtype);
    if (part.whole_numbers) {
      kernels::WholeNumberProduct(part.matrix, *rounded, out, y_dtype, outputs_, executor);
      continue;
    }
    kernels::QuantisedMatrixVector(part.matrix, x.data_ptr(), rows, dtype_, out, y_dtype, executor,
                                   outputs_);
  }
}

}  // namespace midscope
