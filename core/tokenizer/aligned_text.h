// SPDX-License-Identifier: MIT
// A part of a text after changes (normalised, a space added), with the original offset of each of
// its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

class AlignedText {
 public:
  // The unchanged bytes at `offset` of the original text.
  AlignedText(std::string text, int64_t offset) : text_(std::move(text)), offset_(offset) {}

  std::string_view text() const { return text_; }
  size_t size() const { return text_.size(); }

  // Original offsets of bytes [begin, end) of this text: [OriginalBegin(begin), OriginalEnd(end)).
  // Added bytes have an empty range.
  int64_t OriginalBegin(size_t begin) const;
  int64_t OriginalEnd(size_t end) const;

  // An empty text that begins where byte `begin` of this one does, to be filled by Append.
  AlignedText Empty(size_t begin) const;
  // Bytes [begin, end) as a text of their own.
  AlignedText Part(size_t begin, size_t end) const;

  // Appends bytes of `source`, as they are; only to a text that Empty made.
  void AppendPart(const AlignedText& source, size_t begin, size_t end);
  // Appends `bytes`, which replace [begin, end) of `source` as a whole.
  void AppendChanged(const AlignedText& source, size_t begin, size_t end, std::string_view bytes);

 private:
  std::string text_;
  int64_t offset_;
  // [byte] in the original; both empty where byte i comes from offset_ + i.
  std::vector<int64_t> begins_;
  std::vector<int64_t> ends_;
};

}  // namespace midscope
