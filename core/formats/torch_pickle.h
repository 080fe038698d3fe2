// SPDX-License-Identifier: MIT
// The pickle of a state dict, as torch.save writes it: which tensors there are, and where their
// elements are in which storage. The names that it may use are those of tensors, storages, dtypes
// and OrderedDict; every other name is refused where it occurs, whether it is called or not.
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
  std::string_view storage;  // torch.NAME: "BFloat16Storage"; empty: UntypedStorage is used
};

struct TorchStorage {
  std::string_view key;  // decimal digits: the entry data/KEY of the archive
  const TorchDtype* dtype = nullptr;
  int64_t elements = 0;
};

struct TorchTensor {
  size_t storage = 0;  // index into TorchStateDict::storages
  const TorchDtype* dtype = nullptr;
  int64_t offset = 0;  // of the first element, in elements of `dtype`
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // of every dimension, in elements
};

struct TorchStateDict {
  std::vector<TorchStorage> storages;
  std::map<std::string, TorchTensor, std::less<>> tensors;
};

// Numbers are checked to be >= 0; whether tensors are inside their storages is not. Values that are
// not tensors are skipped, as transformers does. Throws Error naming `thing`: an opcode, a name, a
// call or a persistent id that no state dict has (pickle_reader.h), anything but a dictionary with
// tensors by name.
TorchStateDict ReadTorchPickle(std::span<const std::byte> pickle, const std::string& thing);

}  // namespace midscope
