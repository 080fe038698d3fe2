// SPDX-License-Identifier: MIT
// A part of a text after changes (normalisation, an added space), with each byte's offset in the
// original text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

class AlignedText {
 public:
  // Holds unchanged bytes, which begin at `offset` of the original text.
  AlignedText(std::string text, int64_t offset) : text_(std::move(text)), offset_(offset) {}

  std::string_view text() const { return text_; }
  size_t size() const { return text_.size(); }

  // Bytes [begin, end) of this text come from [OriginalBegin(begin), OriginalEnd(end)) of the
  // original. Added bytes have an empty range.
  int64_t OriginalBegin(size_t begin) const;
  int64_t OriginalEnd(size_t end) const;

  // Returns an empty text that begins at byte `begin` of this text, to be filled by Append.
  AlignedText Empty(size_t begin) const;
  // Returns bytes [begin, end) as a separate text.
  AlignedText Part(size_t begin, size_t end) const;

  // Appends unchanged bytes of `source`; only for a text made by Empty.
  void AppendPart(const AlignedText& source, size_t begin, size_t end);
  // Appends `bytes` as a replacement of the whole range [begin, end) of `source`.
  void AppendChanged(const AlignedText& source, size_t begin, size_t end, std::string_view bytes);

 private:
  std::string text_;
  int64_t offset_;
  // [byte]: offset in the original; both are empty if byte i comes from offset_ + i.
  std::vector<int64_t> begins_;
  std::vector<int64_t> ends_;
};

}  // namespace midscope
