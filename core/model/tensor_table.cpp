// SPDX-License-Identifier: MIT
#include "core/model/tensor_table.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "kernels/check.h"

namespace midscope {
namespace {

std::string FileNameFor(const TensorPlace& place, const NeededTensor& needed) {
  return needed.NameOf(place.file_name) + (place.ending == TensorEnding::kWeight ? ".weight" : "");
}

std::string BiasNameFor(const TensorPlace& place, const NeededTensor& needed) {
  return place.bias_name.empty() ? needed.NameOf(place.file_name) + ".bias"
                                 : needed.NameOf(place.bias_name);
}

const TensorPlace* FindPlace(const std::vector<TensorPlace>& places, const NeededTensor& needed,
                             const FileTensors& file) {
  const TensorPlace* first = nullptr;
  for (const TensorPlace& place : places) {
    if (place.name != needed.pattern) continue;
    if (file.contains(FileNameFor(place, needed))) return &place;
    if (first == nullptr) first = &place;
  }
  return first;
}

bool IsInterleaved(RowPart part) {
  return part == RowPart::kInterleaved || part == RowPart::kInterleavedQuery ||
         part == RowPart::kInterleavedKey;
}

// Whether the file's tensor contains the matrices of all experts of a layer.
bool HoldsExperts(RowPart part) {
  return part == RowPart::kExpert || part == RowPart::kExpertGate || part == RowPart::kExpertUp ||
         part == RowPart::kExpertEven || part == RowPart::kExpertOdd;
}

// Returns the number of rows of the file's tensor (or of one expert in it) that contains a decoder
// matrix of `rows` rows.
int64_t FileRows(RowPart part, int64_t rows, const ModelConfig& config) {
  const int64_t heads = config.heads + 2 * config.key_value_heads;
  switch (part) {
    case RowPart::kAll:
    case RowPart::kInterleaved:
    case RowPart::kExpert:
    case RowPart::kByHead:
    case RowPart::kOnlyRow:
    case RowPart::kTaps:
    case RowPart::kVector:
      return rows;
    case RowPart::kGate:
    case RowPart::kUp:
    case RowPart::kExpertGate:
    case RowPart::kExpertUp:
    case RowPart::kExpertEven:
    case RowPart::kExpertOdd:
    case RowPart::kHeadFirst:
    case RowPart::kHeadSecond:
    case RowPart::kGroupedRate:
    case RowPart::kGroupedDecay:
      return 2 * rows;
    case RowPart::kGroupedMixed:
    case RowPart::kGroupedGate:
      return config.delta_rule.mixed_width() + config.delta_rule.value_width();
    default:
      return heads * config.head_dim;
  }
}

// Returns the first row in the file of a decoder matrix with `rows` contiguous rows.
int64_t FirstRow(RowPart part, int64_t rows, const ModelConfig& config) {
  const int64_t query = config.heads * config.head_dim;
  switch (part) {
    case RowPart::kKey:
    case RowPart::kInterleavedKey:
      return query;
    case RowPart::kValue:
      return query + config.key_value_heads * config.head_dim;
    case RowPart::kUp:
    case RowPart::kExpertUp:
      return rows;
    default:
      return 0;
  }
}

// Returns the row within a head in the file for row `within` of the decoder's head. The first
// `rotated` rows of a head are rotary pairs: 2j and 2j + 1 in the file, j and j + rotated / 2 in
// the decoder. The other rows are in the same order.
int64_t InterleavedRow(int64_t within, int64_t rotated) {
  const int64_t pairs = rotated / 2;
  if (within >= rotated) return within;
  return within < pairs ? 2 * within : 2 * (within - pairs) + 1;
}

// Returns the index of a head in the file for head `head` of the decoder's query, key or value. In
// the file, the queries of each key-value head are followed by its key and value.
int64_t HeadInFile(RowPart part, int64_t head, const ModelConfig& config) {
  const int64_t queries = config.heads_per_key_value_head();
  if (part == RowPart::kHeadQuery) return head / queries * (queries + 2) + head % queries;
  return head * (queries + 2) + queries + (part == RowPart::kHeadValue ? 1 : 0);
}

// Appends the file's rows for one part of a tensor that is grouped by key head of a delta rule. In
// each group of `group` rows, the part is the `count` rows after the first `before` rows.
void AddGrouped(const DeltaRule& rule, int64_t group, int64_t before, int64_t count,
                std::vector<int64_t>* order) {
  for (int64_t head = 0; head < rule.key_heads; ++head) {
    for (int64_t row = 0; row < count; ++row) order->push_back(head * group + before + row);
  }
}

// Returns the file's row of each decoder row for parts grouped by key head; else empty.
std::vector<int64_t> GroupedOrder(RowPart part, const DeltaRule& rule) {
  std::vector<int64_t> order;
  const int64_t values = rule.used() ? rule.value_heads / rule.key_heads : 0;
  const int64_t width = values * rule.value_dim;
  const int64_t group = 2 * rule.key_dim + 2 * width;
  if (part == RowPart::kGroupedMixed) {
    AddGrouped(rule, group, 0, rule.key_dim, &order);
    AddGrouped(rule, group, rule.key_dim, rule.key_dim, &order);
    AddGrouped(rule, group, 2 * rule.key_dim, width, &order);
  } else if (part == RowPart::kGroupedGate) {
    AddGrouped(rule, group, 2 * rule.key_dim + width, width, &order);
  } else if (part == RowPart::kGroupedRate) {
    AddGrouped(rule, 2 * values, 0, values, &order);
  } else if (part == RowPart::kGroupedDecay) {
    AddGrouped(rule, 2 * values, values, values, &order);
  }
  return order;
}

// Returns the file's row for each of the decoder's rows; empty if the order is the same.
std::vector<int64_t> RowOrder(RowPart part, int64_t rows, const ModelConfig& config) {
  std::vector<int64_t> order = GroupedOrder(part, config.delta_rule);
  if (!order.empty()) return order;
  if (part == RowPart::kHeadFirst || part == RowPart::kHeadSecond) {
    const int64_t other = part == RowPart::kHeadSecond ? config.head_dim : 0;
    for (int64_t row = 0; row < rows; ++row)
      order.push_back(row + row / config.head_dim * config.head_dim + other);
    return order;
  }
  if (part == RowPart::kExpertEven || part == RowPart::kExpertOdd) {
    for (int64_t row = 0; row < rows; ++row)
      order.push_back(2 * row + (part == RowPart::kExpertOdd ? 1 : 0));
    return order;
  }
  const bool fused_by_head =
      part == RowPart::kHeadQuery || part == RowPart::kHeadKey || part == RowPart::kHeadValue;
  if (!fused_by_head && !IsInterleaved(part)) return order;
  order.resize(static_cast<size_t>(rows));
  const int64_t head_dim = config.head_dim;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / head_dim;
    const int64_t within = row % head_dim;
    order[static_cast<size_t>(row)] =
        IsInterleaved(part) ? head * head_dim + InterleavedRow(within, config.rope_dimensions)
                            : HeadInFile(part, head, config) * head_dim + within;
  }
  return order;
}

// Whether a tensor belongs to a multi-token prediction layer (ModelConfig::prediction_layers), or
// to keys and values of a layer that reads another layer's; published files have such tensors.
bool IsUnused(const std::string& name, const ModelConfig& config) {
  // Multi-token prediction of qwen3_next, qwen3_5 and ernie4_5_moe.
  if (name.starts_with("mtp.") || name.starts_with("model.mtp_")) return true;
  for (int64_t layer = config.FirstLentLayer(); layer < config.layers; ++layer) {
    if (!config.SharesKeys(layer)) continue;
    for (const char* key : {"model.layers.{}.self_attn.k_", "model.layers.{}.self_attn.v_",
                            "blk.{}.attn_k", "blk.{}.attn_v"}) {
      if (name.starts_with(fmt::format(fmt::runtime(key), layer))) return true;
    }
  }
  for (int64_t extra = 0; extra < config.prediction_layers; ++extra) {
    const std::string layer = std::to_string(config.layers + extra) + ".";
    if (name.starts_with("model.layers." + layer) || name.starts_with("blk." + layer)) return true;
  }
  return false;
}

// Returns the transposes [columns, rows] of `count` matrices [rows, columns] with elements of the
// size of T.
template <class T>
std::vector<std::byte> Transposed(const std::byte* data, int64_t count, int64_t rows,
                                  int64_t columns) {
  constexpr int64_t kTile = 32;  // rows and columns processed together, which fit a cache
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const int64_t bytes = rows * columns * kSize;
  std::vector<std::byte> out(static_cast<size_t>(count * bytes));
  const auto transpose_tile = [&](const std::byte* from, std::byte* to, int64_t first_row,
                                  int64_t first) {
    const int64_t last_row = std::min(first_row + kTile, rows);
    const int64_t last = std::min(first + kTile, columns);
    for (int64_t column = first; column < last; ++column) {
      for (int64_t row = first_row; row < last_row; ++row) {
        std::memcpy(to + (column * rows + row) * kSize, from + (row * columns + column) * kSize,
                    sizeof(T));
      }
    }
  };
  for (int64_t matrix = 0; matrix < count; ++matrix) {
    for (int64_t first_row = 0; first_row < rows; first_row += kTile) {
      for (int64_t first = 0; first < columns; first += kTile)
        transpose_tile(data + matrix * bytes, out.data() + matrix * bytes, first_row, first);
    }
  }
  return out;
}

const std::string& ShownName(const FileTensor& tensor, const std::string& name) {
  return tensor.file_name.empty() ? name : tensor.file_name;
}

// Counts a quantised matrix. If matrix products cannot read its usual format (MustExpand,
// arithmetic.h), the matrix's bytes in the file are added to stored_bytes.
void CountQuantised(const QuantisedMatrix& matrix, int64_t* count, ModelConfig* config) {
  const int64_t elements = matrix.rows * matrix.columns;
  const kernels::BlockFormat format = matrix.UsualFormat();
  *count += elements;
  config->parameters += elements;
  const int64_t bytes = format.elements > 1 ? elements / format.elements * format.bytes : 0;
  config->quantised_bytes += bytes;
  config->stored_bytes += bytes > 0 ? bytes : matrix.file_bytes();
}

}  // namespace

