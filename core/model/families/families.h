// SPDX-License-Identifier: MIT
// The list of model families. FAMILY(glm, Glm4) denotes the function glm::Glm4Family() of glm.cpp.
#pragma once

#include "core/model/families/family.h"

// clang-format off
#define MIDSCOPE_FAMILIES(FAMILY)   \
  FAMILY(llama, Llama)              \
  FAMILY(mistral, Mistral)          \
  FAMILY(smollm3, SmolLm3)          \
  FAMILY(qwen2, Qwen2)              \
  FAMILY(qwen3, Qwen3)              \
  FAMILY(gemma, Gemma)              \
  FAMILY(gemma2, Gemma2)            \
  FAMILY(gemma3, Gemma3)            \
  FAMILY(gemma4, Gemma4)            \
  FAMILY(phi3, Phi3)                \
  FAMILY(olmo2, Olmo2)              \
  FAMILY(gpt_neox, GptNeox)         \
  FAMILY(mpt, Mpt)                  \
  FAMILY(qwen2, Qwen25Vl)           \
  FAMILY(olmo, Olmo)                \
  FAMILY(olmo2, Olmo3)              \
  FAMILY(granite, Granite)          \
  FAMILY(cohere, Cohere)            \
  FAMILY(cohere, Cohere2)           \
  FAMILY(glm, Glm)                  \
  FAMILY(glm, Glm4)                 \
  FAMILY(starcoder2, Starcoder2)    \
  FAMILY(stablelm, StableLm)        \
  FAMILY(phi, Phi)                  \
  FAMILY(nemotron, Nemotron)        \
  FAMILY(seed_oss, SeedOss)         \
  FAMILY(exaone4, Exaone4)          \
  FAMILY(arcee, Arcee)              \
  FAMILY(mistral, Ministral)        \
  FAMILY(mixtral, Mixtral)          \
  FAMILY(qwen_moe, Qwen2Moe)        \
  FAMILY(qwen_moe, Qwen3Moe)        \
  FAMILY(olmoe, Olmoe)              \
  FAMILY(glm4_moe, Glm4Moe)         \
  FAMILY(ernie4_5, Ernie45)         \
  FAMILY(mistral, Ministral3)       \
  FAMILY(gpt2, Gpt2)                \
  FAMILY(falcon, Falcon)            \
  FAMILY(falcon_h1, FalconH1)       \
  FAMILY(bloom, Bloom)              \
  FAMILY(gptj, GptJ)                \
  FAMILY(opt, Opt)                  \
  FAMILY(internlm3, InternLm3)      \
  FAMILY(apertus, Apertus)          \
  FAMILY(gpt_oss, GptOss)           \
  FAMILY(internlm, InternLm)        \
  FAMILY(internlm2, InternLm2)      \
  FAMILY(hunyuan, Hunyuan)          \
  FAMILY(llama4, Llama4)            \
  FAMILY(deepseek, DeepseekV2)      \
  FAMILY(deepseek, DeepseekV3)      \
  FAMILY(xglm, Xglm)                \
  FAMILY(gpt_neo, GptNeo)           \
  FAMILY(gpt2, GptBigCode)          \
  FAMILY(qwen3_next, Qwen3Next)     \
  FAMILY(qwen3_next, Qwen35)        \
  FAMILY(qwen3_next, Qwen35Moe)     \
  FAMILY(qwen3, Qwen3Vl)            \
  FAMILY(qwen_moe, Qwen3VlMoe)      \
  FAMILY(ernie4_5, Ernie45Moe)      \
  FAMILY(glm4_moe, Dots1)           \
  FAMILY(minimax_m2, MiniMaxM2)     \
  FAMILY(hunyuan, HunyuanMoe)       \
  FAMILY(deepseek, Glm4MoeLite)     \
  FAMILY(granite, GraniteMoe)       \
  FAMILY(granite, GraniteMoeShared) \
  FAMILY(afmoe, Afmoe)              \
  FAMILY(gemma2, VaultGemma)        \
  FAMILY(olmo2, FlexOlmo)           \
  FAMILY(nemotron, Jais2)           \
  FAMILY(glm, Glm4v)                \
  FAMILY(exaone, Exaone)            \
  FAMILY(lfm2, Lfm2)                \
  FAMILY(lfm2, Lfm2Moe)             \
  FAMILY(granite, GraniteHybrid)    \
  FAMILY(mistral, Cwm)              \
  FAMILY(exaone4, ExaoneMoe)        \
  FAMILY(glm4_moe, SolarOpen)       \
  FAMILY(hyperclovax, HyperClovaX)  \
  FAMILY(qwen_moe, Mellum)          \
  FAMILY(deepseek, Youtu)           \
  FAMILY(deepseek, Mistral4)        \
  FAMILY(mixtral, PhiMoe)           \
  FAMILY(granite, Bamba)            \
  FAMILY(nemotron_h, NemotronH)     \
  FAMILY(nemotron_h, NemotronHMoe)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_FAMILY(FILE, NAME) \
  namespace FILE {                          \
  const Family& NAME##Family();             \
  }
MIDSCOPE_FAMILIES(MIDSCOPE_DECLARE_FAMILY)
#undef MIDSCOPE_DECLARE_FAMILY

}  // namespace midscope
