// SPDX-License-Identifier: MIT
// The tensors of a model file by the decoder's names. Checks the family's tensors against the
// file's.
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

// A tensor of a file, in any format.
struct FileTensor {
  std::vector<int64_t> shape;  // outermost first; row-major
  kernels::BlockFormat format;
  const std::byte* data = nullptr;  // any alignment
  int64_t bytes = 0;
  std::string file_name;  // its name in the file; empty: its key in FileTensors
  // Set if weights of this dtype cannot be read, which is an error only if the decoder needs the
  // tensor.
  std::string unread_dtype = {};
  const QuantisedMatrix* quantised = nullptr;  // if not null, rows are computed; `data` is null
};

// The rows of a quantised matrix from `first_row` on, which TensorRef::row_order refers to.
struct QuantisedRows {
  const QuantisedMatrix* matrix = nullptr;
  int64_t first_row = 0;
};

// Keyed by the names in a family's places.
using FileTensors = std::map<std::string, FileTensor, std::less<>>;

// Sets the number of parameters, their bytes and the most common type in `config`.
void CountParameters(const FileTensors& tensors, ModelConfig* config);

// Returns the number of bytes from tensor.data on that contain the tensor's rows.
int64_t SpannedBytes(const TensorRef& tensor);

// The rows of a file's matrix, or of one expert's part of it, that hold one of the decoder's.
struct PlacedRows {
  int64_t file_rows = 0;
  std::vector<int64_t> rows;  // [row of the decoder's matrix]; empty: all, in order
};
PlacedRows PlaceRows(RowPart part, int64_t rows, const ModelConfig& config);

class TensorTable {
 public:
  // Throws Error naming `thing` and the tensor if it is missing, of another shape than described,
  // or not part of the description (endings in `ignored` are skipped). `copied` is called with each
  // tensor of the file that was copied transposed and is no longer read.
  TensorTable(
      const ModelConfig& config, const std::vector<TensorPlace>& places, const FileTensors& file,
      const std::vector<std::string_view>& ignored, const std::string& thing,
      const std::function<void(const FileTensor&)>& copied = [](const FileTensor&) {});

  const TensorRef* Find(const std::string& name) const;  // null if there is none
  // Returns null unless the tensor's rows are those of a quantised matrix; its `data` is null then.
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
  // Transposed copies of matrices that are [inputs, outputs] in the file, keyed by their names
  // there.
  std::map<std::string, std::vector<std::byte>, std::less<>> transposed_;
};

}  // namespace midscope
