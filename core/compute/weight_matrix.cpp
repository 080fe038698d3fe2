// SPDX-License-Identifier: MIT
// Reads rows and columns of a WeightMatrix.
#include "core/compute/weight_matrix.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include "core/compute/dense_product.h"
#include "kernels/quantised/float_product.h"
#include "kernels/quantised/quantised_product.h"
#include "kernels/quantised/whole_number_product.h"

namespace midscope {
namespace {

kernels::BlockMatrix MatrixOf(const TensorRef& tensor) {
  return {tensor.format.type, tensor.data, tensor.row_bytes,
          tensor.row_order,   tensor.rows, tensor.columns};
}

}  // namespace

at::ScalarType TorchType(kernels::Dtype dtype) {
  switch (dtype) {
    case kernels::Dtype::kFloat32:
      return at::kFloat;
    case kernels::Dtype::kBFloat16:
      return at::kBFloat16;
    case kernels::Dtype::kFloat16:
      return at::kHalf;
  }
  return at::kFloat;
}

Error NotFinite(const std::string& path, const std::string& tensor) {
  return Failure(path, "tensor " + tensor + " holds values that are not finite",
                 "The file is damaged; fetch it again");
}

WeightMatrix::WeightMatrix(std::string path, const std::vector<Part>& parts, kernels::Dtype dtype,
                           Products products)
    : path_(std::move(path)), dtype_(dtype), products_(products) {
  for (const Part& part : parts) {
    const bool whole =
        products != Products::kFloat && kernels::HasWholeNumberProduct(part.tensor->format.type);
    parts_.push_back({part.name, MatrixOf(*part.tensor), outputs_, false, whole});
    outputs_ += part.tensor->rows;
    inputs_ = part.tensor->columns;
  }
}

WeightMatrix::WeightMatrix(const at::Tensor& values, kernels::Dtype dtype)
    : expanded_(values.to(TorchType(dtype)).contiguous()),
      dtype_(dtype),
      outputs_(values.size(0)),
      inputs_(values.size(1)) {}

bool WeightMatrix::HasWholeNumberProducts() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const StoredPart& part) { return part.whole_numbers; });
}

void WeightMatrix::CheckOnce(const kernels::Executor& executor) const {
  for (StoredPart& part : parts_) {
    if (part.checked) continue;
    if (!kernels::AllFinite(part.matrix, executor)) throw NotFinite(path_, part.name);
    part.checked = true;
  }
}

const std::vector<WeightMatrix::StoredPart>& WeightMatrix::Blocks() const {
  return stored() ? parts_ : copied_;
}

at::TensorOptions WeightMatrix::Options() const {
  const at::TensorOptions host = at::TensorOptions().dtype(TorchType(dtype_));
  return blocks_ ? host.device(device_bytes_.front().device()) : host;
}

void WeightMatrix::Expand(const kernels::Executor& executor) {
  if (!stored()) return;
  CheckOnce(executor);
  expanded_ = at::empty({outputs_, inputs_}, at::TensorOptions().dtype(TorchType(dtype_)));
  for (const StoredPart& part : parts_) {
    kernels::DequantiseRows(part.matrix, dtype_,
                            expanded_.narrow(0, part.first, part.matrix.rows).data_ptr(), executor);
  }
  parts_.clear();
}

void WeightMatrix::ExpandBesideBlocks(const kernels::Executor& executor) {
  CheckOnce(executor);
  if (dtype_ != kernels::Dtype::kFloat16) CopyQuantised(executor);
  Expand(executor);
}

void WeightMatrix::CopyOrExpand(const kernels::Executor& executor) {
  CheckOnce(executor);
  CopyQuantised(executor);
  if (copied_.empty()) return Expand(executor);
  StayStored();
}

void WeightMatrix::Pack(const kernels::Executor& executor) {
  if (dtype_ == kernels::Dtype::kFloat32) return PackPanels(executor);
  ExpandBesideBlocks(executor);
  packed_ = PackedWeight(expanded_);
  if (packed_.defined() && !copied_.empty() && kernels::HasQuantisedProduct()) StayStored();
}

