// SPDX-License-Identifier: MIT
// The tokenizer of a Hugging Face folder: tokenizer.json, else tekken.json, else tokenizer.model;
// further settings are in tokenizer_config.json, special_tokens_map.json, generation_config.json
// and config.json.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "core/base/json_fields.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {
namespace {

// Larger than any known tokenizer: larger files are not read into memory.
constexpr uintmax_t kMaxFile = uintmax_t{512} << 20;
constexpr std::array<std::string_view, 5> kMistralTypes = {"mistral", "mistral3", "voxtral",
                                                           "ministral", "pixtral"};

class TokenizerFolderReader {
 public:
  explicit TokenizerFolderReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  TokenizerParts Read() {
    const nlohmann::json config = Json("tokenizer_config.json");
    const JsonFields fields(config, Name("tokenizer_config.json"), "");
    if (const auto json = Text("tokenizer.json")) {
      ReadJson(*json, fields);
    } else if (const auto tekken = Text("tekken.json")) {
      parts_ = ReadTekken(*tekken, Name("tekken.json"));
    } else if (const auto model = Text("tokenizer.model")) {
      ReadModel(*model, fields);
    } else {
      throw Failure(folder_.string(),
                    "it has neither tokenizer.json, tekken.json nor tokenizer.model",
                    "Copy one of them from where the model comes from");
    }
    ReadModelFiles();
    ReadTemplate(fields);
    return std::move(parts_);
  }

 private:
  std::string Name(const std::string& file) const { return (folder_ / file).string(); }

