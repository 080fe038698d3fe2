// SPDX-License-Identifier: MIT
#include "core/compute/weight_matrix.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
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

}  // namespace midscope
