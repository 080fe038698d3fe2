// SPDX-License-Identifier: MIT
// A matrix of weights: expanded to the run's dtype in its own memory, or as stored in the file, in
// the file's memory or a device's. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/compute/arithmetic.h"
#include "core/compute/block_ops.h"
#include "core/model/model_source.h"
#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/quantised/float_product.h"
#include "kernels/types.h"

namespace midscope {

at::ScalarType TorchType(kernels::Dtype dtype);

// The error for a file's tensor with infinities or NaN.
Error NotFinite(const std::string& path, const std::string& tensor);

// The context of a product.
struct ProductContext {
  const kernels::Executor& executor;
  const JobContext& job;
};

// [outputs, inputs]. A stored matrix is a stack of the file's tensors, whose memory map must
// outlive it until it is expanded or moved. Its values are checked for finiteness before its first
// use (the products, Row and Column then throw Error); expanded ones when they are made. Not
// thread-safe.
class WeightMatrix {
 public:
  struct Part {
    std::string name;  // of the tensor, for messages
    const TensorRef* tensor = nullptr;
  };

  WeightMatrix() = default;
  // `path`: the file's, for messages. The parts have equal columns.
  WeightMatrix(std::string path, const std::vector<Part>& parts, kernels::Dtype dtype,
               Products products = Products::kFloat);

  // A matrix that is not from a file: values [outputs, inputs] float32.
  WeightMatrix(const at::Tensor& values, kernels::Dtype dtype);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  bool stored() const { return !parts_.empty(); }
  // Whether some of its products are in integers.
  bool HasWholeNumberProducts() const;
  // [outputs, inputs] of the run's dtype; undefined where the matrix is stored or in panels.
  const at::Tensor& expanded() const { return expanded_; }

  // y = x weight^T. x [rows, inputs] and y [rows, outputs] of the run's dtype, contiguous. Many
  // rows: each thread dequantises some rows of a stored matrix at a time and multiplies all of x
  // with them; where matrix tiles multiply, blocks of rows are dequantised for LibTorch's product;
  // a matrix stored in the run's dtype is used in place. Throws Cancelled.
  void Multiply(const at::Tensor& x, const at::Tensor& y, const ProductContext& context) const;

  // As Multiply, with the result in a new tensor, which saves a copy of it in some cases.
  at::Tensor Product(const at::Tensor& x, const ProductContext& context) const;

  // As Multiply, for up to kernels::kMatrixVectorRows rows, y of `y_dtype`: the run's or float32. A
  // stored matrix is read in place, with weights of at least float32's precision, as is the copy of
  // an expanded quantised one: few rows are bound by reading weights.
  void MultiplyFew(const at::Tensor& x, void* y, kernels::Dtype y_dtype,
                   const kernels::Executor& executor) const;

  // As Multiply, on the device that x, y and the matrix are on; y may be float32 where x is
  // bfloat16. An expanded matrix is multiplied by LibTorch's own operations, except for one or two
  // rows where the device has products for them (BlockOps). One that was moved as stored is read in
  // place for up to kernels::kMatrixVectorRows rows; for more, panels of its rows are dequantised
  // to y's dtype, one after the other, and multiplied by LibTorch. Throws Cancelled.
  void MultiplyOnDevice(const at::Tensor& x, const at::Tensor& y, const JobContext& job) const;
  // As above, for outputs whose halves are gates and the values that they multiply: y [rows,
  // outputs / 2] as BlockOps::MultiplyFewGated. Returns false and leaves y unchanged where the
  // device has no such product: for many rows, and for halves in different formats.
  bool MultiplyGatedOnDevice(const at::Tensor& x, kernels::ActivationKind activation,
                             const at::Tensor& y, const JobContext& job) const;
  // As MultiplyOnDevice, with some outputs written to other rows too. Returns false, without side
  // effects, for many rows.
  bool MultiplyCopyingOnDevice(const at::Tensor& x, const BlockOps::Copies& copies,
                               const at::Tensor& y, const JobContext& job) const;

  // Dequantises a stored matrix into its own memory. Throws Error where it has values that are not
  // finite.
  void Expand(const kernels::Executor& executor);
  // As Expand, with a copy of the blocks of a fully quantised matrix for products of few rows.
  void ExpandBesideBlocks(const kernels::Executor& executor);
  // Copies the blocks of a stored matrix that is all quantised, which stays stored, in its own
  // memory; expands another.
  void CopyOrExpand(const kernels::Executor& executor);
  // Expands the matrix in the order in which a product of many rows reads it. bfloat16: LibTorch's
  // (PackedWeight); fewer rows read a copy of its blocks, if it is quantised, or the matrix
  // expanded as it is beside. float32: ours (kernels::FloatPanels); fewer rows read a copy of its
  // blocks, if it is quantised, which then counts as stored, or the panels.
  void Pack(const kernels::Executor& executor);
  // Brings the matrix to the device. A stored one stays so where `blocks` can read it there and it
  // takes less memory than an expanded one; else it is expanded. `blocks` (or null) must outlive
  // the matrix. Throws Error as Expand does.
  void MoveTo(at::Device device, const BlockOps* blocks, const kernels::Executor& executor);

  // out [inputs] of the run's dtype: one row (the embedding of a token). The matrix is in host
  // memory.
  void Row(int64_t row, void* out) const;
  // As Row, for many rows: out [row, inputs]. Throws as Row does, or Cancelled.
  void Gather(std::span<const int32_t> rows, void* out, const kernels::Executor& executor,
              const JobContext& job) const;
  // Rows [first, first + count) in the run's dtype: [count, inputs], on the matrix' device.
  at::Tensor Rows(int64_t first, int64_t count) const;

