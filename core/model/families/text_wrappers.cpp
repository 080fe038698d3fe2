// SPDX-License-Identifier: MIT
// Models of text and images whose text part is one of our decoders. Defaults are those of the
// configuration classes of transformers 5.
#include "core/model/families/families.h"
#include "core/model/families/family.h"

namespace midscope {

const std::vector<TextWrapper>& TextWrappers() {
  static const std::vector<TextWrapper> wrappers = {
      {.model_type = "gemma3",
       .family = gemma3::Gemma3Family,
       .text_types = {"gemma3_text"},
       .tied = true,
       .other_parts = {"vision_tower.", "multi_modal_projector."}},
      {.model_type = "gemma4",
       .family = gemma4::Gemma4Family,
       .text_types = {"gemma4_text"},
       .tied = true,
       .other_parts = {"vision_tower.", "embed_vision.", "audio_tower.", "embed_audio."}},
      {.model_type = "gemma4_unified",
       .family = gemma4::Gemma4Family,
       .text_types = {"gemma4_unified_text"},
       .tied = true,
       .other_parts = {"vision_embedder.", "embed_vision.", "embed_audio."}},
      {.model_type = "mistral3",
       .family = mistral::MistralFamily,
       .text_types = {"mistral"},
       .tied = true,
       .other_parts = {"vision_tower.", "multi_modal_projector."}},
      {.model_type = "mistral3",
       .family = mistral::Ministral3Family,
       .text_types = {"ministral3"},
       .tied = true,
       .text_may_tie = true,
       .other_parts = {"vision_tower.", "multi_modal_projector."}},
      {.model_type = "llama4",
       .family = llama4::Llama4Family,
       .text_types = {"llama4_text"},
       .text_may_tie = true,
       .other_parts = {"vision_model.", "multi_modal_projector."}},
      {.model_type = "qwen2_5_vl",
       .family = qwen2_5_vl::Qwen25VlFamily,
       .text_types = {"qwen2_5_vl_text", "qwen2_5_vl"},
       .flat = true,
       .text_may_tie = true,
       .other_parts = {"visual."}},
      {.model_type = "qwen3_5",
       .family = qwen3_next::Qwen35Family,
       .text_types = {"qwen3_5_text"},
       .other_parts = {"visual."}},
      {.model_type = "qwen3_5_moe",
       .family = qwen3_next::Qwen35MoeFamily,
       .text_types = {"qwen3_5_moe_text"},
       .other_parts = {"visual."}},
      {.model_type = "lfm2_vl",
       .family = lfm2::Lfm2Family,
       .text_types = {"lfm2"},
       .tied = true,
       .other_parts = {"vision_tower.", "multi_modal_projector."}},
  };
  return wrappers;
}

std::vector<const TextWrapper*> FindTextWrappers(std::string_view model_type) {
  std::vector<const TextWrapper*> found;
  for (const TextWrapper& wrapper : TextWrappers()) {
    if (wrapper.model_type == model_type) found.push_back(&wrapper);
  }
  return found;
}

}  // namespace midscope
