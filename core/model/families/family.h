// SPDX-License-Identifier: MIT
// A model family as data: how its configuration is read into a ModelConfig, and the names of its
// tensors in a file. Each family has one file in this folder; families.h lists them. Adding a
// family needs one such file, a line in that list, and a tiny model in
// tests/core/make/tiny_configurations.py.
#pragma once

#include <string_view>
#include <vector>

#include "core/formats/config_json.h"
#include "core/formats/gguf_metadata.h"
#include "core/model/model_config.h"

namespace midscope {

// Selects the rows of a file's tensor that belong to one of the decoder's tensors. A fused tensor
// contains several of these.
enum class RowPart {
  kAll,
  kInterleaved,  // pair j of a head is rows 2j and 2j + 1 (GGUF's llama); in the decoder j, j +
                 // half
  kQuery,        // [queries; keys; values]
  kKey,
  kValue,
  kInterleavedQuery,  // the queries of [queries; keys; values], with pairs as in kInterleaved
  kInterleavedKey,
  kGate,  // [gate; up]
  kUp,
  kHeadQuery,  // [key-value head][its queries, key, value][head_dim] (gpt_neox, falcon)
  kHeadKey,
  kHeadValue,
  kExpert,      // [expert, rows, columns]
  kExpertGate,  // [expert, gate then up, columns] (llama4)
  kExpertUp,
  kExpertEven,  // [expert, gate and up alternating, columns] (gpt_oss): gate
  kExpertOdd,   // [expert, gate and up alternating, columns]: up
  kByHead,      // [head, its rows, columns]
  kOnlyRow,     // a matrix of one row, used as a vector
  kHeadFirst,   // [head][first, second][head_dim] (qwen3_next: queries, gates)
  kHeadSecond,
  kMixed,         // [query, key, value of all heads] of a delta rule, as in the decoder
  kVector,        // a vector's elements as a matrix, row after row
  kTaps,          // [channel, 1, rows]: a convolution that does not mix channels
  kGroupedMixed,  // [key head][its query, key, values, gates] of a delta rule (qwen3_next)
  kGroupedGate,
  kGroupedRate,  // [key head][its rates, decays]
  kGroupedDecay,
};

// The ending of a tensor's name in the file. kWeight: `file_name`.weight, possibly with a bias;
// kBare: `file_name` without an ending.
enum class TensorEnding { kWeight, kBare };

// Whether a tensor has a bias. kMay: all layers have it if one has.
enum class Bias { kNever, kMay, kMust };

// Where a file stores a decoder tensor. If several have one name, the first that exists is used.
struct TensorPlace {
  std::string_view name;       // the decoder's: "N.query" (N: layer, E: expert)
  std::string_view file_name;  // without .weight: "model.layers.N.self_attn.q_proj"
  RowPart part = RowPart::kAll;
  Bias bias = Bias::kNever;
  TensorEnding ending = TensorEnding::kWeight;
  bool transposed = false;  // the file's matrix is [inputs, outputs] (gpt2)
  // The full name of the bias in the file; if empty, file_name.bias.
  std::string_view bias_name = {};
  // Whether a `transposed` matrix may also be stored as [outputs, inputs], which the file's shape
  // then decides. A square matrix counts as [outputs, inputs].
  bool maybe_transposed = false;
};

struct Family {
  std::string_view name;  // ModelConfig::architecture: "gpt_neox"

  // How Hugging Face folders are read: model_type and settings of config.json, and the names of
  // tensors. Both functions throw Error for settings that the decoder does not implement.
  std::string_view model_type;
  void (*read_folder)(const ConfigJson& json, ModelConfig* config);
  std::vector<TensorPlace> (*folder_tensors)(const ConfigJson& json);

  // How GGUF files (of llama.cpp's converter) are read; gguf_architecture: general.architecture.
  std::string_view gguf_architecture;
  void (*read_gguf)(const GgufMetadata& metadata, ModelConfig* config);
  std::vector<TensorPlace> (*gguf_tensors)();

  // Suffixes of the names of tensors to ignore because they are not weights (old checkpoints
  // contain masks). Rotary frequencies are ignored for every family.
  std::vector<std::string_view> ignored_endings = {};
  // Whether a folder's matrices may be in MXFP4 (JoinMxfp4, folder_tensors.h). The names of such
  // matrices end in .mxfp4.
  bool takes_mxfp4 = false;
};

// A model of text and images whose text part is a family's decoder. The text part's configuration
// is in "text_config" of config.json (or, if `flat`, at the top level). The names of its tensors
// are the family's names, possibly with "model." replaced by "language_model.model.",
// "model.language_model.", "language_model." or "model.text_model.".
struct TextWrapper {
  std::string_view model_type;               // in config.json: "gemma3"
  const Family& (*family)();                 // family of the text part
  std::vector<std::string_view> text_types;  // possible model_types in text_config
  bool flat = false;
  bool tied = false;          // the value if tie_word_embeddings is absent
  bool text_may_tie = false;  // whether text_config's own tie_word_embeddings is read
  // Prefixes of the names of tensors outside the text part, with or without "model." before them.
  std::vector<std::string_view> other_parts;
};

const std::vector<TextWrapper>& TextWrappers();
// Returns one wrapper per possible family of the type's text part; empty for other types.
std::vector<const TextWrapper*> FindTextWrappers(std::string_view model_type);

// Returns all families, in the order in which messages list them.
const std::vector<const Family*>& Families();

// Returns the family of a config.json's model_type, or of GGUF's architecture; null if unknown.
const Family* FindModelType(std::string_view model_type);
const Family* FindGgufArchitecture(std::string_view architecture);

}  // namespace midscope
