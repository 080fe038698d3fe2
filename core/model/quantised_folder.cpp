// SPDX-License-Identifier: MIT
#include "core/model/quantised_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/formats/config_json.h"
#include "core/model/model_shapes.h"
#include "kernels/types.h"

namespace midscope {
namespace {

// The tensors that form one quantised matrix, found by the endings of their names.
class Parts {
 public:
  Parts(std::string thing, std::string name, const SafetensorsTensors& file)
      : thing_(std::move(thing)), name_(std::move(name)), file_(file) {}

  [[noreturn]] void Fail(std::string_view ending, const std::string& reason) const {
    throw Failure(thing_, "tensor " + Quote(name_ + std::string(ending), 120) + " " + reason,
                  "The model is damaged, or quantised in another way: fetch or quantise it again");
  }

  // Throws Error if the tensor is missing, empty, of another dtype, or of another rank (0: any).
  const SafetensorsTensor& Need(std::string_view ending,
                                const std::vector<std::string_view>& dtypes, size_t rank = 0) {
    const SafetensorsTensor* tensor = Find(ending);
    if (tensor == nullptr) Fail(ending, "is missing: a quantised matrix needs it");
    if (std::find(dtypes.begin(), dtypes.end(), tensor->dtype) == dtypes.end()) {
      Fail(ending, fmt::format("has the dtype {}; it must be {}", tensor->dtype,
                               fmt::join(dtypes, " or ")));
    }
    if (tensor->bytes == 0 || (rank > 0 && tensor->shape.size() != rank))
      Fail(ending, "has the shape " + ShapeText(tensor->shape) + ", which is not supported");
    return *tensor;
  }
  const SafetensorsTensor& Floats(std::string_view ending, size_t rank = 0) {
    return Need(ending, {"F32", "F16", "BF16"}, rank);
  }
  // Returns the tensor with this ending; null if there is none.
  const SafetensorsTensor* Find(std::string_view ending) {
    const auto found = file_.find(name_ + std::string(ending));
    if (found == file_.end()) return nullptr;
    if (std::find(used_.begin(), used_.end(), found->first) == used_.end())
      used_.push_back(found->first);
    return &found->second;
  }
  void CheckShape(std::string_view ending, const SafetensorsTensor& tensor,
                  const std::vector<int64_t>& wanted) const {
    if (tensor.shape == wanted) return;
    Fail(ending, "has the shape " + ShapeText(tensor.shape) + "; the other tensors of its matrix " +
                     "need " + ShapeText(wanted));
  }

  const std::string& thing() const { return thing_; }
  const std::string& name() const { return name_; }
  const std::vector<std::string>& used() const { return used_; }

