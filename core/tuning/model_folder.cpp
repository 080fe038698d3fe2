// SPDX-License-Identifier: MIT
#include "core/tuning/model_folder.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/formats/folder_weights.h"
#include "core/formats/safetensors.h"

namespace midscope {
namespace {

constexpr std::string_view kBiasEnding = ".bias";
constexpr std::string_view kNormEnding = "_norm";

// The rows of a file's tensor that hold a weight.
struct StoredPart {
  std::string weight;
  const std::byte* begin = nullptr;  // address of the rows' tensor in the file
  const TensorRef* rows = nullptr;
  int64_t columns = 0;
};
using StoredParts = std::map<std::string, std::vector<StoredPart>>;

// Returns the matrix whose rows have the order of the weight's elements, or the weight itself.
std::string RowsOf(const ModelSource& source, const std::string& name) {
  if (name.ends_with(kBiasEnding)) return name.substr(0, name.size() - kBiasEnding.size());
  if (!name.ends_with(kNormEnding)) return name;
  const std::string matrix = name.substr(0, name.size() - kNormEnding.size());
  const TensorRef* rows = source.Find(matrix);
  const bool is_ordered =
      rows != nullptr && !rows->row_order.empty() && rows->rows == source.Find(name)->columns;
  return is_ordered ? matrix : name;
}

// Returns the parts of each tensor by its name in the file.
StoredParts PartsOf(const ModelSource& source, const NamedTensors& weights) {
  std::map<std::string, const std::byte*> first;  // row of each tensor
  for (const auto& [name, weight] : weights) {
    const TensorRef& rows = *source.Find(RowsOf(source, name));
    const auto [found, is_new] = first.try_emplace(rows.file_name, rows.data);
    if (!is_new) found->second = std::min(found->second, rows.data);
  }
  StoredParts parts;
  for (const auto& [name, weight] : weights) {
    const TensorRef* rows = source.Find(RowsOf(source, name));
    const int64_t columns = RowsOf(source, name) == name ? rows->columns : 1;
    parts[source.Find(name)->file_name].push_back({name, first.at(rows->file_name), rows, columns});
  }
  return parts;
}

// Returns the tensor of the file [elements]; undefined if the parts do not make one of this size.
at::Tensor Assembled(const std::vector<StoredPart>& parts, const NamedTensors& weights,
                     int64_t elements) {
  at::Tensor whole;
  int64_t filled = 0;
  for (const StoredPart& part : parts) {
    const at::Tensor values = weights.at(part.weight).detach().to(at::kCPU).contiguous();
    const int64_t offset = (part.rows->data - part.begin) / part.rows->row_bytes;
    const std::vector<int64_t>& order = part.rows->row_order;
    filled += values.numel();
    if (parts.size() == 1 && order.empty() && offset == 0)
      return values.numel() == elements ? values.flatten() : at::Tensor();
    if (!whole.defined()) whole = at::zeros({elements}, values.options());
    const at::Tensor from = values.reshape({-1, part.columns});
    at::Tensor rows = order.empty() ? at::arange(from.size(0)) : at::tensor(order, at::kLong);
    rows = rows + offset;
    if (elements % part.columns != 0 || rows.numel() != from.size(0) ||
        rows.max().item<int64_t>() >= elements / part.columns)
      return {};
    whole.view({-1, part.columns}).index_copy_(0, rows, from);
  }
  return filled == elements ? whole : at::Tensor();
}

int64_t ElementsOf(const SafetensorsTensor& stored) {
  int64_t elements = 1;
  for (const int64_t size : stored.shape) elements *= size;
  return elements;
}

// Returns the tensor in the dtype [elements]; undefined for a dtype that weights do not have.
at::Tensor StoredValues(const SafetensorsTensor& stored, at::ScalarType dtype) {
  static const std::map<std::string_view, at::ScalarType> dtypes = {
      {"F32", at::kFloat}, {"BF16", at::kBFloat16}, {"F16", at::kHalf}, {"F64", at::kDouble}};
  const auto found = dtypes.find(stored.dtype);
  if (found == dtypes.end()) return {};
  const at::Tensor values = at::empty({ElementsOf(stored)}, found->second);
  std::copy_n(stored.data, stored.bytes, static_cast<std::byte*>(values.data_ptr()));
  return values.to(at::kFloat).to(dtype);
}

// Returns the name of the weights' dtype in safetensors and in config.json.
const char* SafetensorsDtype(const at::Tensor& weight) {
  if (weight.scalar_type() == at::kFloat) return "F32";
  return weight.scalar_type() == at::kHalf ? "F16" : "BF16";
}

bool IsWeightsFile(const std::string& name) {
  return std::any_of(kWeightNames.begin(), kWeightNames.end(), [&](const WeightNames& names) {
    return name.ends_with(names.ending) ||
           name.ends_with(std::string(names.ending) + ".index.json");
  });
}

void CopyOtherFiles(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr std::string_view kCopied[] = {".json", ".txt", ".model", ".jinja"};
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    const bool is_copied =
        std::any_of(std::begin(kCopied), std::end(kCopied),
                    [&](std::string_view ending) { return name.ends_with(ending); });
    if (!entry.is_regular_file() || !is_copied || IsWeightsFile(name) || name == "config.json" ||
        name.starts_with("midscope_"))
      continue;
    std::error_code failed;
    std::filesystem::copy_file(entry.path(), to / name,
                               std::filesystem::copy_options::overwrite_existing, failed);
    if (failed) throw Failure((to / name).string(), "it cannot be written: " + failed.message());
  }
}

}  // namespace

