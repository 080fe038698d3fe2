// SPDX-License-Identifier: MIT
// A model family as data: how its configuration fills in a ModelConfig, and the names of its
// tensors in a file. One file of this folder per family; families.h lists them. Adding a family
// needs one such file, a line in that list, and a tiny model in
// tests/core/make/tiny_configurations.py.
#pragma once

#include <string_view>
#include <vector>

#include "core/formats/config_json.h"
#include "core/formats/gguf_metadata.h"
#include "core/model/model_config.h"

namespace midscope {

// The rows of a file's tensor that are the decoder's. Fused tensors contain several of the
// decoder's.
enum class RowPart {
  kAll,
  kInterleaved,  // pair j of a head in rows 2j and 2j + 1 (GGUF's llama); the decoder: j, j + half
  kQuery,        // [queries; keys; values]
  kKey,
  kValue,
  kInterleavedQuery,  // of [queries; keys; values], pairs as in kInterleaved
  kInterleavedKey,
  kGate,  // [gate; up]
  kUp,
  kHeadQuery,  // [key-value head][its queries, key, value][head_dim] (gpt_neox, falcon)
  kHeadKey,
  kHeadValue,
  kExpert,      // [expert, rows, columns]
  kExpertGate,  // [expert, gate then up, columns] (llama4)
  kExpertUp,
  kExpertEven,  // [expert, gate and up by turns, columns] (gpt_oss): gate
  kExpertOdd,   // up
  kByHead,      // [head, its rows, columns]
  kOnlyRow,     // a matrix of one row, as a vector
};

// How a file's tensor is called: kWeight and a bias beside it, or kBare: by `file_name` alone.
enum class TensorEnding { kWeight, kBare };

// kMay: where one layer has it, all layers must.
enum class Bias { kNever, kMay, kMust };

// Where several places have one name, the first is taken whose tensor the file has.
struct TensorPlace {
  std::string_view name;       // the decoder's, N for the layer: "N.query"; E for the expert
  std::string_view file_name;  // without .weight: "model.layers.N.self_attn.q_proj"
  RowPart part = RowPart::kAll;
  Bias bias = Bias::kNever;
  TensorEnding ending = TensorEnding::kWeight;
  bool transposed = false;  // the file's matrix is [inputs, outputs] (gpt2)
  // The bias' whole name in the file; empty: file_name.bias.
  std::string_view bias_name = {};
};

struct Family {
  std::string_view name;  // ModelConfig::architecture: "gpt_neox"

  // Hugging Face folders: model_type and settings of config.json, and its tensors' names. Both
  // functions throw Error for what the decoder does not follow.
  std::string_view model_type;
  void (*read_folder)(const ConfigJson& json, ModelConfig* config);
  std::vector<TensorPlace> (*folder_tensors)(const ConfigJson& json);

  // GGUF: general.architecture, as llama.cpp's converter writes it.
  std::string_view gguf_architecture;
  void (*read_gguf)(const GgufMetadata& metadata, ModelConfig* config);
  std::vector<TensorPlace> (*gguf_tensors)();

  // Suffixes of names of tensors that are not weights (old checkpoints contain masks). Rotary
  // frequencies are passed over in every family.
  std::vector<std::string_view> ignored_endings = {};
  // Whether a folder's matrices may be in MXFP4 (mxfp4_tensors.h); its places are then NAME.mxfp4.
  bool takes_mxfp4 = false;
};

// A model of text and pictures, whose text part is a family's decoder. Its config.json holds the
// text part's in "text_config" (or, where `flat`, in itself), and its tensors the text part's under
// "language_model.model.", "model.language_model.", "language_model." or as the family names them.
struct TextWrapper {
  std::string_view model_type;               // of config.json: "gemma3"
  const Family& (*family)();                 // of the text part
  std::vector<std::string_view> text_types;  // what text_config's model_type may be
  bool flat = false;
  bool tied = false;          // where tie_word_embeddings is left out
  bool text_may_tie = false;  // by text_config's own tie_word_embeddings
  // How names of tensors begin that are no text part's, after "model." or without.
  std::vector<std::string_view> other_parts;
};

const std::vector<TextWrapper>& TextWrappers();
// One for each family that may be its text part; empty where there is none.
std::vector<const TextWrapper*> FindTextWrappers(std::string_view model_type);

// All families, in the order in which messages list them.
const std::vector<const Family*>& Families();

// Null where there is none.
const Family* FindModelType(std::string_view model_type);
const Family* FindGgufArchitecture(std::string_view architecture);

}  // namespace midscope
