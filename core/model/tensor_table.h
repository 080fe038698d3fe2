// SPDX-License-Identifier: MIT
// The tensors of a model file under the decoder's names: checks the family's tensors against the
// file's.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

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
  // Set where weights of this dtype are not read: an error only where the decoder needs the tensor.
  std::string unread_dtype = {};
};

// By the names that a family's places have.
using FileTensors = std::map<std::string, FileTensor, std::less<>>;

// Fills in config->parameters, their bytes and the type that most of them have.
void CountParameters(const FileTensors& tensors, ModelConfig* config);

// Number of bytes from tensor.data on that contain its rows.
int64_t SpannedBytes(const TensorRef& tensor);

class TensorTable {
 public:
  // Throws Error naming `thing` and the tensor: missing, of another shape than in the description,
  // or not part of it (endings in `ignored` are skipped). `copied` is called with each tensor of
  // the file of which a transposed copy was made, and which is not read any more.
  TensorTable(
      const ModelConfig& config, const std::vector<TensorPlace>& places, const FileTensors& file,
      const std::vector<std::string_view>& ignored, const std::string& thing,
      const std::function<void(const FileTensor&)>& copied = [](const FileTensor&) {});

  const TensorRef* Find(const std::string& name) const;  // null where there is none
  int64_t transposed_bytes() const;                      // of copies of the file's matrices

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
  const std::function<void(const FileTensor&)>& copied_;  // likewise
  std::string thing_;
  std::map<std::string, TensorRef, std::less<>> tensors_;
  std::set<std::string, std::less<>> used_;
  std::deque<std::vector<float>> reordered_;  // biases whose elements are in another order
  // Copies of matrices that the file has as [inputs, outputs], by their names in the file.
  std::map<std::string, std::vector<std::byte>, std::less<>> transposed_;
};

}  // namespace midscope
