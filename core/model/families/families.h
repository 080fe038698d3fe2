// SPDX-License-Identifier: MIT
// One function for each file of this folder that describes a family.
#pragma once

#include "core/model/families/family.h"

namespace midscope {

const Family& LlamaFamily();
const Family& MistralFamily();
const Family& SmolLm3Family();
const Family& Qwen2Family();
const Family& Qwen25VlFamily();
const Family& Qwen3Family();
const Family& GemmaFamily();
const Family& Gemma2Family();
const Family& Gemma3Family();
const Family& Phi3Family();
const Family& Olmo2Family();
const Family& GptNeoxFamily();
const Family& MptFamily();

}  // namespace midscope