void CountParameters(const FileTensors& tensors, ModelConfig* config) {
  std::map<std::string_view, int64_t> counts;
  // Tied weights in a pytorch_model.bin are two names of the same bytes, which are counted once.
  std::set<std::pair<const std::byte*, int64_t>> counted;
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.unread_dtype.empty()) continue;
    if (const QuantisedMatrix* matrix = tensor.quantised) {
      CountQuantised(*matrix, &counts[matrix->scheme], config);
      continue;
    }
    if (!counted.emplace(tensor.data, tensor.bytes).second) continue;
    // The sums cannot overflow, because each tensor's bytes are inside the file or a copy.
    const int64_t elements = tensor.bytes / tensor.format.bytes * tensor.format.elements;
    counts[tensor.format.name] += elements;
    config->parameters += elements;
    config->stored_bytes += tensor.bytes;
    if (tensor.format.elements > 1) config->quantised_bytes += tensor.bytes;
  }
  int64_t most = 0;
  for (const auto& [name, count] : counts) {
    if (count <= most) continue;
    most = count;
    config->quantisation = name;
  }
}

PlacedRows PlaceRows(RowPart part, int64_t rows, const ModelConfig& config) {
  PlacedRows placed{FileRows(part, rows, config), RowOrder(part, rows, config)};
  if (placed.rows.empty() && placed.file_rows != rows) {
    placed.rows.resize(static_cast<size_t>(rows));
    std::iota(placed.rows.begin(), placed.rows.end(), 0);
  }
  const int64_t first = FirstRow(part, rows, config);
  for (int64_t& row : placed.rows) row += first;
  return placed;
}

