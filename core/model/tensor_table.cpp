// SPDX-License-Identifier: MIT
#include "core/model/tensor_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "kernels/check.h"

namespace midscope {
namespace {

// "3.query" of "N.query", "3.experts.5.up" of "N.experts.E.up".
std::string NameFor(std::string_view pattern, const NeededTensor& needed) {
  std::string name(pattern);
  const size_t layer = name.starts_with("N.") ? 0 : name.find(".N.");
  if (layer != std::string::npos)
    name.replace(layer == 0 ? 0 : layer + 1, 1, std::to_string(needed.layer));
  const size_t expert = name.find(".E.");
  if (expert != std::string::npos) name.replace(expert + 1, 1, std::to_string(needed.expert));
  return name;
}

std::string FileNameFor(const TensorPlace& place, const NeededTensor& needed) {
  return NameFor(place.file_name, needed) +
         (place.ending == TensorEnding::kWeight ? ".weight" : "");
}

const TensorPlace* FindPlace(const std::vector<TensorPlace>& places, const NeededTensor& needed) {
  for (const TensorPlace& place : places) {
    if (NameFor(place.name, needed) == needed.name) return &place;
  }
  return nullptr;
}

// Number of rows of the file's whole tensor, of which `rows` are the decoder's.
int64_t FileRows(RowPart part, int64_t rows, const ModelConfig& config) {
  const int64_t heads = config.heads + 2 * config.key_value_heads;
  switch (part) {
    case RowPart::kAll:
    case RowPart::kInterleaved:
    case RowPart::kExpert:
    case RowPart::kOnlyRow:
      return rows;
    case RowPart::kGate:
    case RowPart::kUp:
      return 2 * rows;
    default:
      return heads * config.head_dim;
  }
}

// First row of a contiguous part.
int64_t FirstRow(RowPart part, const ModelConfig& config) {
  const int64_t query = config.heads * config.head_dim;
  switch (part) {
    case RowPart::kKey:
      return query;
    case RowPart::kValue:
      return query + config.key_value_heads * config.head_dim;
    case RowPart::kUp:
      return config.feed_forward;
    default:
      return 0;
  }
}

// Row of the file's head for a row of the decoder's. Only the first `rotated` rows of a head are
// pairs: 2j and 2j + 1 in the file, j and j + rotated / 2 in the decoder. The others are in order.
int64_t InterleavedRow(int64_t within, int64_t rotated) {
  const int64_t pairs = rotated / 2;
  if (within >= rotated) return within;
  return within < pairs ? 2 * within : 2 * (within - pairs) + 1;
}

// Row of the file for each of the decoder's rows; empty where they are in order.
std::vector<int64_t> RowOrder(RowPart part, int64_t rows, const ModelConfig& config) {
  std::vector<int64_t> order;
  const int64_t third = static_cast<int64_t>(part) - static_cast<int64_t>(RowPart::kHeadQuery);
  if (part >= RowPart::kExpert || (part != RowPart::kInterleaved && third < 0)) return order;
  order.resize(static_cast<size_t>(rows));
  const int64_t head_dim = config.head_dim;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / head_dim;
    const int64_t within = row % head_dim;
    order[static_cast<size_t>(row)] =
        part == RowPart::kInterleaved
            ? head * head_dim + InterleavedRow(within, config.rope_dimensions)
            : (3 * head + third) * head_dim + within;
  }
  return order;
}

// Whether it is of the layers that come after the model's last (ModelConfig::prediction_layers).
bool IsOfPredictionLayer(const std::string& name, const ModelConfig& config) {
  for (int64_t extra = 0; extra < config.prediction_layers; ++extra) {
    const std::string layer = std::to_string(config.layers + extra) + ".";
    if (name.starts_with("model.layers." + layer) || name.starts_with("blk." + layer)) return true;
  }
  return false;
}

const std::string& ShownName(const FileTensor& tensor, const std::string& name) {
  return tensor.file_name.empty() ? name : tensor.file_name;
}

}  // namespace

void CountParameters(const FileTensors& tensors, ModelConfig* config) {
  std::map<std::string_view, int64_t> counts;
  for (const auto& [name, tensor] : tensors) {
    // Each tensor's bytes are inside its file, without overlap, so these sums can't overflow.
    const int64_t elements = tensor.bytes / tensor.format.bytes * tensor.format.elements;
    counts[tensor.format.name] += elements;
    config->parameters += elements;
    config->stored_bytes += tensor.bytes;
  }
  int64_t most = 0;
  for (const auto& [name, count] : counts) {
    if (count <= most) continue;
    most = count;
    config->quantisation = name;
  }
}

int64_t SpannedBytes(const TensorRef& tensor) {
  if (tensor.row_order.empty()) return tensor.rows * tensor.row_bytes;
  return (*std::max_element(tensor.row_order.begin(), tensor.row_order.end()) + 1) *
         tensor.row_bytes;
}

