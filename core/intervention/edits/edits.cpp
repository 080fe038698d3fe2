// SPDX-License-Identifier: MIT
#include "core/intervention/edits/edits.h"

namespace midscope {

const std::vector<EditType>& EditTypes() {
#define MIDSCOPE_LIST_EDIT(NAME) NAME##Edit(),
  static const std::vector<EditType> types = {MIDSCOPE_EDITS(MIDSCOPE_LIST_EDIT)};
#undef MIDSCOPE_LIST_EDIT
  return types;
}

const EditType* FindEdit(std::string_view term) {
  for (const EditType& type : EditTypes()) {
    if (type.term.name == term) return &type;
  }
  return nullptr;
}

}  // namespace midscope
