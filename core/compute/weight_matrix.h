// SPDX-License-Identifier: MIT
// A matrix of weights, either expanded to the run's dtype in its own memory, or in the file's
// format ("stored") in the mapped file or a device's memory. Internal to core.
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

// Returns the error for a tensor of a file that contains infinities or NaN.
Error NotFinite(const std::string& path, const std::string& tensor);

// The resources that a product uses.
struct ProductContext {
  const kernels::Executor& executor;
  const JobContext& job;
};

// A weight matrix [outputs, inputs]. A stored matrix is a stack of the file's tensors, whose memory
// map must outlive it until it is expanded or moved. Values of a stored matrix are checked for
// finiteness before its first use (products, Row and Column then throw Error), those of an expanded
// matrix when it is made. Not thread-safe.
class WeightMatrix {
 public:
  struct Part {
    std::string name;  // name of the tensor, for messages
    const TensorRef* tensor = nullptr;
  };

  WeightMatrix() = default;
  // `path`: the file's path, for messages. All parts have the same number of columns.
  WeightMatrix(std::string path, const std::vector<Part>& parts, kernels::Dtype dtype,
               Products products = Products::kFloat);

  // A matrix that is not from a file: values [outputs, inputs] float32.
  WeightMatrix(const at::Tensor& values, kernels::Dtype dtype);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  bool stored() const { return !parts_.empty(); }
  // Whether any part of the matrix is multiplied in integers.
  bool HasWholeNumberProducts() const;
  // [outputs, inputs] in the run's dtype; undefined if the matrix is stored or in panels.
  const at::Tensor& expanded() const { return expanded_; }

  // Computes y = x weight^T. x [rows, inputs] and y [rows, outputs] are in the run's dtype,
  // contiguous. For many rows, each thread dequantises some rows of a stored matrix at a time and
  // multiplies all of x with them; if the CPU has matrix tiles, blocks of rows are dequantised for
  // LibTorch's product. A matrix stored in the run's dtype is used in place. Throws Cancelled.
  void Multiply(const at::Tensor& x, const at::Tensor& y, const ProductContext& context) const;

  // Returns x weight^T in a new tensor, which saves a copy in some cases (see Multiply).
  at::Tensor Product(const at::Tensor& x, const ProductContext& context) const;

  // Computes y = x weight^T for up to kernels::kMatrixVectorRows rows; y has `y_dtype`, the run's
  // dtype or float32. A stored matrix, or the copied blocks of an expanded quantised one, is read
  // in place, with weights of at least float32's precision: for few rows, reading the weights
  // limits the speed.
  void MultiplyFew(const at::Tensor& x, void* y, kernels::Dtype y_dtype,
                   const kernels::Executor& executor) const;

  // Computes y = x weight^T on the device of x, y and the matrix; y may be float32 if x is
  // bfloat16. An expanded matrix is multiplied by LibTorch's own operations, except for one or two
  // rows if the device has products for them (BlockOps). A matrix that was moved as stored is read
  // in place for up to kernels::kMatrixVectorRows rows; for more, panels of its rows are
  // dequantised to y's dtype, one after the other, and multiplied by LibTorch. Throws Cancelled.
  void MultiplyOnDevice(const at::Tensor& x, const at::Tensor& y, const JobContext& job) const;
  // For a matrix whose first half of outputs are gates of the second: computes y [rows, outputs /
  // 2] = activation(gate) * up on the device (BlockOps::MultiplyFewGated). Returns false and leaves
  // y unchanged for many rows and for halves in different formats.
  bool MultiplyGatedOnDevice(const at::Tensor& x, kernels::ActivationKind activation,
                             const at::Tensor& y, const JobContext& job) const;
  // Computes y = x weight^T on the device, and also writes some outputs to the tensors of `copies`.
  // Returns false, without side effects, if there are too many rows for BlockOps::MultiplyFew.
  bool MultiplyCopyingOnDevice(const at::Tensor& x, const BlockOps::Copies& copies,
                               const at::Tensor& y, const JobContext& job) const;

