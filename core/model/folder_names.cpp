// SPDX-License-Identifier: MIT
#include "core/model/folder_names.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "kernels/dequantise.h"

namespace midscope {
namespace {

// "model.embed_tokens.weight" of the decoder's "token_embedding"; empty: the family has none.
std::string FileName(const std::vector<TensorPlace>& places, std::string_view decoder_name) {
  for (const TensorPlace& place : places) {
    if (place.name == decoder_name) return std::string(place.file_name) + ".weight";
  }
  return "";
}

bool TakePrefix(std::string_view prefix, std::string_view* name) {
  if (!name->starts_with(prefix)) return false;
  name->remove_prefix(prefix.size());
  return true;
}

// Whether two matrices hold the same numbers. The first rows of different ones differ, so that
// whole files are read only where they are equal.
bool HoldSameValues(const FileTensor& left, const FileTensor& right) {
  if (left.shape != right.shape || left.shape.size() != 2) return false;
  if (!left.unread_dtype.empty() || !right.unread_dtype.empty()) return false;
  if (left.format.type == right.format.type)
    return left.data == right.data ||
           std::memcmp(left.data, right.data, static_cast<size_t>(left.bytes)) == 0;
  const int64_t rows = left.shape[0];
  const int64_t columns = left.shape[1];
  std::vector<float> a(static_cast<size_t>(columns));
  std::vector<float> b(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    kernels::Dequantise(left.format.type, left.data + row * (left.bytes / rows), columns, a.data());
    kernels::Dequantise(right.format.type, right.data + row * (right.bytes / rows), columns,
                        b.data());
    if (a != b) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> TextTensorName(std::string_view name, const TextWrapper& wrapper) {
  std::string_view within = name;
  TakePrefix("model.", &within);
  for (const std::string_view part : wrapper.other_parts) {
    if (within.starts_with(part)) return std::nullopt;
  }
  // transformers 4: language_model.model.layers and language_model.lm_head; 5: model.language_model
  // .layers and lm_head, and of a base model language_model.layers.
  std::string_view rest = name;
  if (TakePrefix("language_model.lm_head.", &rest)) return "lm_head." + std::string(rest);
  if (TakePrefix("language_model.model.", &rest) || TakePrefix("model.language_model.", &rest) ||
      TakePrefix("language_model.", &rest))
    return "model." + std::string(rest);
  return std::string(name);
}

void CompleteBaseNames(const std::vector<TensorPlace>& places, FileTensors* tensors) {
  const std::string embedding = FileName(places, "token_embedding");
  const std::string output = FileName(places, "output");
  const size_t point = embedding.find('.');
  const std::string prefix = embedding.substr(0, point + 1);  // "model."
  if (tensors->contains(embedding) || !tensors->contains(embedding.substr(point + 1))) return;
  FileTensors completed;
  for (auto& [name, tensor] : *tensors) {
    const bool complete = name.starts_with(prefix) || name == output;
    completed.emplace(complete ? name : prefix + name, std::move(tensor));
  }
  *tensors = std::move(completed);
}

void ResolveOutput(const std::vector<TensorPlace>& places, const std::string& thing,
                   FileTensors* tensors, ModelConfig* config) {
  const std::string embedding = FileName(places, "token_embedding");
  const std::string output = FileName(places, "output");
  const auto own = tensors->find(output);
  const auto embedded = tensors->find(embedding);
  if (!config->tied_embeddings) {
    if (own != tensors->end() || output.empty() || embedded == tensors->end()) return;
    throw Failure(thing,
                  "has no output matrix " + Quote(output) +
                      ", and its config.json says that the embeddings do not stand for it "
                      "(tie_word_embeddings is false): it was saved as a base model, without its "
                      "head",
                  "Save the whole model (AutoModelForCausalLM), or fetch it again");
  }
  if (own == tensors->end()) return;
  if (embedded == tensors->end()) {
    tensors->emplace(embedding, own->second);
    return;
  }
  if (HoldSameValues(embedded->second, own->second)) return;
  config->tied_embeddings = false;
  config->notes.push_back(
      "tie_word_embeddings is set, but the file has an output matrix " + Quote(output) +
      " of other values than the embeddings: it is used, as transformers 5 does. Set "
      "tie_word_embeddings to false to say so in config.json");
}

}  // namespace midscope
