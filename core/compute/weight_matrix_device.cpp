// SPDX-License-Identifier: MIT
// The operations of WeightMatrix on devices other than the plain CPU.
#include <ATen/ATen.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/compute/aten_ops.h"
#include "core/compute/weight_matrix.h"
#include "kernels/cuda/device_rows.h"
#include "kernels/matrix_vector.h"

namespace midscope {
namespace {

// Rows of x multiplied between two checks of the cancel flag. A GPU needs many to be busy.
constexpr int64_t kDeviceRowChunk = 4096;
// The number of weight rows in a panel is a multiple of this, unless there are few.
constexpr int64_t kPanelRows = 128;

void MultiplyInChunks(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& y,
                      const JobContext& job) {
  for (int64_t first = 0; first < x.size(0); first += kDeviceRowChunk) {
    job.ThrowIfCancelled();
    const int64_t count = std::min(kDeviceRowChunk, x.size(0) - first);
    MultiplyByAten(x.narrow(0, first, count), weight, y.narrow(0, first, count));
  }
}

// Writes the matrix' rows to `to`, with stride `row_bytes`, in the layout of
// kernels/cuda/device_rows.h.
void ArrangeRows(const kernels::BlockMatrix& matrix, int64_t row_bytes, void* to,
                 const kernels::Executor& executor) {
  constexpr int64_t kGrain = 64;
  executor.For(matrix.rows, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      kernels::cuda::ArrangeRow(matrix.type, matrix.columns, matrix.Row(row),
                                static_cast<std::byte*>(to) + row * row_bytes);
    }
  });
}

}  // namespace

void WeightMatrix::MoveTo(at::Device device, const BlockOps* blocks,
                          const kernels::Executor& executor) {
  blocks_ = blocks;
  kept_columns_.clear();
  if (blocks && IsSmallerStored()) {
    MoveStored(device, executor);
    return;
  }
  Expand(executor);
  expanded_ = expanded_.to(device);
  copied_.clear();
  copied_bytes_.clear();
}

bool WeightMatrix::IsSmallerStored() const {
  if (!stored() || inputs_ % BlockOps::kColumns != 0) return false;
  int64_t bytes = 0;
  for (const StoredPart& part : parts_) bytes += part.matrix.rows * RowBytes(part.matrix);
  return bytes < outputs_ * inputs_ * kernels::SizeOf(dtype_);
}

void WeightMatrix::MoveStored(at::Device device, const kernels::Executor& executor) {
  CheckOnce(executor);
  std::vector<StoredPart> moved;
  for (auto part = parts_.begin(); part != parts_.end();) {
    // Neighbouring parts of the same type become one part, because launching a product costs as
    // much as many of its rows.
    const auto end = std::find_if(part, parts_.end(), [part](const StoredPart& other) {
      return other.matrix.type != part->matrix.type;
    });
    const int64_t row_bytes = kernels::cuda::DeviceRowBytes(part->matrix.type, inputs_);
    const int64_t last = end == parts_.end() ? outputs_ : end->first;
    const at::Tensor copy =
        at::empty({(last - part->first) * row_bytes}, at::TensorOptions().dtype(at::kByte));
    StoredPart whole = *part;
    for (; part != end; ++part) {
      const at::Tensor to =
          copy.narrow(0, (part->first - whole.first) * row_bytes, part->matrix.rows * row_bytes);
      ArrangeRows(part->matrix, row_bytes, to.data_ptr(), executor);
    }
    device_bytes_.push_back(copy.to(device));
    whole.matrix = {whole.matrix.type,  device_bytes_.back().const_data_ptr(),
                    row_bytes,          {},
                    last - whole.first, inputs_};
    moved.push_back(std::move(whole));
  }
  parts_ = std::move(moved);
}

void WeightMatrix::MultiplyOnDevice(const at::Tensor& x, const at::Tensor& y,
                                    const JobContext& job) const {
  if (ReadsByRow(x)) return MultiplyByRow(x, nullptr, y, job);
  if (!stored()) return MultiplyInChunks(x, expanded_, y, job);
  for (const StoredPart& part : parts_)
    MultiplyInPanels(part.matrix, x, y.narrow(1, part.first, part.matrix.rows), job);
}

