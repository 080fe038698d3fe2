// SPDX-License-Identifier: MIT
// The tokenizer of a Hugging Face folder: tokenizer.json, else tokenizer.model; what these leave
// open is in tokenizer_config.json, special_tokens_map.json, generation_config.json,
// config.json.
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/tokenizer/tokenizer.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {
namespace {

// Larger than any known tokenizer: larger files are not read into memory.
constexpr uintmax_t kMaxFile = uintmax_t{512} << 20;
constexpr size_t kSpareIds = 10'000;

class TokenizerFolderReader {
 public:
  explicit TokenizerFolderReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  TokenizerParts Read() {
    const nlohmann::json config = Json("tokenizer_config.json");
    const JsonFields fields(config, Name("tokenizer_config.json"), "");
    if (const auto json = Text("tokenizer.json")) {
      parts_ = ReadTokenizerJson(*json, Name("tokenizer.json"));
      LimitIds();
      AddDeclaredTokens(fields);
      bos_is_decided_ = true;
    } else if (const auto model = Text("tokenizer.model")) {
      // `legacy` is transformers' flag for whether text after a special token gets a space, too.
      parts_ = ReadSentencePiece(*model, Name("tokenizer.model"), {!fields.Flag("legacy", true)});
      LimitIds();
      AddDeclaredTokens(fields);
      AddListedTokens();
      parts_.vocabulary.bos = FindToken("<s>");
      parts_.vocabulary.eos = FindToken("</s>");
      // The classes in transformers for these models put BOS first by default.
      const std::string kind = fields.FindText("tokenizer_class").value_or("LlamaTokenizer");
      parts_.vocabulary.add_bos =
          kind.find("Llama") != std::string::npos || kind.find("Gemma") != std::string::npos;
    } else {
      throw Failure(folder_.string(), "it has neither tokenizer.json nor tokenizer.model",
                    "Copy one of them from where the model comes from");
    }
    ReadSpecialTokens(fields);
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
    if (stream.bad() || !stream.is_open()) throw Failure(path.string(), "it can't be read");
    return text;
  }

  // An empty object where there is no such file.
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

  void Declare(AddedToken token, const JsonFields& fields) {
    Vocabulary& vocabulary = parts_.vocabulary;
    const auto index = static_cast<size_t>(token.id);
    if (index >= most_ids_)
      fields.Fail(fmt::format(
          "has the id {}, beyond the limit of {}, which is the size of the vocabulary ({}) and {}",
          token.id, most_ids_, vocabulary_, kSpareIds));
    if (index >= vocabulary.bytes.size()) {
      vocabulary.bytes.resize(index + 1);
      vocabulary.types.resize(index + 1, TokenType::kUnused);
    }
    const TokenType type = vocabulary.types[index];
    // The tokenizer's own file has priority for the tokens that it has.
    if (type == TokenType::kControl || type == TokenType::kUserDefined ||
        type == TokenType::kUnknown)
      return;
    if (!vocabulary.bytes[index].empty() && vocabulary.bytes[index] != token.text)
      fields.Fail(fmt::format("calls token {} {}, and the vocabulary {}", token.id,
                              Quote(token.text), Quote(vocabulary.bytes[index])));
    vocabulary.bytes[index] = token.text;
    vocabulary.types[index] = token.special ? TokenType::kControl : TokenType::kUserDefined;
    AddedTokens& list = token.normalized ? parts_.added_normalized : parts_.added;
    if (token.normalized) token.text = parts_.normalizer.Apply(token.text);
    list.Add(std::move(token));
  }

  // "added_tokens_decoder": {"32000": {"content": ..., "special": ...}}
  void AddDeclaredTokens(const JsonFields& config) {
    if (config.Find("added_tokens_decoder") == nullptr) return;
    const nlohmann::json& tokens = config.Need("added_tokens_decoder");
    if (!tokens.is_object()) config.Fail("has an 'added_tokens_decoder' that is no object");
    for (const auto& [number, entry] : tokens.items()) {
      const JsonFields fields(entry, config.thing(), "added token " + Quote(number));
      AddedToken token;
      const char* end = number.data() + number.size();
      if (std::from_chars(number.data(), end, token.id).ptr != end || number.empty() ||
          token.id < 0)
        fields.Fail("has no token id");
      token.text = fields.Text("content");
      token.special = fields.Flag("special", false);
      token.normalized = fields.Flag("normalized", !token.special);
      token.single_word = fields.Flag("single_word", false);
      token.left_strip = fields.Flag("lstrip", false);
      token.right_strip = fields.Flag("rstrip", false);
      Declare(std::move(token), fields);
    }
  }

  // added_tokens.json: {"<pad>": 32000}
  void AddListedTokens() {
    const nlohmann::json tokens = Json("added_tokens.json");
    const JsonFields fields(tokens, Name("added_tokens.json"), "");
    for (const auto& [text, number] : tokens.items())
      Declare({text, fields.Id(number, Quote(text))}, fields);
  }

  // A token of a role, given as its text or as an object that holds it.
  std::optional<int32_t> RoleToken(const JsonFields& fields, const std::string& role) const {
    const nlohmann::json* found = fields.Find(role);
    if (found == nullptr) return std::nullopt;
    const std::string text =
        found->is_object() ? fields.Inside(role).Text("content") : fields.Text(role);
    if (text.empty()) return std::nullopt;
    const auto id = FindToken(text);
    if (!id) fields.Fail("names " + Quote(text) + " as " + role + ", which is no token");
    return id;
  }

  void ReadSpecialTokens(const JsonFields& config) {
    const nlohmann::json map = Json("special_tokens_map.json");
    const JsonFields others(map, Name("special_tokens_map.json"), "");
    Vocabulary& vocabulary = parts_.vocabulary;
    const auto read = [&](const std::string& role, std::optional<int32_t>* id) {
      auto found = RoleToken(config, role);
      if (!found) found = RoleToken(others, role);
      if (found) *id = found;
    };
    read("bos_token", &vocabulary.bos);
    read("eos_token", &vocabulary.eos);
    read("unk_token", &vocabulary.unknown);
    // As in transformers 5, the post-processor of tokenizer.json overrides the flag.
    const bool add_bos =
        bos_is_decided_ ? vocabulary.add_bos : config.Flag("add_bos_token", vocabulary.add_bos);
    vocabulary.add_bos = vocabulary.bos.has_value() && add_bos;
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
  }

  void ReadTemplate(const JsonFields& config) {
    std::string& text = parts_.vocabulary.chat_template;
    if (const auto file = Text("chat_template.jinja")) {
      text = *file;
      return;
    }
    const nlohmann::json* found = config.Find("chat_template");
    if (found == nullptr) {
      // Where models with pictures had it before chat_template.jinja.
      const nlohmann::json processor = Json("chat_template.json");
      const JsonFields fields(processor, Name("chat_template.json"), "");
      text = fields.FindText("chat_template").value_or("");
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

  // Ids that are declared beside the tokenizer's own file may have gaps, but not so many that they
  // would fill the memory, and not more with each of them.
  void LimitIds() {
    vocabulary_ = parts_.vocabulary.bytes.size();
    const nlohmann::json json = Json("config.json");
    const JsonFields config(json, Name("config.json"), "");
    const nlohmann::json* rows = config.Find("vocab_size");
    // Larger numbers than any model's are not used.
    constexpr uint64_t kMaxRows = uint64_t{1} << 22;
    if (rows != nullptr && rows->is_number_unsigned() && rows->get<uint64_t>() <= kMaxRows)
      vocabulary_ = std::max(vocabulary_, static_cast<size_t>(rows->get<uint64_t>()));
    most_ids_ = vocabulary_ + kSpareIds;
  }

  std::filesystem::path folder_;
  TokenizerParts parts_;
  bool bos_is_decided_ = false;  // tokenizer.json decides whether BOS is added
  size_t vocabulary_ = 0;        // tokens of the tokenizer's own file, or rows of the model
  size_t most_ids_ = 0;
};

}  // namespace

TokenizerParts ReadTokenizerFolder(const std::filesystem::path& folder) {
  return TokenizerFolderReader(folder).Read();
}

}  // namespace midscope
