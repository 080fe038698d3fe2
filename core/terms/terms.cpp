// SPDX-License-Identifier: MIT
#include "core/terms/terms.h"

#include <stdexcept>

namespace midscope {

const std::vector<TermType>& TermTypes() {
  static const std::vector<TermType> types = [] {
#define MIDSCOPE_LIST_TERM(NAME) NAME::Type(),
    std::vector<TermType> all = {MIDSCOPE_TERMS(MIDSCOPE_LIST_TERM)};
#undef MIDSCOPE_LIST_TERM
    for (size_t i = 0; i < all.size(); ++i) all[i].order = static_cast<int>(i);
    return all;
  }();
  return types;
}

const TermType* FindTermType(std::string_view name) {
  for (const TermType& type : TermTypes()) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const TermType& TermTypeOf(std::type_index value) {
  for (const TermType& type : TermTypes()) {
    if (type.value == value) return type;
  }
  throw std::logic_error("terms.h lists no type of term with this value");
}

}  // namespace midscope
