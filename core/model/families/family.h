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
  kExpertOdd,   // likewise: up
  kByHead,      // [head, its rows, columns]
  kOnlyRow,     // a matrix of one row, used as a vector
  kHeadFirst,   // [head][one, other][head_dim] (qwen3_next: queries, gates)
  kHeadSecond,
  kMixed,         // [query, key, value of all heads] of a delta rule, as in the decoder
  kVector,        // a vector's elements as a matrix, row after row
  kTaps,          // [channel, 1, rows]: a convolution that does not mix channels
  kGroupedMixed,  // [key head][its query, key, values, gates] of a delta rule (qwen3_next)
  kGroupedGate,
  kGroupedRate,  // [key head][its rates, decays]
  kGroupedDecay,
};

// The name of a file's tensor. kWeight: `file_name`.weight, possibly with a bias; kBare:
// `file_name` alone.
enum class TensorEnding { kWeight, kBare };

// kMay: if one layer has it, all layers must.
enum class Bias { kNever, kMay, kMust };

// If several places have the same name, the first whose tensor the file has is used.
struct TensorPlace {
  std::string_view name;       // the decoder's: "N.query" (N: layer, E: expert)
  std::string_view file_name;  // without .weight: "model.layers.N.self_attn.q_proj"
  RowPart part = RowPart::kAll;
  Bias bias = Bias::kNever;
  TensorEnding ending = TensorEnding::kWeight;
  bool transposed = false;  // the file's matrix is [inputs, outputs] (gpt2)
  // The bias' full name in the file; if empty, file_name.bias.
  std::string_view bias_name = {};
  // Whether a `transposed` matrix may also be [outputs, inputs], which its shape says then. If both
  // shapes are the same, it is.
  bool maybe_transposed = false;
};

struct Family {
  std::string_view name;  // ModelConfig::architecture: "gpt_neox"

  // For Hugging Face folders: model_type and settings of config.json, and the names of tensors.
  // Both functions throw Error for settings that the decoder does not implement.
  std::string_view model_type;
  void (*read_folder)(const ConfigJson& json, ModelConfig* config);
  std::vector<TensorPlace> (*folder_tensors)(const ConfigJson& json);

  // For GGUF: general.architecture, as written by llama.cpp's converter.
  std::string_view gguf_architecture;
  void (*read_gguf)(const GgufMetadata& metadata, ModelConfig* config);
  std::vector<TensorPlace> (*gguf_tensors)();

  // Suffixes of names of tensors that are not weights (old checkpoints contain masks). Rotary
  // frequencies are ignored for every family.
  std::vector<std::string_view> ignored_endings = {};
  // Whether a folder's matrices may be in MXFP4 (mxfp4_tensors.h); their places are then
  // NAME.mxfp4.
  bool takes_mxfp4 = false;
};

// A model of text and images whose text part is a family's decoder. The text part's configuration
// is in "text_config" of config.json (or, if `flat`, at its top level), and its tensors' names
// begin with "language_model.model.", "model.language_model.", "language_model." or
// "model.text_model.", or are the family's own names.
struct TextWrapper {
  std::string_view model_type;               // in config.json: "gemma3"
  const Family& (*family)();                 // family of the text part
  std::vector<std::string_view> text_types;  // possible model_types in text_config
  bool flat = false;
  bool tied = false;          // the value if tie_word_embeddings is absent
  bool text_may_tie = false;  // whether text_config's own tie_word_embeddings is read
  // Prefixes of names of tensors outside the text part, with or without "model." before them.
  std::vector<std::string_view> other_parts;
};

const std::vector<TextWrapper>& TextWrappers();
// Returns one wrapper for each family that may be its text part; empty if there is none.
std::vector<const TextWrapper*> FindTextWrappers(std::string_view model_type);

// Returns all families, in the order in which messages list them.
const std::vector<const Family*>& Families();

// Returns null if there is none.
const Family* FindModelType(std::string_view model_type);
const Family* FindGgufArchitecture(std::string_view architecture);

}  // namespace midscope