int64_t SpannedBytes(const TensorRef& tensor) {
  if (tensor.row_order.empty()) return tensor.rows * tensor.row_bytes;
  return (*std::max_element(tensor.row_order.begin(), tensor.row_order.end()) + 1) *
         tensor.row_bytes;
}

TensorTable::TensorTable(const ModelConfig& config, const std::vector<TensorPlace>& places,
                         const FileTensors& file, const std::vector<std::string_view>& ignored,
                         const std::string& thing,
                         const std::function<void(const FileTensor&)>& copied)
    : config_(config), file_(file), copied_(copied), thing_(thing) {
  const std::vector<NeededTensor> needed = NeededTensors(config);
  std::map<const TensorPlace*, std::vector<NeededTensor>> by_place;
  for (const NeededTensor& tensor : needed) {
    const TensorPlace* place = FindPlace(places, tensor, file);
    MIDSCOPE_CHECK(place != nullptr, "no place for tensor " + tensor.name());
    Add(tensor, *place);
    by_place[place].push_back(tensor);
  }
  for (const auto& [place, tensors] : by_place) AddBiases(tensors, *place);
  // A file may contain tied embeddings twice; they were compared when the file was opened.
  if (config.tied_embeddings) {
    const TensorPlace* output = FindPlace(places, {"output", {}}, file);
    if (output != nullptr) used_.insert(std::string(output->file_name) + ".weight");
  }
  CheckNoneLeft(ignored);
}