TensorTable::TensorTable(const ModelConfig& config, const std::vector<TensorPlace>& places,
                         const FileTensors& file, const std::vector<std::string_view>& ignored,
                         const std::string& thing)
    : config_(config), file_(file), thing_(thing) {
  const std::vector<NeededTensor> needed = NeededTensors(config);
  std::map<const TensorPlace*, std::vector<NeededTensor>> by_place;
  for (const NeededTensor& tensor : needed) {
    const TensorPlace* place = FindPlace(places, tensor);
    MIDSCOPE_CHECK(place != nullptr, "no place for tensor " + tensor.name);
    Add(tensor, *place);
    by_place[place].push_back(tensor);
  }
  for (const auto& [place, tensors] : by_place) AddBiases(tensors, *place);
  // Tied embeddings are sometimes stored twice; they were compared when the file was opened.
  if (config.tied_embeddings) {
    const TensorPlace* output = FindPlace(places, {"output", -1, {}});
    if (output != nullptr) used_.insert(std::string(output->file_name) + ".weight");
  }
  CheckNoneLeft(ignored);
}

const TensorRef* TensorTable::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const FileTensor& TensorTable::Require(const std::string& file_name) {
  const auto found = file_.find(file_name);
  if (found == file_.end()) {
    throw Failure(thing_, "has no tensor " + Quote(file_name, 120),
                  "The model is incomplete: fetch or convert it again");
  }
  used_.insert(file_name);
  return found->second;
}

void TensorTable::Add(const NeededTensor& needed, const TensorPlace& place) {
  const std::string file_name = FileNameFor(place, needed);
  TensorRef tensor = Reference(Require(file_name), needed, place.part, file_name);
  if (needed.shape.size() == 1) tensor = Vector(tensor);
  tensors_.emplace(needed.name, std::move(tensor));
}

void TensorTable::AddBiases(const std::vector<NeededTensor>& needed, const TensorPlace& place) {
  bool wanted = place.bias == Bias::kMust;
  if (place.bias == Bias::kMay) {
    wanted = std::any_of(needed.begin(), needed.end(), [&](const NeededTensor& tensor) {
      return file_.contains(NameFor(place.file_name, tensor) + ".bias");
    });
  }
  if (!wanted) return;
  for (const NeededTensor& tensor : needed) AddBias(tensor, place);
}

void TensorTable::AddBias(const NeededTensor& needed, const TensorPlace& place) {
  const std::string file_name = NameFor(place.file_name, needed) + ".bias";
  const NeededTensor bias{needed.name, needed.layer, {needed.shape[0]}, needed.expert};
  const TensorRef rows = Reference(Require(file_name), bias, place.part, file_name);
  tensors_.emplace(needed.name + ".bias", Vector(rows));
}

// Vectors have one row per element.
TensorRef TensorTable::Reference(const FileTensor& tensor, const NeededTensor& needed, RowPart part,
                                 const std::string& file_name) const {
  const std::vector<int64_t>& shape = needed.shape;
  std::vector<int64_t> wanted = shape;
  wanted[0] = FileRows(part, shape[0], config_);
  int64_t file_rows = wanted[0];
  if (part == RowPart::kExpert) {
    wanted.insert(wanted.begin(), config_.experts.count);
    file_rows *= config_.experts.count;
  }
  if (part == RowPart::kOnlyRow) wanted = {shape[1]};
  if (tensor.shape != wanted) {
    throw Failure(thing_, "tensor " + ShownName(tensor, file_name) + " has shape " +
                              ShapeText(tensor.shape) + "; the model needs " + ShapeText(wanted));
  }
  TensorRef reference;
  reference.format = tensor.format;
  reference.rows = shape[0];
  reference.columns = shape.size() == 1 ? 1 : shape[1];
  reference.row_bytes = tensor.bytes / file_rows;
  if (shape.size() == 1 && tensor.format.elements != 1) {
    throw Failure(
        thing_,
        "tensor " + ShownName(tensor, file_name) + " is quantised; vectors must be floating point",
        "Convert the model again");
  }
  const int64_t first_row =
      part == RowPart::kExpert ? needed.expert * shape[0] : FirstRow(part, config_);
  reference.data = tensor.data + first_row * reference.row_bytes;
  reference.row_order = RowOrder(part, shape[0], config_);
  reference.file_name = ShownName(tensor, file_name);
  return reference;
}

// One row with all elements, in order.
TensorRef TensorTable::Vector(const TensorRef& rows) {
  TensorRef vector = rows;
  vector.rows = 1;
  vector.columns = rows.rows;
  vector.row_bytes = rows.rows * rows.row_bytes;
  vector.row_order.clear();
  if (rows.row_order.empty()) return vector;
  std::vector<float>& values = reordered_.emplace_back(static_cast<size_t>(rows.rows));
  for (int64_t i = 0; i < rows.rows; ++i) {
    kernels::Dequantise(rows.format.type, rows.Row(i), 1, &values[static_cast<size_t>(i)]);
  }
  vector.format = *kernels::FindBlockFormat(static_cast<uint32_t>(kernels::BlockType::kF32));
  vector.data = reinterpret_cast<const std::byte*>(values.data());
  vector.row_bytes = rows.rows * static_cast<int64_t>(sizeof(float));
  return vector;
}

void TensorTable::CheckNoneLeft(const std::vector<std::string_view>& ignored) const {
  for (const auto& [name, tensor] : file_) {
    if (used_.contains(name) || IsOfPredictionLayer(name, config_)) continue;
    const bool passed_over =
        std::any_of(ignored.begin(), ignored.end(),
                    [&, n = std::string_view(name)](auto ending) { return n.ends_with(ending); });
    if (passed_over) continue;
    throw Failure(
        thing_,
        fmt::format("tensor {} has no place in a {} decoder of {} layers",
                    Quote(ShownName(tensor, name), 120), config_.architecture, config_.layers),
        "This variant is not supported yet");
  }
}

}  // namespace midscope