void WeightMatrix::MultiplyByRow(const at::Tensor& x, const BlockOps::Copies* copies,
                                 const at::Tensor& y, const JobContext& job) const {
  job.ThrowIfCancelled();
  if (!stored()) return blocks_->MultiplyFew(ExpandedBlocks(), x, y, copies);
  for (const StoredPart& part : parts_) {
    job.ThrowIfCancelled();
    BlockOps::Copies of_part;
    if (copies) of_part = {copies->first - part.first, {copies->to[0], copies->to[1]}};
    blocks_->MultiplyFew(part.matrix, x, y.narrow(1, part.first, part.matrix.rows),
                         copies ? &of_part : nullptr);
  }
}

bool WeightMatrix::MultiplyGatedOnDevice(const at::Tensor& x, kernels::ActivationKind activation,
                                         const at::Tensor& y, const JobContext& job) const {
  if (!ReadsByRow(x) || (stored() && parts_.size() > 1)) return false;
  job.ThrowIfCancelled();
  blocks_->MultiplyFewGated(stored() ? parts_.front().matrix : ExpandedBlocks(), x, activation, y);
  return true;
}

bool WeightMatrix::MultiplyCopyingOnDevice(const at::Tensor& x, const BlockOps::Copies& copies,
                                           const at::Tensor& y, const JobContext& job) const {
  if (!ReadsByRow(x)) return false;
  MultiplyByRow(x, &copies, y, job);
  return true;
}

bool WeightMatrix::ReadsByRow(const at::Tensor& x) const {
  return stored() ? blocks_ && x.size(0) <= kernels::kMatrixVectorRows : ReadsExpandedByRow(x);
}

bool WeightMatrix::ReadsExpandedByRow(const at::Tensor& x) const {
  return blocks_ && x.size(0) <= BlockOps::kExpandedRows && inputs_ % BlockOps::kColumns == 0;
}

kernels::BlockMatrix WeightMatrix::ExpandedBlocks() const {
  return {kernels::BlockTypeOf(dtype_),
          expanded_.const_data_ptr(),
          inputs_ * kernels::SizeOf(dtype_),
          {},
          outputs_,
          inputs_};
}

void WeightMatrix::MultiplyInPanels(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                                    const at::Tensor& y, const JobContext& job) const {
  const at::Tensor rows = x.to(y.scalar_type());
  int64_t at_once =
      std::clamp<int64_t>(blocks_->panel_bytes() / (inputs_ * y.element_size()), 1, matrix.rows);
  // A panel's columns of y begin at addresses to which products can write 16 bytes or more at once.
  if (at_once > kPanelRows) at_once -= at_once % kPanelRows;
  const at::Tensor panel = at::empty({at_once, inputs_}, y.options());
  for (int64_t first = 0; first < matrix.rows; first += at_once) {
    const int64_t count = std::min(at_once, matrix.rows - first);
    const at::Tensor weights = panel.narrow(0, 0, count);
    blocks_->Dequantise(matrix.Rows(first, count), 0, weights);
    MultiplyInChunks(rows, weights, y.narrow(1, first, count), job);
  }
}

// Reads a column by dequantising, in each row, only the block that contains the column.
at::Tensor WeightMatrix::ColumnOnDevice(int64_t column, int64_t rows) const {
  at::Tensor values = at::empty({rows}, Options().dtype(at::kFloat));
  for (const StoredPart& part : parts_) {
    if (part.first >= rows) break;
    const auto format = *kernels::FindBlockFormat(static_cast<uint32_t>(part.matrix.type));
    const int64_t width = std::max(format.elements, BlockOps::kColumns);
    const kernels::BlockMatrix some =
        part.matrix.Rows(0, std::min(part.matrix.rows, rows - part.first));
    const at::Tensor expanded = at::empty({some.rows, width}, Options());
    blocks_->Dequantise(some, column / width * width, expanded);
    values.narrow(0, part.first, some.rows).copy_(expanded.select(1, column % width));
  }
  return values;
}

}  // namespace midscope