int64_t TensorTable::transposed_bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, copy] : transposed_) bytes += static_cast<int64_t>(copy.size());
  return bytes;
}

const QuantisedRows* TensorTable::FindQuantised(const std::string& name) const {
  const auto found = quantised_.find(name);
  return found == quantised_.end() ? nullptr : &found->second;
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
  if (!found->second.unread_dtype.empty()) {
    throw Failure(thing_,
                  "tensor " + Quote(ShownName(found->second, file_name), 120) + " has the dtype " +
                      found->second.unread_dtype + ", which is not supported",
                  "Supported: F32, F16, BF16, F64");
  }
  used_.insert(file_name);
  return found->second;
}

void TensorTable::Add(const NeededTensor& needed, const TensorPlace& place) {
  const std::string file_name = FileNameFor(place, needed);
  TensorRef tensor = Reference(Require(file_name), needed, place, file_name);
  if (needed.shape.size() == 1) tensor = Vector(tensor);
  tensors_.emplace(needed.name(), std::move(tensor));
}

void TensorTable::AddBiases(const std::vector<NeededTensor>& needed, const TensorPlace& place) {
  bool wanted = place.bias == Bias::kMust;
  if (place.bias == Bias::kMay) {
    wanted = std::any_of(needed.begin(), needed.end(), [&](const NeededTensor& tensor) {
      return file_.contains(BiasNameFor(place, tensor));
    });
  }
  if (!wanted) return;
  for (const NeededTensor& tensor : needed) AddBias(tensor, place);
}

void TensorTable::AddBias(const NeededTensor& needed, const TensorPlace& place) {
  const std::string file_name = BiasNameFor(place, needed);
  const NeededTensor bias{needed.pattern, {needed.shape[0]}, needed.layer, needed.expert};
  const TensorRef rows = Reference(Require(file_name), bias, place, file_name);
  tensors_.emplace(needed.name() + ".bias", Vector(rows));
}

