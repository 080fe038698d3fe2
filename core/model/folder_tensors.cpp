// SPDX-License-Identifier: MIT
#include "core/model/folder_tensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/model/model_shapes.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

namespace {

// Returns the file's name of a decoder tensor: "model.embed_tokens.weight" for "token_embedding";
// empty if the family has no such tensor.
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

// Whether two matrices contain equal values. The first rows of unequal matrices usually differ, so
// whole matrices are only read if they are equal.
bool HoldSameValues(const FileTensor& left, const FileTensor& right) {
  if (left.shape != right.shape || left.shape.size() != 2) return false;
  if (!left.unread_dtype.empty() || !right.unread_dtype.empty()) return false;
  if (left.quantised != nullptr || right.quantised != nullptr) return false;
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
  // Prefixes in transformers 4: language_model.model.layers and language_model.lm_head; in 5:
  // model.language_model.layers and lm_head, or language_model.layers for a base model. Idefics 3:
  // model.text_model.layers.
  std::string_view rest = name;
  if (TakePrefix("language_model.lm_head.", &rest)) return "lm_head." + std::string(rest);
  if (TakePrefix("language_model.model.", &rest) || TakePrefix("model.language_model.", &rest) ||
      TakePrefix("language_model.", &rest) || TakePrefix("model.text_model.", &rest) ||
      TakePrefix("text_model.", &rest))
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
                      ", and its config.json does not tie it to the embeddings "
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
      "tie_word_embeddings to false in config.json to match the file");
}

namespace {

constexpr std::string_view kNorms = ".norms.";
constexpr std::string_view kFirst = ".norms.0.weight";
constexpr std::string_view kWeight = ".weight";

// Returns the names of the norms of heads 0, 1, ... up to the first that does not exist.
std::vector<std::string> NamesOfHeads(const FileTensors& tensors, const std::string& prefix) {
  std::vector<std::string> names;
  for (;;) {
    std::string name = prefix + std::string(kNorms) + std::to_string(names.size()) + ".weight";
    if (!tensors.contains(name)) return names;
    names.push_back(std::move(name));
  }
}

}  // namespace

void JoinNormsOfHeads(const std::string& thing, FileTensors* tensors,
                      std::deque<std::vector<std::byte>>* data) {
  std::vector<std::string> prefixes;
  for (const auto& [name, tensor] : *tensors) {
    if (name.ends_with(kFirst)) prefixes.push_back(name.substr(0, name.size() - kFirst.size()));
  }
  for (const std::string& prefix : prefixes) {
    const std::vector<std::string> names = NamesOfHeads(*tensors, prefix);
    const FileTensor first = tensors->at(names.front());
    std::vector<std::byte>& joined = data->emplace_back();
    for (const std::string& name : names) {
      const FileTensor& tensor = tensors->at(name);
      if (tensor.shape != first.shape || tensor.format.type != first.format.type ||
          tensor.unread_dtype != first.unread_dtype || tensor.shape.size() != 1) {
        throw Failure(thing, "tensor " + Quote(name, 120) + " is not a vector like that of head 0");
      }
      joined.insert(joined.end(), tensor.data, tensor.data + tensor.bytes);
      tensors->erase(name);
    }
    tensors->emplace(prefix + std::string(kWeight),
                     FileTensor{{static_cast<int64_t>(names.size()), first.shape.front()},
                                first.format,
                                joined.data(),
                                static_cast<int64_t>(joined.size()),
                                prefix + std::string(kNorms) + "N.weight",
                                first.unread_dtype});
  }
}

namespace {

constexpr std::string_view kBlocks = "_blocks";
constexpr std::string_view kScales = "_scales";
constexpr int64_t kNibbleBytes = 16;  // per block
constexpr int64_t kElements = 32;

std::byte Nibble(const std::byte* block, int64_t element) {
  const std::byte both = block[element / 2];
  return element % 2 == 0 ? both & std::byte{15} : both >> 4;
}

// Interleaves scales and elements into blocks in the layout of BlockType::kMXFP4: the exponent,
// then elements i and i + 16 in byte i.
std::vector<std::byte> Joined(const SafetensorsTensor& blocks, const SafetensorsTensor& scales) {
  std::vector<std::byte> joined(static_cast<size_t>(scales.bytes * (kNibbleBytes + 1)));
  std::byte* to = joined.data();
  const std::byte* from = blocks.data;
  for (int64_t block = 0; block < scales.bytes; ++block, from += kNibbleBytes) {
    *to++ = scales.data[block];
    for (int64_t i = 0; i < kNibbleBytes; ++i)
      *to++ = Nibble(from, i) | Nibble(from, i + kNibbleBytes) << 4;
  }
  return joined;
}

void CheckPair(const std::string& thing, const std::string& name, const SafetensorsTensor& blocks,
               const SafetensorsTensor& scales) {
  if (blocks.dtype != "U8" || scales.dtype != "U8")
    throw Failure(thing, "tensors of " + Quote(name, 120) + " in MXFP4 must have the dtype U8");
  std::vector<int64_t> wanted = scales.shape;
  wanted.push_back(kNibbleBytes);
  if (scales.shape.empty() || blocks.shape != wanted) {
    throw Failure(thing, "tensor " + Quote(name + std::string(kBlocks), 120) + " has shape " +
                             ShapeText(blocks.shape) + "; its scales need " + ShapeText(wanted));
  }
}

}  // namespace

void JoinMxfp4(const std::string& thing,
               const std::function<void(const SafetensorsTensor&)>& copied,
               SafetensorsTensors* file, FileTensors* tensors,
               std::deque<std::vector<std::byte>>* data) {
  SafetensorsTensors left;
  for (auto& [name, tensor] : *file) {
    const bool is_scales = name.ends_with(kScales);
    if (!is_scales && !name.ends_with(kBlocks)) {
      left.emplace(name, std::move(tensor));
      continue;
    }
    const std::string own = name.substr(0, name.size() - kBlocks.size());
    const auto other = file->find(own + std::string(is_scales ? kBlocks : kScales));
    if (other == file->end()) {
      throw Failure(thing, "has tensor " + Quote(name, 120) + " without its " +
                               std::string(is_scales ? "blocks" : "scales"));
    }
    if (is_scales) continue;
    CheckPair(thing, own, tensor, other->second);
    std::vector<int64_t> shape = other->second.shape;
    shape.back() *= kElements;
    const std::vector<std::byte>& joined = data->emplace_back(Joined(tensor, other->second));
    copied(tensor);
    copied(other->second);
    const auto format =
        *kernels::FindBlockFormat(static_cast<uint32_t>(kernels::BlockType::kMXFP4));
    tensors->emplace(own + ".mxfp4",
                     FileTensor{std::move(shape), format, joined.data(),
                                static_cast<int64_t>(joined.size()), own + std::string(kBlocks)});
  }
  *file = std::move(left);
}

}  // namespace midscope