  // Dequantises a stored matrix into its own memory. Throws Error if values are not finite.
  void Expand(const kernels::Executor& executor);
  // Expands the matrix; if fully quantised, also copies its blocks for products of few rows.
  void ExpandBesideBlocks(const kernels::Executor& executor);
  // If the stored matrix is fully quantised, copies its blocks from the file into its own memory;
  // expands any other matrix.
  void CopyOrExpand(const kernels::Executor& executor);
  // Expands the matrix in the order in which a product of many rows reads it. bfloat16: LibTorch's
  // order (PackedWeight); products of fewer rows read a copy of its blocks, if it is quantised, or
  // else an additional matrix expanded in normal order. float32: ours (kernels::FloatPanels);
  // products of fewer rows read a copy of its blocks, if it is quantised (stored() is then true),
  // or else the panels.
  void Pack(const kernels::Executor& executor);
  // Moves the matrix to the device. A stored matrix stays stored if `blocks` can read it there and
  // it takes less memory than an expanded one; else it is expanded. `blocks` (or null) must outlive
  // the matrix. Throws Error in the same cases as Expand.
  void MoveTo(at::Device device, const BlockOps* blocks, const kernels::Executor& executor);

  // Writes one row (the embedding of a token) to out [inputs], in the run's dtype. The matrix must
  // be in host memory.
  void Row(int64_t row, void* out) const;
  // Writes many rows to out [row, inputs], in the run's dtype. Throws Error in the same cases as
  // Row, or Cancelled.
  void Gather(std::span<const int32_t> rows, void* out, const kernels::Executor& executor,
              const JobContext& job) const;
  // Returns rows [first, first + count) in the run's dtype: [count, inputs], on the matrix' device.
  at::Tensor Rows(int64_t first, int64_t count) const;

  // Returns one column's elements in the first `rows` rows, rounded to the run's dtype: [rows]
  // float32, on the matrix' device; read-only. The latest columns are cached, because a dragged
  // setting requests the same ones repeatedly. `keep` must be false while work is recorded: the
  // column is not read yet, so it must not be cached.
  at::Tensor Column(int64_t column, int64_t rows, const kernels::Executor& executor,
                    bool keep = true) const;

