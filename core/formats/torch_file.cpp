// SPDX-License-Identifier: MIT
#include "core/formats/torch_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/formats/torch_pickle.h"
#include "core/formats/zip_directory.h"

namespace midscope {
namespace {

constexpr std::string_view kPickleName = "data.pkl";
// Limits copies of views that repeat elements, which can be larger than any file.
constexpr int64_t kMaxExtraCopies = int64_t{64} << 20;

constexpr const char* kSaveAgain =
    "Save it again with a current torch: in Python, torch.save(torch.load(FILE), FILE); or convert "
    "the model to safetensors";
constexpr const char* kFetchAgain = "The file is damaged: fetch it again";

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Throws Error that names the format if the file is of another known format.
void CheckForm(std::span<const std::byte> bytes, const std::string& thing) {
  const std::string_view text = AsText(bytes);
  if (text.starts_with("PK\x03\x04")) return;
  if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5) {
    throw Failure(thing,
                  "is in the form that torch.save wrote before version 1.6, without a zip archive, "
                  "which is not supported",
                  kSaveAgain);
  }
  if (text.substr(0, 512).find("ustar") != std::string_view::npos)
    throw Failure(thing, "is a tar archive of an old torch.save, which is not supported",
                  kSaveAgain);
  if (text.starts_with("version https://git-lfs")) {
    throw Failure(thing, "is a pointer of Git LFS, not the file itself",
                  "Fetch the file: git lfs pull, or midscope fetch ORG/NAME");
  }
  throw Failure(thing, "is not a file of torch.save: it is not a zip archive",
                "Fetch it again, or convert the model to safetensors");
}

// Returns an entry's data. torch.save stores entries uncompressed.
std::span<const std::byte> StoredData(const ZipEntries::value_type& entry,
                                      const std::string& thing) {
  if (entry.second.stored) return entry.second.data;
  throw Failure(thing, "its entry " + Quote(entry.first, 120) + " is compressed or encrypted",
                kSaveAgain);
}

// Returns "NAME/", the folder in which torch.save stores its entries.
std::string ArchiveFolder(const ZipEntries& entries, const std::string& thing) {
  std::string folder;
  for (const auto& [name, entry] : entries) {
    const size_t slash = name.find('/');
    if (slash == std::string_view::npos || name.substr(slash + 1) != kPickleName) continue;
    if (!folder.empty())
      throw Failure(thing, "has two entries " + std::string(kPickleName), kSaveAgain);
    folder = name.substr(0, slash + 1);
  }
  if (folder.empty()) {
    throw Failure(thing,
                  "is a zip archive without " + std::string(kPickleName) +
                      ", so torch.save did "
                      "not write it",
                  "Fetch it again, or convert the model to safetensors");
  }
  if (entries.contains(folder + "constants.pkl")) {
    throw Failure(thing, "is a TorchScript archive, a program, not weights",
                  "Save its weights: in Python, torch.save(torch.jit.load(FILE).state_dict(), "
                  "NEW_FILE)");
  }
  const auto order = entries.find(folder + "byteorder");
  if (order != entries.end() && AsText(StoredData(*order, thing)) != "little")
    throw Failure(thing, "its numbers are big-endian, which is not supported", kSaveAgain);
  return folder;
}

using Storages = std::vector<std::span<const std::byte>>;

Storages FindStorages(const TorchStateDict& state, const ZipEntries& entries,
                      const std::string& folder, const std::string& thing) {
  Storages found;
  for (const TorchStorage& storage : state.storages) {
    const auto entry = entries.find(folder + "data/" + std::string(storage.key));
    if (entry == entries.end())
      throw Failure(thing, "has no entry for its storage " + Quote(storage.key), kFetchAgain);
    const std::span<const std::byte> data = StoredData(*entry, thing);
    const auto bytes = static_cast<int64_t>(data.size());
    if (bytes % storage.dtype->bytes != 0 || bytes / storage.dtype->bytes != storage.elements) {
      throw Failure(thing,
                    fmt::format("its storage {} has {} bytes, which {} elements of {} contradict",
                                Quote(storage.key), bytes, storage.elements, storage.dtype->name),
                    kFetchAgain);
    }
    found.push_back(data);
  }
  return found;
}

// Whether elements are in row-major order without gaps; the strides of dimensions of size 1 do not
// matter.
bool IsContiguous(const TorchTensor& tensor) {
  int64_t next = 1;
  for (size_t i = tensor.shape.size(); i > 0; --i) {
    const int64_t size = tensor.shape[i - 1];
    if (size == 1) continue;
    if (tensor.strides[i - 1] != next) return false;
    next *= size;  // at most the tensor's number of elements, which was checked
  }
  return true;
}

class TensorMaker {
 public:
  TensorMaker(size_t file_bytes, const std::string& thing,
              std::deque<std::vector<std::byte>>* copies)
      : left_(static_cast<int64_t>(file_bytes) + kMaxExtraCopies), thing_(thing), copies_(copies) {}