  // Elements of one column in the first `rows` rows, rounded to the run's dtype. [rows] float32, on
  // the matrix' device; read-only. The latest ones are cached: a dragged setting requests the same
  // columns repeatedly. `keep` false: this one is not cached, because its read is recorded, not
  // run.
  at::Tensor Column(int64_t column, int64_t rows, const kernels::Executor& executor,
                    bool keep = true) const;

 private:
  struct StoredPart {
    std::string name;
    kernels::BlockMatrix matrix;
    int64_t first = 0;  // its first output
    bool checked = false;
    bool whole_numbers = false;  // products are in integers for any number of rows
  };
  struct Panels {
    at::Tensor numbers;
    kernels::FloatPanels matrix;
    int64_t first = 0;  // its first output
  };
  void CheckOnce(const kernels::Executor& executor) const;
  // Bytes of the blocks of a row.
  static int64_t RowBytes(const kernels::BlockMatrix& matrix);
  // Copies the rows in their order, without bytes between them; the copy is then the matrix.
  static void CopyRows(kernels::BlockMatrix* matrix, void* to, const kernels::Executor& executor);
  void CopyQuantised(const kernels::Executor& executor);
  bool IsSmallerStored() const;
  // Whether a product of x with the expanded matrix is one of rows (BlockOps::MultiplyFew).
  bool ReadsExpandedByRow(const at::Tensor& x) const;
  // As above, for the matrix as stored on the device.
  bool ReadsByRow(const at::Tensor& x) const;
  // `copies`: of all outputs, or null.
  void MultiplyByRow(const at::Tensor& x, const BlockOps::Copies* copies, const at::Tensor& y,
                     const JobContext& job) const;
  // expanded_ as blocks of single numbers.
  kernels::BlockMatrix ExpandedBlocks() const;
  void MoveStored(at::Device device, const kernels::Executor& executor);
  void MultiplyInPanels(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                        const at::Tensor& y, const JobContext& job) const;
  at::Tensor ReadColumn(int64_t column, int64_t rows, const kernels::Executor& executor) const;
  at::Tensor ColumnOnDevice(int64_t column, int64_t rows) const;
  // Rows are few of many: they are checked when they are read.
  void DequantiseChecked(const StoredPart& part, const kernels::BlockMatrix& rows, void* out) const;
  // Options of tensors of the run's dtype on the matrix' device, where it is stored.
  at::TensorOptions Options() const;
  void MultiplyInWholeNumbers(const at::Tensor& x, const at::Tensor& y,
                              const ProductContext& context) const;
  void MultiplyInFloat32(const at::Tensor& x, const at::Tensor& y,
                         const ProductContext& context) const;
  // Whether nothing but panels is kept.
  bool HasOnlyPanels() const { return !stored() && !panels_.empty(); }
  void MultiplyPanels(const at::Tensor& x, void* y, const ProductContext& context) const;
  // Rows and inputs of a matrix in panels alone: [rows, inputs].
  at::Tensor FromPanels(const kernels::FloatPart& part) const;
  void MultiplyDequantised(const StoredPart& part, const at::Tensor& x, const at::Tensor& y,
                           const ProductContext& context) const;
  void MultiplyBlocks(const at::Tensor& x, const at::Tensor& y,
                      const ProductContext& context) const;
  bool IsReady(const kernels::BlockMatrix& matrix) const;
  void MultiplyReady(const at::Tensor& x, const void* weights, int64_t rows, const at::Tensor& y,
                     const ProductContext& context) const;
  const StoredPart& PartOf(int64_t row) const;

  // As stored in the file, or the copy of that.
  const std::vector<StoredPart>& Blocks() const;
  // The form of the matrix that so many rows are multiplied with.
  enum class Way {
    kFew,       // the copy of blocks, else whatever the matrix is: rows are read once
    kPacked,    // packed_
    kPanels,    // panels_
    kExpanded,  // expanded_
    kBlocks,    // as stored, or the copy of that
  };
  Way WayOf(int64_t rows) const;
  // How many rows are multiplied with a part's blocks.
  enum class PartWay {
    kWholeNumbers,
    kTiles,        // in bfloat16 by our product
    kFloat32,      // in float32 arithmetic by our product
    kReady,        // in place by LibTorch's product
    kDequantised,  // some of them at a time for LibTorch's product
  };
  PartWay WayOf(const StoredPart& part) const;
  // Rows of a product with a packed matrix, or into a new tensor, between two checks of the cancel
  // flag.
  int64_t RowsAtOnce() const;
  void MultiplyPacked(const at::Tensor& x, const at::Tensor& y, const JobContext& job) const;
  void PackPanels(const kernels::Executor& executor);
  void StayStored();

  // The last ones that Column read, the latest last.
  struct KeptColumn {
    int64_t column;
    at::Tensor values;
  };
  mutable std::vector<KeptColumn> kept_columns_;
  at::Tensor expanded_;
  at::Tensor packed_;           // of bfloat16; undefined where Pack was not called
  std::vector<Panels> panels_;  // of float32: each part's; empty where Pack was not called
  std::string path_;
  mutable std::vector<StoredPart> parts_;
  // The quantised tensors of an expanded matrix, in `copied_bytes_`; empty unless all are
  // quantised.
  std::vector<StoredPart> copied_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> copied_bytes_;
  // For a moved matrix: the operations that read it there (or null); for a stored one, each part's
  // bytes.
  const BlockOps* blocks_ = nullptr;
  std::vector<at::Tensor> device_bytes_;
  kernels::Dtype dtype_ = kernels::Dtype::kFloat32;
  Products products_ = Products::kFloat;
  int64_t outputs_ = 0;
  int64_t inputs_ = 0;
};

}  // namespace midscope
