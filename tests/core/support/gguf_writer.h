// SPDX-License-Identifier: MIT
// Builds the bytes of GGUF files for tests, both valid and invalid: every number in them can be
// set.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/formats/gguf_file.h"

namespace midscope::test {

template <typename T>
std::string Raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

inline std::string RawString(const std::string& text) { return Raw<uint64_t>(text.size()) + text; }

class GgufWriter {
 public:
  uint32_t version = 3;
  std::optional<uint64_t> claimed_tensors;
  std::optional<uint64_t> claimed_values;
  uint64_t alignment = 32;  // alignment of the data section; writes no metadata

  // Adds a value as raw bytes, without conversion.
  GgufWriter& RawValue(const std::string& key, GgufType type, const std::string& bytes) {
    values_.emplace_back(key, Raw(type) + bytes);
    return *this;
  }
  GgufWriter& RawArray(const std::string& key, GgufType type, uint64_t count,
                       const std::string& bytes) {
    return RawValue(key, GgufType::kArray, Raw(type) + Raw(count) + bytes);
  }
  GgufWriter& Uint32(const std::string& key, uint32_t value) {
    return RawValue(key, GgufType::kUint32, Raw(value));
  }
  GgufWriter& Float32(const std::string& key, float value) {
    return RawValue(key, GgufType::kFloat32, Raw(value));
  }
  GgufWriter& Bool(const std::string& key, bool value) {
    return RawValue(key, GgufType::kBool, Raw<uint8_t>(value));
  }
  GgufWriter& String(const std::string& key, const std::string& value) {
    return RawValue(key, GgufType::kString, RawString(value));
  }
  GgufWriter& Strings(const std::string& key, const std::vector<std::string>& texts) {
    std::string bytes;
    for (const std::string& text : texts) bytes += RawString(text);
    return RawArray(key, GgufType::kString, texts.size(), bytes);
  }
  GgufWriter& Int32s(const std::string& key, const std::vector<int32_t>& numbers) {
    std::string bytes;
    for (const int32_t number : numbers) bytes += Raw(number);
    return RawArray(key, GgufType::kInt32, numbers.size(), bytes);
  }
  GgufWriter& Remove(const std::string& key) {
    std::erase_if(values_, [&](const auto& value) { return value.first == key; });
    return *this;
  }

  // Adds a tensor header with all fields as given; dimensions in the file's order (innermost
  // first).
  GgufWriter& RawTensor(const std::string& name, const std::vector<uint64_t>& dimensions,
                        uint32_t type, uint64_t offset) {
    std::string info = RawString(name) + Raw(static_cast<uint32_t>(dimensions.size()));
    for (const uint64_t size : dimensions) info += Raw(size);
    tensors_.push_back(info + Raw(type) + Raw(offset));
    return *this;
  }
  GgufWriter& RawData(const std::string& bytes) {
    data_ += bytes;
    return *this;
  }
  // Adds a float32 tensor after the others; shape outermost first.
  GgufWriter& Float32Tensor(const std::string& name, const std::vector<int64_t>& shape,
                            const std::vector<float>& values) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    RawTensor(name, std::vector<uint64_t>(shape.rbegin(), shape.rend()), 0, data_.size());
    for (const float value : values) data_ += Raw(value);
    return *this;
  }

  // Adds a tensor of blocks after the others; shape outermost first.
  GgufWriter& BlockTensor(const std::string& name, const std::vector<int64_t>& shape,
                          kernels::BlockType type, const std::string& bytes) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    RawTensor(name, std::vector<uint64_t>(shape.rbegin(), shape.rend()),
              static_cast<uint32_t>(type), data_.size());
    return RawData(bytes);
  }

  std::string Bytes() const {
    std::string bytes = "GGUF" + Raw(version) +
                        Raw<uint64_t>(claimed_tensors.value_or(tensors_.size())) +
                        Raw<uint64_t>(claimed_values.value_or(values_.size()));
    for (const auto& [key, value] : values_) bytes += RawString(key) + value;
    for (const std::string& info : tensors_) bytes += info;
    if (!tensors_.empty()) bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    return bytes + data_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
  std::vector<std::string> tensors_;
  std::string data_;
};

// A separate file in the system's temporary folder, removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "midscope-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file >= 0) close(file);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The text that represents a byte in byte-level BPE: the inverse of core/tokenizer/vocabulary.cpp,
// written independently of it.
inline std::string ByteCharacter(int byte) {
  int code = byte;
  if (byte <= 32) {
    code = 0x100 + byte;
  } else if (byte >= 127 && byte <= 160) {
    code = 0x121 + byte - 127;
  } else if (byte == 173) {
    code = 0x143;
  }
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
}

// Metadata of a llama model with 2 layers, 4 heads over 2 key-value heads of 4 dimensions, and a
// byte-level tokenizer: token b is the byte b; 256 to 258 are "ab", "abc", "<|end|>" (control). No
// tensors.
inline GgufWriter TinyMetadata() {
  std::vector<std::string> tokens;
  tokens.reserve(260);
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(ByteCharacter(byte));
  tokens.insert(tokens.end(), {"ab", "abc", "<|end|>"});
  std::vector<int32_t> types(tokens.size(), 1);
  types.back() = 3;
  GgufWriter writer;
  writer.String("general.architecture", "llama").String("general.name", "tiny");
  writer.Uint32("llama.block_count", 2)
      .Uint32("llama.context_length", 64)
      .Uint32("llama.embedding_length", 16);
  writer.Uint32("llama.feed_forward_length", 24).Uint32("llama.attention.head_count", 4);
  writer.Uint32("llama.attention.head_count_kv", 2)
      .Float32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  writer.Float32("llama.rope.freq_base", 10000.0f);
  writer.String("tokenizer.ggml.model", "gpt2").String("tokenizer.ggml.pre", "gpt-2");
  writer.Strings("tokenizer.ggml.tokens", tokens).Int32s("tokenizer.ggml.token_type", types);
  writer.Strings("tokenizer.ggml.merges", {"a b", "ab c"});
  writer.Uint32("tokenizer.ggml.bos_token_id", 258);
  return writer;
}

// As above, with all tensors in float32; their values are small, distinct and deterministic.
inline GgufWriter TinyModel(uint32_t blocks = 2, uint32_t context = 64) {
  GgufWriter writer = TinyMetadata();
  writer.Remove("llama.block_count").Uint32("llama.block_count", blocks);
  writer.Remove("llama.context_length").Uint32("llama.context_length", context);
  uint32_t state = 1;
  const auto tensor = [&](const std::string& name, const std::vector<int64_t>& shape) {
    const int64_t elements =
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    std::vector<float> values(static_cast<size_t>(elements));
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
    writer.Float32Tensor(name, shape, values);
  };
  tensor("token_embd.weight", {259, 16});
  tensor("output_norm.weight", {16});
  for (uint32_t block = 0; block < blocks; ++block) {
    const std::string layer = "blk." + std::to_string(block) + ".";
    tensor(layer + "attn_norm.weight", {16});
    tensor(layer + "attn_q.weight", {16, 16});
    tensor(layer + "attn_k.weight", {8, 16});
    tensor(layer + "attn_v.weight", {8, 16});
    tensor(layer + "attn_output.weight", {16, 16});
    tensor(layer + "ffn_norm.weight", {16});
    tensor(layer + "ffn_gate.weight", {24, 16});
    tensor(layer + "ffn_up.weight", {24, 16});
    tensor(layer + "ffn_down.weight", {16, 24});
  }
  return writer;
}

}  // namespace midscope::test
