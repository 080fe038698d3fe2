// SPDX-License-Identifier: MIT
#include "probes/cli/commands/model_facts.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "core/base/error.h"
#include "core/compute/placement.h"
#include "core/formats/config_json.h"
#include "core/formats/folder_weights.h"
#include "core/formats/gguf_file.h"
#include "core/intervention/passage.h"
#include "core/model/model_source.h"
#include "core/plan/attention_plan.h"
#include "core/terms/intervention_text.h"
#include "core/terms/presets.h"
#include "core/terms/terms.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/model/model_options.h"
#include "probes/model/tensor_library.h"

namespace midscope::cli {
namespace {

// Returns an example of a term with layer 0 replaced by the first layer that has attention.
std::string WithAttention(std::string example, const ModelConfig& config) {
  int64_t layer = 0;
  while (layer + 1 < config.layers && !config.HasAttention(layer)) ++layer;
  for (const std::string& before : {std::string("L"), std::string("layers=")}) {
    const size_t found = example.find(before + "0");
    if (found != std::string::npos)
      example.replace(found + before.size(), 1, std::to_string(layer));
  }
  return example;
}

// Returns the example in a term's description, parsed. Throws std::logic_error if there is none
// that can be parsed.
Intervention Example(const TermType& term, const ModelConfig& config) {
  if (term.sample) return term.sample(config);
  try {
    return ParseIntervention(WithAttention(term.small_example, config));
  } catch (const Error& error) {
    throw std::logic_error("no example of the term '" + term.name + "': " + error.what());
  }
}

std::string WhyNot(const Intervention& intervention, const ModelConfig& config) {
  try {
    CompilePlans(WithAnyPassages(intervention), config, config.trained_context);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Returns whether at least one preset fits the model; each preset is for models of certain sizes.
InterventionSupport PresetSupport(const ModelConfig& config) {
  for (const Preset& preset : InterventionPresets()) {
    if (WhyNot(ParseIntervention(preset.text), config).empty()) return {kPresetTerm, true, ""};
  }
  return {kPresetTerm, false, "preset: none of them fits this model"};
}

// Checks every term of the intervention text except `none` by compiling an example for the model,
// with arbitrary ratios and passages. `preset` is supported if at least one preset is.
std::vector<InterventionSupport> CheckInterventions(const ModelConfig& config) {
  std::vector<InterventionSupport> all;
  for (const TermType& term : TermTypes()) {
    if (term.name == "none") continue;
    if (term.name == kPresetTerm) {
      all.push_back(PresetSupport(config));
      continue;
    }
    const std::string why_not = WhyNot(Example(term, config), config);
    all.push_back({term.name, why_not.empty(), why_not});
  }
  return all;
}

// Returns the result of `read`; an empty value if it throws Error.
template <typename Read>
std::invoke_result_t<Read> Stated(const Read& read) {
  try {
    return read();
  } catch (const Error&) {
    return {};
  }
}

// Reads facts of a model that cannot be run; values of an unexpected type are treated as missing.
ModelConfig StatedConfig(const GgufFile& file) {
  ModelConfig config;
  const auto text = [&](const std::string& key) {
    return Stated([&] { return file.GetString(key).value_or(""); });
  };
  config.architecture = text("general.architecture");
  config.name = text("general.name");
  const auto number = [&](const std::string& key) {
    return Stated([&] { return file.GetInt(config.architecture + "." + key).value_or(0); });
  };
  config.layers = number("block_count");
  config.heads = number("attention.head_count");
  config.key_value_heads = number("attention.head_count_kv");
  config.hidden = number("embedding_length");
  config.head_dim = number("attention.key_length");
  config.feed_forward = number("feed_forward_length");
  config.trained_context = number("context_length");
  config.rope_base = 0;
  return config;
}

// Returns the base of rotary positions; 0 if it is missing or differs between layers.
double StatedRopeBase(const ConfigJson& json) {
  return Stated([&] {
    const auto rope = json.Object("rope_parameters");
    const ConfigJson& of = rope ? *rope : json;
    return of.Has("rope_theta") ? of.Positive("rope_theta", 1.0) : 0.0;
  });
}

// Reads the configuration in a folder's config.json, by the keys that most families use.
ModelConfig StatedConfig(const ConfigJson& json) {
  ModelConfig config;
  config.architecture = Stated([&] { return json.Text("model_type", ""); });
  config.name = Stated([&] { return json.Text("_name_or_path", ""); });
  // Member text_config describes the text part of a model for text and images.
  const auto text = Stated([&] { return json.Object("text_config"); });
  const ConfigJson& numbers = text ? *text : json;
  const auto number = [&](const char* key) {
    return Stated([&] { return numbers.CountOrZero(key, INT64_MAX, 0); });
  };
  config.layers = number("num_hidden_layers");
  config.heads = number("num_attention_heads");
  config.key_value_heads = number("num_key_value_heads");
  config.hidden = number("hidden_size");
  config.head_dim = number("head_dim");
  config.feed_forward = number("intermediate_size");
  config.vocabulary = number("vocab_size");
  config.trained_context = number("max_position_embeddings");
  config.rope_base = StatedRopeBase(numbers);
  config.rope_dimensions = config.head_dim;
  return config;
}

constexpr const char* kGguf = "GGUF";
constexpr const char* kFolder = "Hugging Face folder";
constexpr const char* kPickledFolder = "Hugging Face folder, pytorch_model.bin";

int64_t BytesOf(const std::vector<MemoryMap>& maps) {
  int64_t bytes = 0;
  for (const MemoryMap& map : maps) bytes += map.size();
  return bytes;
}

void SumGguf(const GgufFile& file, ModelFacts* facts) {
  facts->tensors = static_cast<int64_t>(file.tensors().size());
  facts->file_bytes = BytesOf(file.maps());
}

void SumFolder(const std::filesystem::path& folder, ModelFacts* facts) {
  const FolderWeights weights(folder);
  if (weights.pickled()) facts->format = kPickledFolder;
  facts->tensors = static_cast<int64_t>(weights.tensors().size());
  facts->file_bytes = BytesOf(weights.maps());
  facts->tokenizer.model = "tokenizer.model";
  for (const char* name : {"tekken.json", "tokenizer.json"}) {
    if (std::filesystem::exists(folder / name)) facts->tokenizer.model = name;
  }
}

// Returns the name of a model for display: the file or folder name or, in the Hugging Face cache,
// the name of the model.
std::string ShownName(const std::string& model, const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(model, ignored) && model != "embedded") return model;
  const std::filesystem::path plain = std::filesystem::weakly_canonical(path, ignored);
  return (std::filesystem::is_directory(path, ignored) ? plain : path).filename().string();
}

// Reads the facts of a model that can be opened.
ModelFacts FactsOfFiles(const std::string& model, const std::filesystem::path& path,
                        const ModelConfig& config) {
  ModelFacts facts;
  facts.config = config;
  facts.file = ShownName(model, path);
  if (std::filesystem::is_directory(path)) {
    facts.format = kFolder;
    SumFolder(path, &facts);
  } else {
    facts.format = kGguf;
    const GgufFile file(path);
    SumGguf(file, &facts);
    facts.tokenizer.model = file.GetString("tokenizer.ggml.model").value_or("");
  }
  return facts;
}

// Reads the facts of a model that can't be opened because of `error`; throws `error` if the file
// contains no facts.
ModelFacts StatedFacts(const std::string& model, const std::filesystem::path& path,
                       const Error& error) {
  ModelFacts facts;
  facts.file = ShownName(model, path);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (!std::filesystem::exists(path / "config.json", ignored)) throw error;
    facts.format = kFolder;
    const ConfigJson json = ConfigJson::Read(path / "config.json");
    facts.config = StatedConfig(json);
    try {
      SumFolder(path, &facts);
    } catch (const Error&) {
      facts.tensors = facts.file_bytes = 0;  // not stated
    }
    return facts;
  }
  std::optional<GgufFile> file;
  try {
    file.emplace(path);
  } catch (const Error&) {
    throw error;
  }
  facts.format = kGguf;
  facts.config = StatedConfig(*file);
  SumGguf(*file, &facts);
  return facts;
}

// Returns the facts of a model that can't be run because of `error`.
ModelFacts UnsupportedFacts(const std::string& model, const std::filesystem::path& path,
                            const Error& error) {
  std::unique_ptr<ModelSource> source;
  try {
    source = OpenModel(model);
  } catch (const Error&) {
    source.reset();
  }
  ModelFacts facts =
      source ? FactsOfFiles(model, path, source->config()) : StatedFacts(model, path, error);
  facts.why_not = error.what();
  return facts;
}

}  // namespace

ModelFacts ReadModelFacts(const std::string& model) {
  const std::filesystem::path path = ResolveModel(model);
  RunnableModel opened;
  try {
    opened = OpenRunnableModel(model);
  } catch (const Error& error) {
    return UnsupportedFacts(model, path, error);
  }
  ModelFacts facts = FactsOfFiles(model, path, opened.config);
  const Tokenizer& tokenizer = *opened.tokenizer;
  facts.tokenizer.pre_tokenizer = tokenizer.pre_tokenizer_name();
  facts.tokenizer.vocabulary = tokenizer.vocabulary();
  facts.tokenizer.bos_id = tokenizer.bos_id();
  facts.tokenizer.eos_id = tokenizer.eos_id();
  facts.tokenizer.begin_ids = tokenizer.begin_ids();
  facts.tokenizer.add_bos = tokenizer.add_bos();
  facts.tokenizer.chat_template = !tokenizer.chat_template().empty();
  facts.interventions = CheckInterventions(facts.config);
  LoadTensorLibrary();
  facts.devices = ListDeviceFacts();
  facts.supported = true;
  return facts;
}

}  // namespace midscope::cli