  std::optional<std::string> Text(const std::string& file) const {
    const std::filesystem::path path = folder_ / file;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
    if (std::filesystem::file_size(path, error) > kMaxFile || error)
      throw Failure(path.string(), "too large for a tokenizer's file");
    std::ifstream stream(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (stream.bad() || !stream.is_open()) throw Failure(path.string(), "it cannot be read");
    return text;
  }

  // Returns an empty object if there is no such file.
  nlohmann::json Json(const std::string& file) const {
    const auto text = Text(file);
    return text ? ParsePythonJson(*text, Name(file)) : nlohmann::json::object();
  }

  std::optional<int32_t> FindToken(const std::string& text) const {
    const Vocabulary& vocabulary = parts_.vocabulary;
    std::optional<int32_t> ordinary;
    for (size_t i = 0; i < vocabulary.bytes.size(); ++i) {
      if (vocabulary.bytes[i] != text || vocabulary.types[i] == TokenType::kByte) continue;
      const bool plain =
          vocabulary.types[i] == TokenType::kNormal || vocabulary.types[i] == TokenType::kUnused;
      if (!plain) return static_cast<int32_t>(i);
      ordinary = static_cast<int32_t>(i);
    }
    return ordinary;
  }

  DeclaredTokens Declared(const JsonFields& config) const {
    const nlohmann::json map = Json("special_tokens_map.json");
    const nlohmann::json added = Json("added_tokens.json");
    // New tokens get their ids in the file's order.
    const auto ordered = ParseOrderedPythonJson(Text("tokenizer_config.json").value_or("{}"),
                                                Name("tokenizer_config.json"));
    return ReadDeclaredTokens(config, ordered, {map, Name("special_tokens_map.json"), ""},
                              {added, Name("added_tokens.json"), ""});
  }

  void ReadJson(const std::string& text, const JsonFields& config) {
    const TokenizerJsonChanges changes{Declared(config), ReadMistralRegex(config)};
    parts_ =
        ReadTokenizerJson(ParseJson(text, Name("tokenizer.json")), Name("tokenizer.json"), changes);
    // As in transformers 5, "add_bos_token" is ignored if there is a tokenizer.json.
    SetRoles(changes.tokens);
  }

  void ReadModel(const std::string& bytes, const JsonFields& config) {
    const std::string kind = config.FindText("tokenizer_class").value_or("");
    const nlohmann::json json = Json("config.json");
    const JsonFields model(json, Name("config.json"), "");
    // `legacy` is transformers' flag for whether text after a special token also gets a space. In
    // its class for Llama, which is used if the file names it, the default is off.
    const bool is_llama =
        kind.starts_with("LlamaTokenizer") && model.FindText("model_type") == "llama";
    parts_ = ReadSentencePiece(bytes, Name("tokenizer.model"), {!config.Flag("legacy", !is_llama)});
    const DeclaredTokens declared = Declared(config);
    Vocabulary& vocabulary = parts_.vocabulary;
    const std::vector<TokenType> types = vocabulary.types;
    std::unordered_map<std::string, int32_t> ids;
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] != TokenType::kByte) ids.emplace(vocabulary.bytes[i], static_cast<int32_t>(i));
    }
    AddedTokenList added(types.size(), [&](const std::string& text) {
      const auto found = ids.find(text);
      return found == ids.end() ? std::nullopt : std::optional(found->second);
    });
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] == TokenType::kControl || types[i] == TokenType::kUnknown)
        added.Add({vocabulary.bytes[i]}, static_cast<int64_t>(i), "tokenizer.model");
    }
    declared.AddTo(&added);
    parts_.SetAddedTokens(added);
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] == TokenType::kUserDefined || types[i] == TokenType::kUnknown)
        vocabulary.types[i] = types[i];
    }
    vocabulary.bos = FindToken("<s>");
    vocabulary.eos = FindToken("</s>");
    SetRoles(declared);
    ReadFlags(config, kind);
  }

  // Reads the tokens around a text from the files that accompany a tokenizer.model.
  void ReadFlags(const JsonFields& config, const std::string& kind) {
    Vocabulary& vocabulary = parts_.vocabulary;
    const bool by_default = kind.empty() || kind.find("Llama") != std::string::npos ||
                            kind.find("Gemma") != std::string::npos;
    if (vocabulary.bos && config.Flag("add_bos_token", by_default)) {
      vocabulary.begins = {*vocabulary.bos};
      if (config.Find("add_bos_token") == nullptr) {
        vocabulary.notes.emplace_back(
            "tokenizer_config.json has no \"add_bos_token\": text begins with BOS, as in training; "
            "transformers 5 puts none");
      }
    }
    if (vocabulary.eos && config.Flag("add_eos_token", false)) {
      vocabulary.notes.push_back(
          "\"add_eos_token\" puts " +
          Quote(vocabulary.bytes[static_cast<size_t>(*vocabulary.eos)]) +
          " behind every text; here it is left out, as an answer follows the "
          "text");
    }
  }

  void SetRoles(const DeclaredTokens& declared) {
    const auto set = [&](const char* role, std::optional<int32_t>* id) {
      if (const AddedToken* token = declared.FindRole(role)) *id = FindToken(token->text);
    };
    set("bos_token", &parts_.vocabulary.bos);
    set("eos_token", &parts_.vocabulary.eos);
    set("unk_token", &parts_.vocabulary.unknown);
  }

  // As in transformers, only for folders written by an older (or unstated) version of transformers,
  // and for Mistral's models.
  MistralRegex ReadMistralRegex(const JsonFields& config) const {
    const nlohmann::json json = Json("config.json");
    if (json.empty()) return MistralRegex::kNotRead;
    const JsonFields model(json, Name("config.json"), "");
    const std::string version = model.FindText("transformers_version").value_or("");
    const bool is_older = version.empty() || std::atoi(version.c_str()) < 5 ||
                          version.starts_with("5.0.0.dev") || version.starts_with("5.0.0rc");
    const auto type = model.FindText("model_type");
    const bool is_mistral = !type || std::find(kMistralTypes.begin(), kMistralTypes.end(), *type) !=
                                         kMistralTypes.end();
    if (!is_older || !is_mistral) return MistralRegex::kNotRead;
    if (config.Find("fix_mistral_regex") == nullptr) return MistralRegex::kAbsent;
    return config.Flag("fix_mistral_regex", false) ? MistralRegex::kOn : MistralRegex::kOff;
  }

  void AddEnd(int32_t id) {
    std::vector<int32_t>& ends = parts_.vocabulary.ends;
    if (static_cast<size_t>(id) < parts_.vocabulary.bytes.size() &&
        std::find(ends.begin(), ends.end(), id) == ends.end())
      ends.push_back(id);
  }

  void ReadModelFiles() {
    Vocabulary& vocabulary = parts_.vocabulary;
    if (vocabulary.eos) AddEnd(*vocabulary.eos);
    for (const char* file : {"generation_config.json", "config.json"}) {
      const nlohmann::json json = Json(file);
      const JsonFields fields(json, Name(file), "");
      if (const nlohmann::json* ends = fields.Find("eos_token_id")) {
        if (ends->is_array()) {
          for (const nlohmann::json& id : *ends) AddEnd(fields.Id(id, "'eos_token_id'"));
        } else {
          AddEnd(fields.Id(*ends, "'eos_token_id'"));
        }
      }
    }
    if (!vocabulary.eos && !vocabulary.ends.empty()) vocabulary.eos = vocabulary.ends.front();
    // End-of-turn tokens that the files of older models do not name.
    for (const char* text :
         {"<|endoftext|>", "<|im_end|>", "</s>", "<|eot_id|>", "<end_of_turn>"}) {
      const auto id = FindToken(text);
      if (id && vocabulary.types[static_cast<size_t>(*id)] == TokenType::kControl) AddEnd(*id);
    }
  }

  void ReadTemplate(const JsonFields& config) {
    std::string& text = parts_.vocabulary.chat_template;
    if (const auto file = Text("chat_template.jinja")) {
      text = *file;
      return;
    }
    const nlohmann::json* found = config.Find("chat_template");
    if (found == nullptr) {
      // The location for models with images before chat_template.jinja existed.
      const nlohmann::json processor = Json("chat_template.json");
      const JsonFields fields(processor, Name("chat_template.json"), "");
      text = fields.FindText("chat_template").value_or(text);
      return;
    }
    if (!found->is_array()) {
      text = config.Text("chat_template");
      return;
    }
    for (const nlohmann::json& entry : *found) {
      const JsonFields named(entry, config.thing(), "chat_template");
      if (named.Text("name") == "default") text = named.Text("template");
    }
  }

  std::filesystem::path folder_;
  TokenizerParts parts_;
};

}  // namespace

TokenizerParts ReadTokenizerFolder(const std::filesystem::path& folder) {
  return TokenizerFolderReader(folder).Read();
}

}  // namespace midscope