  SafetensorsTensor Make(const std::string& name, const TorchTensor& tensor,
                         std::span<const std::byte> storage) {
    SafetensorsTensor made;
    made.dtype = tensor.dtype->name;
    made.shape = tensor.shape;
    made.data = storage.data();
    if (std::find(made.shape.begin(), made.shape.end(), 0) != made.shape.end()) return made;
    CheckRange(name, tensor, storage);
    const int64_t elements = CountElements(name, tensor);
    made.bytes = elements * tensor.dtype->bytes;
    made.data += tensor.offset * tensor.dtype->bytes;
    if (!IsContiguous(tensor)) made.data = Copy(name, tensor, made.data, made.bytes);
    return made;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  void CheckRange(const std::string& name, const TorchTensor& tensor,
                  std::span<const std::byte> storage) const {
    const Wide limit = storage.size() / static_cast<size_t>(tensor.dtype->bytes);
    Wide last = static_cast<Wide>(tensor.offset);
    for (size_t i = 0; i < tensor.shape.size(); ++i) {
      last += static_cast<Wide>(tensor.shape[i] - 1) * static_cast<Wide>(tensor.strides[i]);
      if (last >= limit) break;
    }
    if (last < limit) return;
    throw Failure(thing_, "tensor " + Quote(name, 120) + " reaches beyond its storage",
                  kFetchAgain);
  }

  // Checks the number of elements: with strides of 0, there can be more than the storage has.
  int64_t CountElements(const std::string& name, const TorchTensor& tensor) const {
    Wide elements = 1;
    for (const int64_t size : tensor.shape) {
      elements *= static_cast<Wide>(size);
      if (elements * static_cast<Wide>(tensor.dtype->bytes) <= static_cast<Wide>(INT64_MAX))
        continue;
      FailSize(name);
    }
    return static_cast<int64_t>(elements);
  }

  [[noreturn]] void FailSize(const std::string& name) const {
    throw Failure(thing_,
                  "tensor " + Quote(name, 120) +
                      " is an expanded view whose copy would be larger than the file",
                  kSaveAgain);
  }

  const std::byte* Copy(const std::string& name, const TorchTensor& tensor, const std::byte* from,
                        int64_t bytes) {
    left_ -= bytes;
    if (left_ < 0) FailSize(name);
    std::vector<std::byte>& copy = copies_->emplace_back(static_cast<size_t>(bytes));
    const auto element = static_cast<size_t>(tensor.dtype->bytes);
    std::vector<int64_t> index(tensor.shape.size(), 0);
    int64_t place = 0;  // offset of the element within the storage, relative to the first element
    for (std::byte* to = copy.data(); to < copy.data() + bytes; to += element) {
      std::memcpy(to, from + place * tensor.dtype->bytes, element);
      for (size_t i = index.size(); i > 0; --i) {
        const int64_t stride = tensor.strides[i - 1];
        if (++index[i - 1] < tensor.shape[i - 1]) {
          place += stride;
          break;
        }
        place -= (tensor.shape[i - 1] - 1) * stride;
        index[i - 1] = 0;
      }
    }
    return copy.data();
  }

  int64_t left_;
  const std::string& thing_;
  std::deque<std::vector<std::byte>>* copies_;
};

}  // namespace

SafetensorsTensors ReadTorchFile(std::span<const std::byte> bytes, const std::string& thing,
                                 std::deque<std::vector<std::byte>>* copies) {
  return ReadTorchContents(bytes, thing, "", copies).tensors;
}

TorchContents ReadTorchContents(std::span<const std::byte> bytes, const std::string& thing,
                                std::string_view numbered,
                                std::deque<std::vector<std::byte>>* copies) {
  CheckForm(bytes, thing);
  const ZipEntries entries = ReadZipDirectory(bytes, thing);
  const std::string folder = ArchiveFolder(entries, thing);
  const auto pickle = entries.find(folder + std::string(kPickleName));
  TorchStateDict state = ReadTorchPickle(StoredData(*pickle, thing), thing, numbered);
  const Storages storages = FindStorages(state, entries, folder, thing);
  TorchContents contents;
  contents.integers = std::move(state.integers);
  TensorMaker maker(bytes.size(), thing, copies);
  for (const auto& [name, tensor] : state.tensors)
    contents.tensors.emplace(name, maker.Make(name, tensor, storages[tensor.storage]));
  return contents;
}

}  // namespace midscope
