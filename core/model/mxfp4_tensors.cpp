// SPDX-License-Identifier: MIT
#include "core/model/mxfp4_tensors.h"

#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/model/model_shapes.h"
#include "kernels/dequantise.h"

namespace midscope {
namespace {

constexpr std::string_view kBlocks = "_blocks";
constexpr std::string_view kScales = "_scales";
constexpr int64_t kNibbleBytes = 16;  // of a block
constexpr int64_t kElements = 32;

std::byte Nibble(const std::byte* block, int64_t element) {
  const std::byte both = block[element / 2];
  return element % 2 == 0 ? both & std::byte{15} : both >> 4;
}

// Blocks as BlockType::kMXFP4 has them: the exponent, then elements i and i + 16 in byte i.
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