 private:
  struct StoredPart {
    std::string name;
    kernels::BlockMatrix matrix;
    int64_t first = 0;  // index of the part's first output
    bool checked = false;
    bool whole_numbers = false;  // whether products are in integers for any number of rows
  };
  struct Panels {
    at::Tensor numbers;
    kernels::FloatPanels matrix;
    int64_t first = 0;  // index of the part's first output
  };
  void CheckOnce(const kernels::Executor& executor) const;
  // Returns the bytes of a row's blocks.
  static int64_t RowBytes(const kernels::BlockMatrix& matrix);
  // Copies the rows in their order, without gaps; the matrix then refers to the copy.
  static void CopyRows(kernels::BlockMatrix* matrix, void* to, const kernels::Executor& executor);
  void CopyQuantised(const kernels::Executor& executor);
  bool IsSmallerStored() const;
  // Whether a product of x with the expanded matrix uses BlockOps::MultiplyFew.
  bool ReadsExpandedByRow(const at::Tensor& x) const;
  // Whether a product of x with the stored matrix on the device uses BlockOps::MultiplyFew.
  bool ReadsByRow(const at::Tensor& x) const;
  // Multiplies by BlockOps::MultiplyFew. `copies`: outputs of the whole matrix to copy, or null.
  void MultiplyByRow(const at::Tensor& x, const BlockOps::Copies* copies, const at::Tensor& y,
                     const JobContext& job) const;
  // Returns a view of expanded_ as a matrix whose blocks are single numbers.
  kernels::BlockMatrix ExpandedBlocks() const;
  void MoveStored(at::Device device, const kernels::Executor& executor);
  void MultiplyInPanels(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                        const at::Tensor& y, const JobContext& job) const;
  at::Tensor ReadColumn(int64_t column, int64_t rows, const kernels::Executor& executor) const;
  at::Tensor ColumnOnDevice(int64_t column, int64_t rows) const;
  // Checks that the rows are finite when it reads them: for tables with few rows in use.
  void DequantiseChecked(const StoredPart& part, const kernels::BlockMatrix& rows, void* out) const;
  // Returns the options of tensors in the run's dtype on the matrix' device.
  at::TensorOptions Options() const;
  void MultiplyInWholeNumbers(const at::Tensor& x, const at::Tensor& y,
                              const ProductContext& context) const;
  void MultiplyInFloat32(const at::Tensor& x, const at::Tensor& y,
                         const ProductContext& context) const;
  // Whether the matrix exists only as panels (panels_).
  bool HasOnlyPanels() const { return !stored() && !panels_.empty(); }
  void MultiplyPanels(const at::Tensor& x, void* y, const ProductContext& context) const;
  // Reads rows and inputs from the panels: [rows, inputs].
  at::Tensor FromPanels(const kernels::FloatPart& part) const;
  void MultiplyDequantised(const StoredPart& part, const at::Tensor& x, const at::Tensor& y,
                           const ProductContext& context) const;
  void MultiplyBlocks(const at::Tensor& x, const at::Tensor& y,
                      const ProductContext& context) const;
  bool IsReady(const kernels::BlockMatrix& matrix) const;
  void MultiplyReady(const at::Tensor& x, const void* weights, int64_t rows, const at::Tensor& y,
                     const ProductContext& context) const;
  const StoredPart& PartOf(int64_t row) const;

  // Returns the parts as stored in the file, or their copies.
  const std::vector<StoredPart>& Blocks() const;
  // The form of the matrix that a product with this number of rows uses.
  enum class Way {
    kFew,       // the copied blocks, else any form that the matrix has: weights are read once
    kPacked,    // packed_
    kPanels,    // panels_
    kExpanded,  // expanded_
    kBlocks,    // as stored, or the copied blocks
  };
  Way WayOf(int64_t rows) const;
  // How the blocks of a part are used in products of many rows.
  enum class PartWay {
    kWholeNumbers,
    kTiles,        // in bfloat16 by our product
    kFloat32,      // in float32 arithmetic by our product
    kReady,        // in place by LibTorch's product
    kDequantised,  // a few rows dequantised at a time for LibTorch's product
  };
  PartWay WayOf(const StoredPart& part) const;
  // Returns how many rows are multiplied between two checks of the cancel flag, in a product with a
  // packed matrix or into a new tensor.
  int64_t RowsAtOnce() const;
  void MultiplyPacked(const at::Tensor& x, const at::Tensor& y, const JobContext& job) const;
  void PackPanels(const kernels::Executor& executor);
  void StayStored();

  // The cache of Column: the columns read last, most recent last.
  struct KeptColumn {
    int64_t column;
    at::Tensor values;
  };
  mutable std::vector<KeptColumn> kept_columns_;
  at::Tensor expanded_;
  at::Tensor packed_;           // for bfloat16; undefined unless Pack was called
  std::vector<Panels> panels_;  // for float32: one per part; empty unless Pack was called
  std::string path_;
  mutable std::vector<StoredPart> parts_;
  // The quantised tensors of an expanded matrix, stored in `copied_bytes_`; empty unless all
  // tensors are quantised.
  std::vector<StoredPart> copied_;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> copied_bytes_;
  // For a moved matrix: the operations that read it on the device (or null); if it is stored, also
  // the bytes of each part.
  const BlockOps* blocks_ = nullptr;
  std::vector<at::Tensor> device_bytes_;
  kernels::Dtype dtype_ = kernels::Dtype::kFloat32;
  Products products_ = Products::kFloat;
  int64_t outputs_ = 0;
  int64_t inputs_ = 0;
};

}  // namespace midscope
