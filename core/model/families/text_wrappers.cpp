// SPDX-License-Identifier: MIT
// Models of text and images whose text part is a supported decoder. Defaults follow the
// configuration classes of transformers 5.
#include "core/model/families/families.h"
#include "core/model/families/family.h"

namespace midscope {
namespace {

// A model whose text part may be one of several families; the first is the default.
struct Around {
  std::string_view model_type;
  std::vector<const Family& (*)()> families;
  bool tied = false;
  bool text_may_tie = false;
};

std::vector<TextWrapper> WrappersOf(const std::vector<Around>& models) {
  std::vector<TextWrapper> wrappers;
  for (const Around& model : models) {
    for (const auto& family : model.families) {
      wrappers.push_back(
          {.model_type = model.model_type,
           .family = family,
           .text_types = {family().model_type},
           .tied = model.tied,
           .text_may_tie = model.text_may_tie,
           .other_parts = {"vision_tower.", "vision_model.", "multi_modal_projector.", "connector.",
                           "image_newline", "visual."}});
    }
  }
  return wrappers;
}

std::vector<TextWrapper> AllWrappers() {
  using llama::LlamaFamily;
  using mistral::MistralFamily;
  using qwen2::Qwen2Family;
  std::vector<TextWrapper> wrappers = WrappersOf(
      {{"llava", {LlamaFamily, MistralFamily, Qwen2Family}, /*tied=*/false, /*text_may_tie=*/true},
       {"llava_next", {LlamaFamily, MistralFamily, Qwen2Family}},
       {"llava_onevision", {Qwen2Family}, /*tied=*/false, /*text_may_tie=*/true},
       {"idefics3", {LlamaFamily}},
       {"smolvlm", {LlamaFamily}},
       {"internvl", {Qwen2Family, qwen3::Qwen3Family, LlamaFamily}, /*tied=*/true},
       {"aya_vision", {cohere::Cohere2Family}, /*tied=*/true},
       {"qwen3_vl", {qwen3::Qwen3VlFamily}},
       {"qwen3_vl_moe", {qwen_moe::Qwen3VlMoeFamily}},
       {"qwen3_5", {qwen3_next::Qwen35Family}},
       {"qwen3_5_moe", {qwen3_next::Qwen35MoeFamily}},
       {"glm4v", {glm::Glm4vFamily}, /*tied=*/false, /*text_may_tie=*/true},
       {"glm46v", {glm::Glm4vFamily}}});
  const std::vector<TextWrapper> others = {
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
      {.model_type = "mistral3",
       .family = deepseek::Mistral4Family,
       .text_types = {"mistral4"},
       .tied = true,
       .text_may_tie = true,
       .other_parts = {"vision_tower.", "multi_modal_projector."}},
      {.model_type = "llama4",
       .family = llama4::Llama4Family,
       .text_types = {"llama4_text"},
       .text_may_tie = true,
       .other_parts = {"vision_model.", "multi_modal_projector."}},
      {.model_type = "qwen2_5_vl",
       .family = qwen2::Qwen25VlFamily,
       .text_types = {"qwen2_5_vl_text", "qwen2_5_vl"},
       .flat = true,
       .text_may_tie = true,
       .other_parts = {"visual."}},
      {.model_type = "qwen2_vl",
       .family = qwen2::Qwen25VlFamily,
       .text_types = {"qwen2_vl_text", "qwen2_vl"},
       .flat = true,
       .text_may_tie = true,
       .other_parts = {"visual."}},
      {.model_type = "exaone4_5",
       .family = exaone4::Exaone4Family,
       .text_types = {"exaone4", "exaone4_5_text"},
       .other_parts = {"visual."}},
      {.model_type = "lfm2_vl",
       .family = lfm2::Lfm2Family,
       .text_types = {"lfm2"},
       .tied = true,
       .other_parts = {"vision_tower.", "multi_modal_projector."}},
  };
  wrappers.insert(wrappers.end(), others.begin(), others.end());
  return wrappers;
}

}  // namespace

const std::vector<TextWrapper>& TextWrappers() {
  static const std::vector<TextWrapper> wrappers = AllWrappers();
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
