// SPDX-License-Identifier: MIT
#include "core/intervention/schemes/schemes.h"

#include <stdexcept>

namespace midscope {

const std::vector<SchemeType>& SchemeTypes() {
#define MIDSCOPE_LIST_SCHEME(NAME) NAME##Scheme(),
  static const std::vector<SchemeType> types = {MIDSCOPE_POSITION_SCHEMES(MIDSCOPE_LIST_SCHEME)};
#undef MIDSCOPE_LIST_SCHEME
  return types;
}

const SchemeType& SchemeTypeOf(const PositionScheme& scheme) {
  for (const SchemeType& type : SchemeTypes()) {
    if (type.holds(scheme)) return type;
  }
  throw std::logic_error("a position scheme of a type that schemes.h does not list");
}

const SchemeType* FindScheme(std::string_view term) {
  for (const SchemeType& type : SchemeTypes()) {
    if (type.term.name == term) return &type;
  }
  return nullptr;
}

}  // namespace midscope