// Checks the file's shape and selects rows. A vector becomes a matrix of one element per row.
TensorRef TensorTable::Reference(const FileTensor& tensor, const NeededTensor& needed,
                                 const TensorPlace& place, const std::string& file_name) {
  const std::vector<int64_t>& shape = needed.shape;
  const RowPart part = place.part;
  std::vector<int64_t> wanted = shape;
  wanted[0] = FileRows(part, shape[0], config_);
  int64_t file_rows = wanted[0];
  const int64_t expert_rows = file_rows;
  if (HoldsExperts(part)) {
    wanted.insert(wanted.begin(), config_.experts.count);
    file_rows *= config_.experts.count;
  }
  if (part == RowPart::kOnlyRow) wanted = {shape[1]};
  if (part == RowPart::kVector && std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                  int64_t{1}, std::multiplies<>()) == shape[0])
    wanted = tensor.shape;
  if (part == RowPart::kByHead) wanted = {config_.heads, shape[0] / config_.heads, shape[1]};
  if (part == RowPart::kTaps && shape.size() == 2) wanted = {shape[0], 1, shape[1]};
  const bool transposed =
      place.transposed && shape.size() == 2 && !(place.maybe_transposed && tensor.shape == wanted);
  if (transposed) std::swap(wanted[wanted.size() - 2], wanted.back());
  const bool single = tensor.shape.empty() && wanted == std::vector<int64_t>{1};
  // A norm with separate weights per head may be stored as [heads, head_dim].
  const int64_t heads = wanted[0] / config_.head_dim;
  const bool by_head = shape.size() == 1 && heads * config_.head_dim == wanted[0] &&
                       tensor.shape == std::vector<int64_t>{heads, config_.head_dim};
  // ernie4_5_moe stores the bias by which its router chooses experts as [1, experts].
  const bool one_row = shape.size() == 1 && tensor.shape == std::vector<int64_t>{1, wanted[0]};
  if (tensor.shape != wanted && !single && !by_head && !one_row) {
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
  if (tensor.quantised != nullptr && (shape.size() != 2 || transposed)) {
    throw Failure(thing_,
                  "tensor " + ShownName(tensor, file_name) +
                      " is quantised, which is not supported "
                      "for this tensor in a " +
                      config_.architecture + " model",
                  "Use the model's float weights, or a quantised .gguf file");
  }
  const int64_t before = HoldsExperts(part) ? needed.expert * expert_rows : 0;
  const int64_t first_row = before + FirstRow(part, shape[0], config_);
  reference.row_order = RowOrder(part, shape[0], config_);
  reference.file_name = ShownName(tensor, file_name);
  if (tensor.quantised != nullptr) {
    quantised_[needed.name()] = {tensor.quantised, first_row};
    return reference;
  }
  const std::byte* data = transposed ? TransposedData(tensor, file_name) : tensor.data;
  reference.data = data + first_row * reference.row_bytes;
  return reference;
}

// Returns a transposed copy of the tensor, which all parts of a fused matrix share.
const std::byte* TensorTable::TransposedData(const FileTensor& tensor,
                                             const std::string& file_name) {
  auto found = transposed_.find(file_name);
  if (found == transposed_.end()) {
    MIDSCOPE_CHECK_EQ(tensor.format.elements, 1);
    const bool wide = tensor.format.bytes == sizeof(uint32_t);
    const auto transposed = wide ? Transposed<uint32_t> : Transposed<uint16_t>;
    const std::vector<int64_t>& shape = tensor.shape;
    const int64_t count = shape.size() == 3 ? shape[0] : 1;
    found = transposed_
                .emplace(file_name,
                         transposed(tensor.data, count, shape[shape.size() - 2], shape.back()))
                .first;
    copied_(tensor);
  }
  return found->second.data();
}

// Returns the vector as one row that contains all elements in the decoder's order.
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
    if (used_.contains(name) || IsUnused(name, config_)) continue;
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