void WeightMatrix::PackPanels(const kernels::Executor& executor) {
  CheckOnce(executor);
  CopyQuantised(executor);
  for (const StoredPart& part : parts_) {
    const int64_t rows = part.matrix.rows;
    const at::Tensor numbers = at::empty({kernels::FloatPanelSize(rows, inputs_)}, at::kFloat);
    kernels::FillFloatPanels(part.matrix, numbers.data_ptr<float>(), executor);
    panels_.push_back({numbers, {numbers.const_data_ptr<float>(), rows, inputs_}, part.first});
  }
  StayStored();
}

// Keeps the matrix stored, in its own copy.
void WeightMatrix::StayStored() {
  parts_ = std::move(copied_);
  copied_.clear();
  expanded_.reset();
}

void WeightMatrix::CopyRows(kernels::BlockMatrix* matrix, void* to,
                            const kernels::Executor& executor) {
  const auto bytes = static_cast<size_t>(RowBytes(*matrix));
  constexpr int64_t kGrain = 64;
  executor.For(matrix->rows, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + static_cast<size_t>(row) * bytes, matrix->Row(row),
                  bytes);
    }
  });
  matrix->data = to;
  matrix->row_bytes = static_cast<int64_t>(bytes);
  matrix->row_order = {};
}

int64_t WeightMatrix::RowBytes(const kernels::BlockMatrix& matrix) {
  const auto format = *kernels::FindBlockFormat(static_cast<uint32_t>(matrix.type));
  return matrix.columns / format.elements * format.bytes;
}

void WeightMatrix::CopyQuantised(const kernels::Executor& executor) {
  const auto quantised = [](const StoredPart& part) {
    return kernels::FindBlockFormat(static_cast<uint32_t>(part.matrix.type))->elements > 1;
  };
  if (!std::all_of(parts_.begin(), parts_.end(), quantised)) return;
  for (StoredPart part : parts_) {
    const auto copy = std::make_shared<std::vector<std::byte>>(
        static_cast<size_t>(part.matrix.rows * RowBytes(part.matrix)));
    CopyRows(&part.matrix, copy->data(), executor);
    copied_bytes_.push_back(copy);
    copied_.push_back(std::move(part));
  }
}

// Rows and columns of a WeightMatrix.

namespace {

// Number of rows that Gather copies between two checks of the cancel flag.
constexpr int64_t kGatheredRows = 64;

}  // namespace

const WeightMatrix::StoredPart& WeightMatrix::PartOf(int64_t row) const {
  return *std::find_if(parts_.begin(), parts_.end(),
                       [&](const StoredPart& part) { return row < part.first + part.matrix.rows; });
}

at::Tensor WeightMatrix::FromPanels(const kernels::FloatPart& part) const {
  at::Tensor out = at::empty({part.outputs, part.inputs}, at::kFloat);
  for (const Panels& panels : panels_) {
    const int64_t begin = std::max(part.first_output, panels.first);
    const int64_t end =
        std::min(part.first_output + part.outputs, panels.first + panels.matrix.outputs);
    if (begin >= end) continue;
    kernels::ReadFloatPanels(panels.matrix,
                             {begin - panels.first, end - begin, part.first_input, part.inputs},
                             out.data_ptr<float>() + (begin - part.first_output) * part.inputs);
  }
  return out;
}

void WeightMatrix::Row(int64_t row, void* out) const {
  if (!stored()) {
    const int64_t bytes = inputs_ * kernels::SizeOf(dtype_);
    if (!panels_.empty()) {
      const at::Tensor read = FromPanels({row, 1, 0, inputs_});
      std::memcpy(out, read.const_data_ptr(), static_cast<size_t>(bytes));
      return;
    }
    std::memcpy(out, static_cast<const std::byte*>(expanded_.data_ptr()) + row * bytes,
                static_cast<size_t>(bytes));
    return;
  }
  const StoredPart& part = PartOf(row);
  DequantiseChecked(part, part.matrix.Rows(row - part.first, 1), out);
}

