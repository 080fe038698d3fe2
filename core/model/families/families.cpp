// SPDX-License-Identifier: MIT
#include "core/model/families/families.h"

#include "core/model/families/family.h"

namespace midscope {

const std::vector<const Family*>& Families() {
#define MIDSCOPE_LIST_FAMILY(FILE, NAME) &FILE::NAME##Family(),
  static const std::vector<const Family*> families = {MIDSCOPE_FAMILIES(MIDSCOPE_LIST_FAMILY)};
#undef MIDSCOPE_LIST_FAMILY
  return families;
}

const Family* FindModelType(std::string_view model_type) {
  for (const Family* family : Families()) {
    if (!model_type.empty() && family->model_type == model_type) return family;
  }
  return nullptr;
}

const Family* FindGgufArchitecture(std::string_view architecture) {
  for (const Family* family : Families()) {
    if (!architecture.empty() && family->gguf_architecture == architecture) return family;
  }
  return nullptr;
}

}  // namespace midscope
