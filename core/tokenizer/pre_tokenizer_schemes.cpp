// SPDX-License-Identifier: MIT
// The pre-tokenizers that GGUF files know by name. Each is what the tokenizer.json of the family
// holds (the files' names: ggml-org/llama.cpp convert_hf_to_gguf.py, get_vocab_base_pre).
#include <array>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/tokenizer/pre_tokenizer.h"

namespace midscope {
namespace {

// openai/gpt-2 src/encoder.py.
constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kDigit = R"(\p{N})";
// meta-llama/llama3 llama/tokenizer.py.
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
// Qwen/Qwen2 tokenizer.json: as Llama 3's, numbers digit by digit.
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
// ByteDance-Seed/Seed-OSS tokenizer.json: as Qwen 2's, without line ends after punctuation.
constexpr const char* kSeed =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CONTRACTION R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
#define BEFORE R"([^\r\n\p{L}\p{N}]?)"
// openai/tiktoken o200k_base.
constexpr const char* kGpt4o =
    BEFORE UPPER "*" LOWER "+" CONTRACTION "|" BEFORE UPPER "+" LOWER "*" CONTRACTION
                 R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// mistralai/Mistral-Nemo tokenizer.json.
constexpr const char* kTekken =
    BEFORE UPPER "*" LOWER "+|" BEFORE UPPER "+" LOWER
                 "*"
                 R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
#undef UPPER
#undef LOWER
#undef CONTRACTION
#undef BEFORE

// tiiuae/falcon-7b tokenizer.json: punctuation, GPT-2's pieces, numbers by threes.
constexpr const char* kFalconMarks = R"([\p{P}\$\+<=>\^~\|`]+)";
constexpr const char* kThreeDigits = "[0-9][0-9][0-9]";
// bigscience/bloom tokenizer.json.
constexpr const char* kBloom = " ?[^(\\s|.,!?…。，、।۔،)]+";
// deepseek-ai/DeepSeek-V3 tokenizer.json, and tencent/Hunyuan's dense models'.
constexpr const char* kUpToThree = R"(\p{N}{1,3})";
constexpr const char* kHanAndKana = "[一-龥぀-ゟ゠-ヿ]+";
constexpr const char* kDeepseek =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Scheme {
  std::string_view name;
  std::array<const char*, 3> patterns;
  bool ignores_merges;
  bool composes;
  bool adds_bos = false;
};

constexpr std::array<Scheme, 35> kSchemes = {
    {{"smollm", {kDigit, kGpt2}, false, false},
     {"starcoder", {kDigit, kGpt2}, false, false},
     {"refact", {kDigit, kGpt2}, false, false},
     {"command-r", {kDigit, kGpt2}, false, true},
     {"exaone4", {kGpt2, nullptr}, false, false},
     {"glm4", {kLlama3, nullptr}, true, false},
     {"chatglm-bpe", {kLlama3, nullptr}, false, false},
     {"stablelm2", {kQwen2, nullptr}, false, false},
     {"seed-coder", {kSeed, nullptr}, false, false},
     {"default", {kGpt2, nullptr}, false, false},
     {"gpt-2", {kGpt2, nullptr}, false, false},
     {"gpt2", {kGpt2, nullptr}, false, false},
     {"phi-2", {kGpt2, nullptr}, false, false},
     {"mpt", {kGpt2, nullptr}, false, true},
     {"olmo", {kGpt2, nullptr}, false, true},
     {"gpt-neox", {kGpt2, nullptr}, false, true},
     {"falcon3", {kLlama3, nullptr}, true, false, true},
     {"pixtral", {kLlama3, nullptr}, true, false, true},
     {"midm-2.0", {kLlama3, nullptr}, true, false, true},
     {"llama-bpe", {kLlama3, nullptr}, true, false, true},
     {"llama3", {kLlama3, nullptr}, true, false, true},
     {"llama-v3", {kLlama3, nullptr}, true, false, true},
     {"dbrx", {kLlama3, nullptr}, false, false},
     {"smaug-bpe", {kLlama3, nullptr}, false, false},
     {"qwen2", {kQwen2, nullptr}, false, true},
     {"deepseek-r1-qwen", {kQwen2, nullptr}, false, true},
     {"megrez", {kQwen2, nullptr}, false, true},
     {"gpt-4o", {kGpt4o, nullptr}, false, false},
     {"llama4", {kGpt4o, nullptr}, false, false},
     {"falcon", {kFalconMarks, kGpt2, kThreeDigits}, false, false},
     {"bloom", {kBloom}, false, false},
     {"gpt3-finnish", {kBloom}, false, false},
     {"deepseek-v3", {kUpToThree, kHanAndKana, kDeepseek}, false, false},
     {"hunyuan-dense", {kUpToThree, kHanAndKana, kDeepseek}, false, false},
     {"tekken", {kTekken, nullptr}, true, false, true}}};

const Scheme& FindScheme(const std::string& name) {
  std::string known;
  for (const Scheme& scheme : kSchemes) {
    if (scheme.name == name) return scheme;
    known += (known.empty() ? "" : ", ") + std::string(scheme.name);
  }
  throw Failure("pre-tokenizer " + Quote(name),
                "not supported yet, and any other would give other token ids",
                "Supported: " + known);
}

}  // namespace

void PreTokenizer::AddByteLevel() { AddSplit(Pattern(kGpt2), SplitBehavior::kIsolated); }

NamedScheme MakeNamedScheme(const std::string& name) {
  const Scheme& scheme = FindScheme(name);
  NamedScheme made;
  made.ignores_merges = scheme.ignores_merges;
  made.composes = scheme.composes;
  made.adds_bos = scheme.adds_bos;
  for (const char* pattern : scheme.patterns) {
    if (pattern != nullptr) made.pre_tokenizer.AddSplit(Pattern(pattern), SplitBehavior::kIsolated);
  }
  return made;
}

}  // namespace midscope