 private:
  std::string thing_;
  std::string name_;  // "model.layers.0.mlp.up_proj"
  const SafetensorsTensors& file_;
  std::vector<std::string> used_;
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

void SetGroups(const Parts& parts, std::string_view ending, int64_t groups, QuantisedMatrix* m) {
  if (m->columns % groups != 0) {
    parts.Fail(ending, fmt::format("has {} groups, which do not divide {} columns evenly", groups,
                                   m->columns));
  }
  m->groups = groups;
  m->group_columns = m->columns / groups;
}

// Sets each column's group if the tensor `ending` exists and groups are not consecutive columns.
void SetGroupOf(Parts* parts, std::string_view ending, QuantisedMatrix* m) {
  if (parts->Find(ending) == nullptr) return;
  const SafetensorsTensor& tensor = parts->Need(ending, {"I32", "I64"}, 1);
  parts->CheckShape(ending, tensor, {m->columns});
  const auto size = static_cast<size_t>(tensor.bytes / m->columns);
  std::vector<int32_t> group_of(static_cast<size_t>(m->columns));
  bool in_order = m->columns % m->groups == 0;
  for (int64_t column = 0; column < m->columns; ++column) {
    int64_t group = 0;
    if (size == sizeof(int32_t)) {
      int32_t narrow = 0;
      std::memcpy(&narrow, tensor.data + static_cast<size_t>(column) * size, size);
      group = narrow;
    } else {
      std::memcpy(&group, tensor.data + static_cast<size_t>(column) * size, size);
    }
    if (group < 0 || group >= m->groups) {
      parts->Fail(ending, fmt::format("names group {} for column {}; there are {} groups", group,
                                      column, m->groups));
    }
    group_of[static_cast<size_t>(column)] = static_cast<int32_t>(group);
    in_order = in_order && group == column / (m->columns / m->groups);
  }
  if (!in_order) m->group_of = std::move(group_of);
}

// GPTQ: [inputs / n, outputs] words of n integers along the inputs, [groups, outputs] scales and
// [groups, outputs / n] words of zero points.
QuantisedMatrix MakeGptq(Parts* parts, const QuantisationSettings& settings) {
  const SafetensorsTensor& words = parts->Need(".qweight", {"I32"}, 2);
  const SafetensorsTensor& scales = parts->Floats(".scales", 2);
  const SafetensorsTensor& zeros = parts->Need(".qzeros", {"I32"}, 2);
  const int64_t per_word = 32 / settings.bits;
  QuantisedMatrix m;
  m.scheme = settings.bits == 4 ? "GPTQ, 4 bits" : "GPTQ, 8 bits";
  m.rows = words.shape[1];
  m.columns = words.shape[0] * per_word;
  m.groups = scales.shape[0];
  parts->CheckShape(".scales", scales, {m.groups, m.rows});
  parts->CheckShape(".qzeros", zeros, {m.groups, CeilDiv(m.rows, per_word)});
  m.levels = {.data = words.data, .bits = settings.bits, .row_stride = 1, .column_stride = m.rows};
  m.has_zeros = true;
  m.symmetric = settings.symmetric;
  m.zeros = {.data = zeros.data,
             .bits = settings.bits,
             .along_rows = true,
             .row_stride = 1,
             .column_stride = zeros.shape[1],
             .add = settings.zeros_less_one ? 1u : 0u};
  m.scales = scales;
  m.scale_row_stride = 1;
  m.scale_group_stride = m.rows;
  SetGroupOf(parts, ".g_idx", &m);
  if (m.group_of.empty()) SetGroups(*parts, ".scales", m.groups, &m);
  return m;
}

// AWQ: [inputs, outputs / 8] words of 8 integers along the outputs, in a special order, and zero
// points in words of the same kind.
QuantisedMatrix MakeAwq(Parts* parts, const QuantisationSettings& settings) {
  const SafetensorsTensor& words = parts->Need(".qweight", {"I32"}, 2);
  const SafetensorsTensor& scales = parts->Floats(".scales", 2);
  const SafetensorsTensor& zeros = parts->Need(".qzeros", {"I32"}, 2);
  QuantisedMatrix m;
  m.scheme = "AWQ, 4 bits";
  m.rows = words.shape[1] * 8;
  m.columns = words.shape[0];
  parts->CheckShape(".scales", scales, {scales.shape[0], m.rows});
  parts->CheckShape(".qzeros", zeros, {scales.shape[0], words.shape[1]});
  SetGroups(*parts, ".scales", scales.shape[0], &m);
  m.levels = {.data = words.data,
              .bits = 4,
              .along_rows = true,
              .row_stride = 1,
              .column_stride = words.shape[1],
              .order = {0, 4, 1, 5, 2, 6, 3, 7}};
  m.has_zeros = true;
  m.symmetric = settings.symmetric;
  m.zeros = m.levels;
  m.zeros.data = zeros.data;
  m.scales = scales;
  m.scale_row_stride = 1;
  m.scale_group_stride = m.rows;
  return m;
}

// Sets the scale of the matrix, scales [rows] or [rows, 1], or scales of groups [rows, groups].
void SetRowScales(const Parts& parts, std::string_view ending, const SafetensorsTensor& scales,
                  QuantisedMatrix* m) {
  m->scales = scales;
  m->group_columns = m->columns;
  const bool is_one =
      std::all_of(scales.shape.begin(), scales.shape.end(), [](int64_t size) { return size == 1; });
  if (is_one) return;
  const int64_t groups = scales.shape.size() == 2 ? scales.shape[1] : 1;
  parts.CheckShape(ending, scales,
                   scales.shape.size() == 1 ? std::vector{m->rows} : std::vector{m->rows, groups});
  m->scale_row_stride = groups;
  m->scale_group_stride = 1;
  SetGroups(parts, ending, groups, m);
}

// Sets scales of two-dimensional blocks, which may be smaller at the matrix's edges.
void SetBlockScales(const Parts& parts, std::string_view ending, const SafetensorsTensor& scales,
                    const std::vector<int64_t>& block, QuantisedMatrix* m) {
  m->scales = scales;
  m->groups = CeilDiv(m->columns, block[1]);
  parts.CheckShape(ending, scales, {CeilDiv(m->rows, block[0]), m->groups});
  m->scale_rows = block[0];
  m->group_columns = block[1];
  m->scale_row_stride = m->groups;
  m->scale_group_stride = 1;
}

// Returns the values of all 256 codes of an 8-bit float of the Open Compute Project: E4M3 has no
// infinity and two NaN; E5M2 is the upper half of binary16.
std::vector<float> Float8Table(std::string_view dtype) {
  std::vector<float> table(256);
  for (int bits = 0; bits < 256; ++bits) {
    float value = ToFloat(kernels::Float16{static_cast<uint16_t>(bits << 8)});
    if (dtype == "F8_E4M3") {
      const int exponent = bits >> 3 & 15;
      const int fraction = bits & 7;
      value = std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 8),
                         std::max(exponent, 1) - 10);
      if ((bits & 127) == 127) value = NAN;
      if (bits > 127) value = -value;
    }
    table[static_cast<size_t>(bits)] = value;
  }
  return table;
}

// Returns a matrix of bytes [rows, columns], I8 or 8-bit floats, whose scales are not set yet.
QuantisedMatrix MakeBytes(Parts* parts, const std::vector<std::string_view>& dtypes) {
  const SafetensorsTensor& bytes = parts->Need(".weight", dtypes, 2);
  QuantisedMatrix m;
  m.rows = bytes.shape[0];
  m.columns = bytes.shape[1];
  m.levels = {.data = bytes.data, .word_bytes = 1, .row_stride = m.columns};
  if (bytes.dtype == "I8") {
    m.scheme = "int8";
    m.levels.add = 128;
    m.levels.subtract = 128;
  } else {
    m.scheme = "FP8";
    m.table = Float8Table(bytes.dtype);
  }
  return m;
}

QuantisedMatrix MakeFp8(Parts* parts, const QuantisationSettings& settings) {
  QuantisedMatrix m = MakeBytes(parts, {"F8_E4M3", "F8_E5M2"});
  const SafetensorsTensor& scales = parts->Floats(".weight_scale_inv");
  if (settings.block.empty()) {
    SetRowScales(*parts, ".weight_scale_inv", scales, &m);
  } else {
    SetBlockScales(*parts, ".weight_scale_inv", scales, settings.block, &m);
  }
  return m;
}

// Sets zero points [rows, groups] of compressed-tensors, if any: I8, or packed along the rows.
void SetZeros(Parts* parts, int64_t bits, QuantisedMatrix* m) {
  constexpr std::string_view kZeros = ".weight_zero_point";
  if (parts->Find(kZeros) == nullptr) return;
  const SafetensorsTensor& zeros = parts->Need(kZeros, {"I8", "I32"});
  m->has_zeros = true;
  if (zeros.dtype == "I8") {
    if (m->scales.shape != zeros.shape) parts->CheckShape(kZeros, zeros, m->scales.shape);
    m->zeros = {.data = zeros.data,
                .word_bytes = 1,
                .row_stride = m->scale_row_stride,
                .column_stride = m->scale_group_stride,
                .add = 128,
                .subtract = 128};
    return;
  }
  parts->CheckShape(kZeros, zeros, {CeilDiv(m->rows * bits, 32), m->groups});
  m->zeros = {.data = zeros.data,
              .bits = bits,
              .along_rows = true,
              .row_stride = m->groups,
              .subtract = 1 << (bits - 1)};
}

QuantisedMatrix MakeNaive(Parts* parts, const QuantisationSettings& settings) {
  QuantisedMatrix m = MakeBytes(parts, {"F8_E4M3", "F8_E5M2", "I8"});
  const SafetensorsTensor& scales = parts->Floats(".weight_scale");
  if (settings.block.empty()) {
    SetRowScales(*parts, ".weight_scale", scales, &m);
  } else {
    SetBlockScales(*parts, ".weight_scale", scales, settings.block, &m);
  }
  if (settings.block.empty()) SetZeros(parts, 8, &m);
  return m;
}

QuantisedMatrix MakePacked(Parts* parts, const QuantisationSettings& /*settings*/) {
  const SafetensorsTensor& words = parts->Need(".weight_packed", {"I32"}, 2);
  const SafetensorsTensor& shape = parts->Need(".weight_shape", {"I64"}, 1);
  parts->CheckShape(".weight_shape", shape, {2});
  std::array<int64_t, 2> sizes{};
  std::memcpy(sizes.data(), shape.data, sizeof sizes);
  QuantisedMatrix m;
  m.rows = sizes[0];
  m.columns = sizes[1];
  if (m.rows != words.shape[0] || m.columns < 1 || m.columns > words.shape[1] * 32) {
    parts->Fail(".weight_shape", fmt::format("states the shape [{}, {}], but its matrix has {} "
                                             "rows of {} words of 32 bits",
                                             m.rows, m.columns, words.shape[0], words.shape[1]));
  }
  const int64_t bits = words.shape[1] == CeilDiv(m.columns * 4, 32)   ? 4
                       : words.shape[1] == CeilDiv(m.columns * 8, 32) ? 8
                                                                      : 0;
  if (bits == 0) {
    parts->Fail(".weight_packed", fmt::format("has {} words for {} columns: neither 4 nor 8 bits, "
                                              "which alone are supported",
                                              words.shape[1], m.columns));
  }
  m.scheme = bits == 4 ? "int4" : "int8";
  m.levels = {
      .data = words.data, .bits = bits, .row_stride = words.shape[1], .subtract = 1 << (bits - 1)};
  SetRowScales(*parts, ".weight_scale", parts->Floats(".weight_scale"), &m);
  SetZeros(parts, bits, &m);
  SetGroupOf(parts, ".weight_g_idx", &m);
  return m;
}

std::vector<float> Table(Parts* parts, std::string_view ending, int64_t size) {
  const SafetensorsTensor& tensor = parts->Need(ending, {"F32"}, 1);
  parts->CheckShape(ending, tensor, {size});
  std::vector<float> table(static_cast<size_t>(size));
  std::memcpy(table.data(), tensor.data, table.size() * sizeof(float));
  return table;
}

// bitsandbytes with 4 bits: two elements per byte, the first in the upper nibble, in blocks along
// the rows. The shape and the block sizes are JSON in a tensor.
QuantisedMatrix MakeNibbles(Parts* parts, const QuantisationSettings& /*settings*/) {
  const bool is_nf4 = parts->Find(".weight.quant_state.bitsandbytes__nf4") != nullptr;
  const std::string ending =
      ".weight.quant_state.bitsandbytes__" + std::string(is_nf4 ? "nf4" : "fp4");
  const SafetensorsTensor& bytes = parts->Need(".weight", {"U8"});
  const SafetensorsTensor& text = parts->Need(ending, {"U8"}, 1);
  const ConfigJson state =
      ConfigJson::Parse({reinterpret_cast<const char*>(text.data), static_cast<size_t>(text.bytes)},
                        parts->thing() + ", " + Quote(parts->name() + ending, 120));
  const std::vector<int64_t> shape = state.Indices("shape", int64_t{1} << 30);
  const int64_t block = state.Count("blocksize", 1 << 20);
  if (shape.size() != 2 || shape[0] * shape[1] != bytes.bytes * 2 || shape[1] % block != 0 ||
      shape[1] % 2 != 0) {
    parts->Fail(".weight", fmt::format("has {} bytes in blocks of {} for a matrix {}, which is not "
                                       "supported",
                                       bytes.bytes, block, ShapeText(shape)));
  }
  QuantisedMatrix m;
  m.scheme = is_nf4 ? "NF4" : "FP4";
  m.rows = shape[0];
  m.columns = shape[1];
  m.levels = {
      .data = bytes.data, .word_bytes = 1, .bits = 4, .row_stride = m.columns / 2, .order = {1, 0}};
  m.table = Table(parts, ".weight.quant_map", 16);
  SetGroups(*parts, ".weight", m.columns / block, &m);
  m.scales = parts->Need(".weight.absmax", {"F32", "U8"}, 1);
  parts->CheckShape(".weight.absmax", m.scales, {m.rows * m.groups});
  m.scale_row_stride = m.groups;
  m.scale_group_stride = 1;
  if (m.scales.dtype == "F32") return m;
  m.scale_table = Table(parts, ".weight.nested_quant_map", 256);
  m.nested = parts->Need(".weight.nested_absmax", {"F32"}, 1);
  m.nested_block = state.Count("nested_blocksize", 1 << 20);
  m.nested_offset = static_cast<float>(state.PositiveOrZero("nested_offset"));
  parts->CheckShape(".weight.nested_absmax", m.nested,
                    {CeilDiv(m.rows * m.groups, m.nested_block)});
  return m;
}

// LLM.int8() of bitsandbytes: SCB is the largest magnitude of each row, represented by 127.
QuantisedMatrix MakeInt8(Parts* parts, const QuantisationSettings& /*settings*/) {
  QuantisedMatrix m = MakeBytes(parts, {"I8"});
  const SafetensorsTensor& scales = parts->Need(".SCB", {"F32"}, 1);
  parts->CheckShape(".SCB", scales, {m.rows});
  SetRowScales(*parts, ".SCB", scales, &m);
  m.factor = 1.0f / 127;
  if (parts->Find(".weight_format") != nullptr &&
      parts->Need(".weight_format", {"U8"}).data[0] != std::byte{0})
    parts->Fail(".weight_format", "states another layout than rows, which is not supported");
  return m;
}

// A kind of quantised matrix, recognised by the method and by the ending and dtype of one tensor.
struct Kind {
  std::string_view method;
  std::string_view ending;
  std::string_view dtypes;  // separated by spaces; empty: any
  QuantisedMatrix (*make)(Parts* parts, const QuantisationSettings& settings);
};

constexpr std::array<Kind, 8> kKinds = {
    {{"fp8", ".weight", "F8_E4M3 F8_E5M2", &MakeFp8},
     {"fbgemm_fp8", ".weight", "F8_E4M3 F8_E5M2", &MakeNaive},
     {"compressed-tensors", ".weight", "F8_E4M3 F8_E5M2 I8", &MakeNaive},
     {"compressed-tensors", ".weight_packed", "", &MakePacked},
     {"gptq", ".qweight", "", &MakeGptq},
     {"awq", ".qweight", "", &MakeAwq},
     {"bitsandbytes", ".weight", "U8", &MakeNibbles},
     {"bitsandbytes", ".weight", "I8", &MakeInt8}}};

// Ignored tensors: scales of activations and cached keys and values, which are not quantised here.
constexpr std::array<std::string_view, 12> kIgnored = {
    ".input_scale",  ".input_scale_ub",    ".input_zero_point", ".input_global_scale",
    ".output_scale", ".output_zero_point", ".activation_scale", ".q_scale",
    ".k_scale",      ".v_scale",           ".k_zero_point",     ".v_zero_point"};

bool HasDtype(const Kind& kind, const SafetensorsTensor& tensor) {
  return kind.dtypes.empty() || kind.dtypes.find(tensor.dtype) != std::string_view::npos;
}

}  // namespace

QuantisedMatrices TakeQuantised(const QuantisationSettings& settings, const std::string& thing,
                                SafetensorsTensors* file) {
  QuantisedMatrices matrices;
  std::vector<std::string> used;
  for (const auto& [name, tensor] : *file) {
    if (std::any_of(kIgnored.begin(), kIgnored.end(),
                    [&, n = std::string_view(name)](auto ending) { return n.ends_with(ending); }))
      used.push_back(name);
    for (const Kind& kind : kKinds) {
      if (kind.method != settings.method || !name.ends_with(kind.ending)) continue;
      if (!HasDtype(kind, tensor)) continue;
      Parts parts(thing, name.substr(0, name.size() - kind.ending.size()), *file);
      QuantisedMatrix matrix = kind.make(&parts, settings);
      for (const std::string& part : parts.used()) matrix.parts.push_back(file->at(part));
      used.insert(used.end(), parts.used().begin(), parts.used().end());
      matrices.emplace(parts.name() + ".weight", std::move(matrix));
    }
  }
  for (const std::string& name : used) file->erase(name);
  return matrices;
}

}  // namespace midscope