void CheckModelFolder(const ModelSource& source, const NamedTensors& weights) {
  const std::string remedy = "Tune an adapter: --lora RANK";
  if (!std::filesystem::is_directory(source.path())) {
    throw UsageError(source.path(),
                     "all weights can be tuned only of a Hugging Face folder; those of a GGUF file "
                     "are quantised and cannot be written back",
                     remedy + ", or use the model's folder");
  }
  const FolderWeights file(source.path());
  for (const auto& [name, parts] : PartsOf(source, weights)) {
    const auto stored = file.tensors().find(name);
    const at::ScalarType dtype = weights.at(parts.front().weight).scalar_type();
    const bool is_known = stored != file.tensors().end();
    const at::Tensor expected = is_known ? StoredValues(stored->second, dtype) : at::Tensor();
    const at::Tensor made =
        is_known ? Assembled(parts, weights, ElementsOf(stored->second)) : at::Tensor();
    if (expected.defined() && made.defined() && at::equal(expected, made)) continue;
    throw UsageError(source.path(),
                     "the tensor " + name + " has a layout that tuned weights cannot be written in",
                     remedy);
  }
}

void WriteModelFolder(const ModelSource& source, const NamedTensors& weights,
                      const std::filesystem::path& folder) {
  const FolderWeights file(source.path());
  const StoredParts parts = PartsOf(source, weights);
  const at::Tensor& embedding = weights.at("token_embedding");
  SafetensorsTensors tensors;
  std::deque<at::Tensor> held;  // while `tensors` points to them
  for (const auto& [name, stored] : file.tensors()) {
    const auto found = parts.find(name);
    if (found == parts.end()) {
      const bool is_unused_output =
          source.config().tied_embeddings && stored.shape == embedding.sizes().vec();
      if (!is_unused_output) tensors[name] = stored;
      continue;
    }
    const at::Tensor& values =
        held.emplace_back(Assembled(found->second, weights, ElementsOf(stored)));
    tensors[name] = {SafetensorsDtype(values), stored.shape,
                     static_cast<const std::byte*>(values.const_data_ptr()),
                     static_cast<int64_t>(values.nbytes())};
  }
  MakeFolder(folder);
  WriteSafetensors(folder / "model.safetensors", tensors);
  CopyOtherFiles(source.path(), folder);
}

}  // namespace midscope
