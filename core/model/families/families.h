// SPDX-License-Identifier: MIT
// The list of families: one line per file of this folder. FAMILY(Llama) denotes the function
// LlamaFamily() of llama.cpp.
#pragma once

#include "core/model/families/family.h"

// clang-format off
#define MIDSCOPE_FAMILIES(FAMILY) \
  FAMILY(Llama)                   \
  FAMILY(Mistral)                 \
  FAMILY(SmolLm3)                 \
  FAMILY(Qwen2)                   \
  FAMILY(Qwen3)                   \
  FAMILY(Gemma)                   \
  FAMILY(Gemma2)                  \
  FAMILY(Gemma3)                  \
  FAMILY(Gemma4)                  \
  FAMILY(Phi3)                    \
  FAMILY(Olmo2)                   \
  FAMILY(GptNeox)                 \
  FAMILY(Mpt)                     \
  FAMILY(Qwen25Vl)                \
  FAMILY(Olmo)                    \
  FAMILY(Olmo3)                   \
  FAMILY(Granite)                 \
  FAMILY(Cohere)                  \
  FAMILY(Cohere2)                 \
  FAMILY(Glm)                     \
  FAMILY(Glm4)                    \
  FAMILY(Starcoder2)              \
  FAMILY(StableLm)                \
  FAMILY(Phi)                     \
  FAMILY(Nemotron)                \
  FAMILY(SeedOss)                 \
  FAMILY(Exaone4)                 \
  FAMILY(Arcee)                   \
  FAMILY(Ministral)               \
  FAMILY(Mixtral)                 \
  FAMILY(Qwen2Moe)                \
  FAMILY(Qwen3Moe)                \
  FAMILY(Olmoe)                   \
  FAMILY(Glm4Moe)                 \
  FAMILY(Ernie45)                 \
  FAMILY(Ministral3)              \
  FAMILY(Gpt2)                    \
  FAMILY(Falcon)                  \
  FAMILY(Bloom)                   \
  FAMILY(GptJ)                    \
  FAMILY(Opt)                     \
  FAMILY(InternLm3)               \
  FAMILY(Apertus)                 \
  FAMILY(GptOss)                  \
  FAMILY(InternLm)                \
  FAMILY(InternLm2)               \
  FAMILY(Hunyuan)                 \
  FAMILY(Llama4)                  \
  FAMILY(DeepseekV2)              \
  FAMILY(DeepseekV3)              \
  FAMILY(Xglm)                    \
  FAMILY(GptNeo)                  \
  FAMILY(GptBigCode)              \
  FAMILY(Qwen3Next)               \
  FAMILY(Qwen35)                  \
  FAMILY(Qwen35Moe)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_FAMILY(NAME) const Family& NAME##Family();
MIDSCOPE_FAMILIES(MIDSCOPE_DECLARE_FAMILY)
#undef MIDSCOPE_DECLARE_FAMILY

}  // namespace midscope
