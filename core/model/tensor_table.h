// SPDX-License-Identifier: MIT
// The tensors of a model file by the decoder's names, after a check that the file contains exactly
// the tensors that the model family needs.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/formats/quantised_matrix.h"
#include "core/model/families/family.h"
#include "core/model/model_config.h"
#include "core/model/model_shapes.h"
#include "core/model/model_source.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

// A tensor of a model file, of any format.
struct FileTensor {
  std::vector<int64_t> shape;  // outermost first; row-major
  kernels::BlockFormat format;
  const std::byte* data = nullptr;  // any alignment
  int64_t bytes = 0;
  std::string file_name;  // the name in the file; empty: the key in FileTensors
  // The dtype, if weights of this dtype cannot be read; an error only if the decoder needs the
  // tensor.
  std::string unread_dtype = {};
  const QuantisedMatrix* quantised = nullptr;  // if not null, replaces `data`, which is null
};

// A decoder matrix within a quantised matrix; TensorRef::row_order is relative to `first_row`.
struct QuantisedRows {
  const QuantisedMatrix* matrix = nullptr;
  int64_t first_row = 0;
};

// Tensors of a file, keyed by TensorPlace::file_name with its ending.
using FileTensors = std::map<std::string, FileTensor, std::less<>>;

// Sets the number of parameters, their bytes and the most common type in `config`.
void CountParameters(const FileTensors& tensors, ModelConfig* config);

// Returns the number of bytes, from tensor.data on, that contain all rows of the tensor.
int64_t SpannedBytes(const TensorRef& tensor);

// The rows of a decoder matrix within a file's matrix, or within one expert's part of it.
struct PlacedRows {
  int64_t file_rows = 0;
  std::vector<int64_t> rows;  // [row of the decoder's matrix]; empty: all, in order
};
PlacedRows PlaceRows(RowPart part, int64_t rows, const ModelConfig& config);

class TensorTable {
 public:
  // Throws Error naming `thing` and the tensor if one is missing, of an unexpected shape, or not
  // part of the model (endings in `ignored` are skipped). `copied` is called with each tensor of
  // the file that was copied transposed and is no longer read.
  TensorTable(
      const ModelConfig& config, const std::vector<TensorPlace>& places, const FileTensors& file,
      const std::vector<std::string_view>& ignored, const std::string& thing,
      const std::function<void(const FileTensor&)>& copied = [](const FileTensor&) {});

  const TensorRef* Find(const std::string& name) const;  // null if there is none
  // Returns the rows of a quantised tensor, whose TensorRef::data is null; null for other tensors.
  const QuantisedRows* FindQuantised(const std::string& name) const;
  int64_t transposed_bytes() const;  // bytes of transposed copies of the file's matrices

 private:
  void Add(const NeededTensor& needed, const TensorPlace& place);
  void AddBiases(const std::vector<NeededTensor>& needed, const TensorPlace& place);
  void AddBias(const NeededTensor& needed, const TensorPlace& place);
  TensorRef Reference(const FileTensor& tensor, const NeededTensor& needed,
                      const TensorPlace& place, const std::string& file_name);
  const std::byte* TransposedData(const FileTensor& tensor, const std::string& file_name);
  TensorRef Vector(const TensorRef& rows);
  const FileTensor& Require(const std::string& file_name);
  void CheckNoneLeft(const std::vector<std::string_view>& ignored) const;

  const ModelConfig& config_;                             // only while constructing
  const FileTensors& file_;                               // only while constructing
  const std::function<void(const FileTensor&)>& copied_;  // only while constructing
  std::string thing_;
  std::map<std::string, TensorRef, std::less<>> tensors_;
  std::map<std::string, QuantisedRows, std::less<>> quantised_;
  std::set<std::string, std::less<>> used_;
  std::deque<std::vector<float>> reordered_;  // biases whose elements are in another order
  // Transposed copies of matrices that are [inputs, outputs] in the file, keyed by the file's
  // names.
  std::map<std::string, std::vector<std::byte>, std::less<>> transposed_;
};

}  // namespace midscope
