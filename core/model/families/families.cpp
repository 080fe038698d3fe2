// SPDX-License-Identifier: MIT
#include "core/model/families/families.h"

#include "core/model/families/family.h"

namespace midscope {

const std::vector<const Family*>& Families() {
  static const std::vector<const Family*> families = {
      &LlamaFamily(),   &MistralFamily(), &SmolLm3Family(), &Qwen2Family(), &Qwen3Family(),
      &GemmaFamily(),   &Gemma2Family(),  &Gemma3Family(),  &Phi3Family(),  &Olmo2Family(),
      &GptNeoxFamily(), &MptFamily(),     &Qwen25VlFamily()};
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
