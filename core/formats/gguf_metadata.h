// SPDX-License-Identifier: MIT
// The metadata of one architecture in a GGUF file ("qwen2.block_count"), read with checks. It
// records which keys were read, because a key that was not read might affect the model's numbers
// and is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/gguf_file.h"

namespace midscope {

class GgufMetadata {
 public:
  // The file must outlive this object.
  GgufMetadata(const GgufFile& file, std::string architecture);

  const GgufFile& file() const { return file_; }
  [[noreturn]] void Fail(const std::string& reason, const std::string& remedy = "") const;
  std::string Key(std::string_view key) const;  // prefixed with the architecture
  bool Has(std::string_view key) const;

  // The getters return the value of a key, or `otherwise` if it is absent. They throw Error if
  // there is no `otherwise`, or if the value has another type or is out of range. Integers may be
  // given once per layer if all are equal.
  int64_t Count(std::string_view key, int64_t max,
                std::optional<int64_t> otherwise = std::nullopt) const;  // 1 to max
  int64_t CountOrZero(std::string_view key, int64_t max) const;          // 0 if absent or 0
  // Returns one integer per layer; the file states one for all layers, or an array. Elements of an
  // array must be from `least` to `max`.
  std::vector<int64_t> CountsOfLayers(std::string_view key, int64_t layers, int64_t max,
                                      int64_t least = 1) const;
  double Positive(std::string_view key, std::optional<double> otherwise = std::nullopt) const;
  double PositiveOrZero(std::string_view key) const;  // 0 if absent or 0
  bool Flag(std::string_view key, bool otherwise) const;
  // Returns an array of `count` finite numbers; the key is required.
  std::vector<double> Numbers(std::string_view key, int64_t count) const;
  // Returns an array of booleans; an empty one if the key is absent or not an array.
  std::vector<bool> Flags(std::string_view key) const;
  std::string Text(std::string_view key, const std::string& otherwise) const;
  // Marks as read a key whose value does not affect the model.
  void Ignore(std::string_view key) const;

  // Throws Error that names the first key of this architecture that was not read.
  void CheckAllRead() const;

 private:
  std::optional<int64_t> Integer(const std::string& full) const;

  const GgufFile& file_;
  std::string architecture_;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace midscope
