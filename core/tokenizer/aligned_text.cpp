// SPDX-License-Identifier: MIT
#include "core/tokenizer/aligned_text.h"

#include <utility>

namespace midscope {

int64_t AlignedText::OriginalBegin(size_t begin) const {
  if (begins_.empty()) return offset_ + static_cast<int64_t>(begin);
  return begin < begins_.size() ? begins_[begin] : ends_.back();
}

int64_t AlignedText::OriginalEnd(size_t end) const {
  if (ends_.empty()) return offset_ + static_cast<int64_t>(end);
  return end > 0 ? ends_[end - 1] : begins_.front();
}

AlignedText AlignedText::Empty(size_t begin) const { return {std::string(), OriginalBegin(begin)}; }

AlignedText AlignedText::Part(size_t begin, size_t end) const {
  if (begins_.empty()) return {text_.substr(begin, end - begin), OriginalBegin(begin)};
  AlignedText part = Empty(begin);
  part.AppendPart(*this, begin, end);
  return part;
}

void AlignedText::AppendPart(const AlignedText& source, size_t begin, size_t end) {
  text_.append(source.text_, begin, end - begin);
  for (size_t i = begin; i < end; ++i) {
    begins_.push_back(source.OriginalBegin(i));
    ends_.push_back(source.OriginalEnd(i + 1));
  }
}

void AlignedText::AppendChanged(const AlignedText& source, size_t begin, size_t end,
                                std::string_view bytes) {
  text_ += bytes;
  const int64_t from = source.OriginalBegin(begin);
  begins_.insert(begins_.end(), bytes.size(), from);
  ends_.insert(ends_.end(), bytes.size(), end > begin ? source.OriginalEnd(end) : from);
}

}  // namespace midscope
