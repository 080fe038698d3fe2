// SPDX-License-Identifier: MIT
// Reads the pickle of a state dict as written by torch.save: the list of tensors, and the storage
// and location of their elements. The pickle may use only the names of tensors, storages, dtypes
// and OrderedDict; any other name is refused, even if it is not called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct TorchDtype {
  std::string_view name;     // as safetensors names it: "BF16"
  int64_t bytes;             // per element
  std::string_view torch;    // torch.NAME: "bfloat16"
  std::string_view storage;  // torch.NAME: "BFloat16Storage"; empty: stored as UntypedStorage
};

struct TorchStorage {
  std::string_view key;  // decimal digits; the storage is the archive's entry data/KEY
  const TorchDtype* dtype = nullptr;
  int64_t elements = 0;
};

struct TorchTensor {
  size_t storage = 0;  // index into TorchStateDict::storages
  const TorchDtype* dtype = nullptr;
  int64_t offset = 0;  // offset of the first element, in elements of `dtype`
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // [dimension], in elements
};

struct TorchStateDict {
  std::vector<TorchStorage> storages;
  std::map<std::string, TorchTensor, std::less<>> tensors;
  // With `numbered`: the dictionary's integers, and as metadata.NAME the integers in its dictionary
  // `metadata`.
  std::map<std::string, int64_t, std::less<>> integers = {};
};

// Reads the pickle of a state dict. Checks that numbers are >= 0, but not that tensors are within
// their storages. Values that are not tensors are skipped, as in transformers. Throws Error naming
// `thing` for an opcode, name, call or persistent id that no state dict has (pickle_reader.h), and
// for anything but a dictionary with tensors by name. `numbered`: if not empty, the name of a
// nested dictionary with integer keys whose tensors are returned, named by their keys in decimal
// (Jacobian lenses: jacobian_lens.h).
TorchStateDict ReadTorchPickle(std::span<const std::byte> pickle, const std::string& thing,
                               std::string_view numbered = "");

}  // namespace midscope