void WeightMatrix::Gather(std::span<const int32_t> rows, void* out,
                          const kernels::Executor& executor, const JobContext& job) const {
  const int64_t bytes = inputs_ * kernels::SizeOf(dtype_);
  std::mutex mutex;
  std::exception_ptr fault;
  executor.For(static_cast<int64_t>(rows.size()), kGatheredRows, [&](int64_t begin, int64_t end) {
    try {
      for (int64_t i = begin; i < end; ++i) {
        if ((i - begin) % kGatheredRows == 0) job.ThrowIfCancelled();
        Row(rows[static_cast<size_t>(i)], static_cast<std::byte*>(out) + i * bytes);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      fault = std::current_exception();
    }
  });
  if (fault) std::rethrow_exception(fault);
}

void WeightMatrix::DequantiseChecked(const StoredPart& part, const kernels::BlockMatrix& rows,
                                     void* out) const {
  if (!kernels::AllFinite(rows, kernels::SerialExecutor())) throw NotFinite(path_, part.name);
  kernels::DequantiseRows(rows, dtype_, out, kernels::SerialExecutor());
}

at::Tensor WeightMatrix::Rows(int64_t first, int64_t count) const {
  if (HasOnlyPanels()) return FromPanels({first, count, 0, inputs_});
  if (!stored()) return expanded_.narrow(0, first, count);
  at::Tensor rows = at::empty({count, inputs_}, Options());
  for (const StoredPart& part : parts_) {
    const int64_t begin = std::max(first, part.first);
    const int64_t end = std::min(first + count, part.first + part.matrix.rows);
    if (begin >= end) continue;
    const kernels::BlockMatrix some = part.matrix.Rows(begin - part.first, end - begin);
    const at::Tensor out = rows.narrow(0, begin - first, end - begin);
    blocks_ ? blocks_->Dequantise(some, 0, out) : DequantiseChecked(part, some, out.data_ptr());
  }
  return rows;
}

at::Tensor WeightMatrix::Column(int64_t column, int64_t rows, const kernels::Executor& executor,
                                bool keep) const {
  constexpr size_t kKept = 4;
  const auto kept = std::find_if(
      kept_columns_.begin(), kept_columns_.end(),
      [&](const KeptColumn& one) { return one.column == column && one.values.size(0) == rows; });
  if (kept != kept_columns_.end()) return kept->values;
  if (!keep) return ReadColumn(column, rows, executor);
  if (kept_columns_.size() == kKept) kept_columns_.erase(kept_columns_.begin());
  kept_columns_.push_back({column, ReadColumn(column, rows, executor)});
  return kept_columns_.back().values;
}

at::Tensor WeightMatrix::ReadColumn(int64_t column, int64_t rows,
                                    const kernels::Executor& executor) const {
  if (HasOnlyPanels()) return FromPanels({0, rows, column, 1}).view({rows});
  if (!stored()) return expanded_.narrow(0, 0, rows).select(1, column).to(at::kFloat).contiguous();
  if (blocks_) return ColumnOnDevice(column, rows);
  at::Tensor values = at::empty({rows}, at::TensorOptions().dtype(at::kFloat));
  auto* out = values.data_ptr<float>();
  CheckOnce(executor);
  constexpr int64_t kGrain = 64;
  constexpr int64_t kLongestBlock = 256;
  executor.For(rows, kGrain, [&](int64_t begin, int64_t end) {
    float block[kLongestBlock];
    for (int64_t row = begin; row < end; ++row) {
      const StoredPart& part = PartOf(row);
      const auto format = *kernels::FindBlockFormat(static_cast<uint32_t>(part.matrix.type));
      const std::byte* at =
          part.matrix.Row(row - part.first) + column / format.elements * format.bytes;
      kernels::Dequantise(format.type, at, format.elements, block);
      out[row] = kernels::RoundedTo(dtype_, block[column % format.elements]);
    }
  });
  return values;
}

}  // namespace midscope
