// SPDX-License-Identifier: MIT
// tekken.json (mistralai/mistral-common, tokens/tokenizers/tekken.py): tokens by rank in place of
// merges, and special tokens that have the first ids. Ids and begin of text are those of
// mistral-common, which transformers uses to read such a folder.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/tokenizer/byte_pair_encoding.h"
#include "core/tokenizer/tokenizer_json_steps.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {
namespace {

// Special tokens, by id, for files that do not list them.
constexpr std::array<const char*, 20> kSpecial = {"<unk>",
                                                  "<s>",
                                                  "</s>",
                                                  "[INST]",
                                                  "[/INST]",
                                                  "[AVAILABLE_TOOLS]",
                                                  "[/AVAILABLE_TOOLS]",
                                                  "[TOOL_RESULTS]",
                                                  "[/TOOL_RESULTS]",
                                                  "[TOOL_CALLS]",
                                                  "[IMG]",
                                                  "<pad>",
                                                  "[IMG_BREAK]",
                                                  "[IMG_END]",
                                                  "[PREFIX]",
                                                  "[MIDDLE]",
                                                  "[SUFFIX]",
                                                  "[SYSTEM_PROMPT]",
                                                  "[/SYSTEM_PROMPT]",
                                                  "[TOOL_CONTENT]"};

// Text chats, as mistral-common encodes them.
constexpr const char* kChatV3 =
    "{% set system = messages[0]['content'] if messages[0]['role'] == 'system' else '' %}"
    "{{ bos_token }}{% for message in (messages[1:] if system else messages) %}"
    "{% if message['role'] == 'user' %}"
    "{{ '[INST]' + (system + '\\n\\n' if system and loop.last else '') + message['content'] + "
    "'[/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}"
    "{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}"
    "{% endfor %}";
constexpr const char* kChatV7 =
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ '[SYSTEM_PROMPT]' + message['content'] + '[/SYSTEM_PROMPT]' }}"
    "{% elif message['role'] == 'user' %}{{ '[INST]' + message['content'] + '[/INST]' }}"
    "{% else %}{{ message['content'] + eos_token }}{% endif %}{% endfor %}";

class TekkenReader {
 public:
  explicit TekkenReader(const JsonFields& fields)
      : fields_(fields), config_(fields.Inside("config")) {}

  TokenizerParts Read() {
    ReadSpecial();
    ReadRanks();
    MakeModel();
    parts_.pre_tokenizer.AddSplit(Pattern(config_.Text("pattern")), SplitBehavior::kIsolated);
    parts_.exact = true;
    Vocabulary& vocabulary = parts_.vocabulary;
    vocabulary.pre_tokenizer = "tekken.json";
    vocabulary.bos = FindSpecial("<s>");
    vocabulary.eos = FindSpecial("</s>");
    vocabulary.unknown = FindSpecial("<unk>");
    if (vocabulary.bos) vocabulary.begins = {*vocabulary.bos};
    // Versions are "v3", "v7", "v11", "v13"; later versions have model settings in their chats.
    const std::string version = config_.FindText("version").value_or("");
    const int number = version.starts_with('v') ? std::atoi(version.c_str() + 1) : 0;
    if (number >= 3 && number <= 13) vocabulary.chat_template = number < 7 ? kChatV3 : kChatV7;
    return std::move(parts_);
  }

 private:
  void ReadSpecial() {
    std::vector<std::string> texts;
    if (fields_.Find("special_tokens") != nullptr) {
      for (const nlohmann::json& entry : fields_.Array("special_tokens")) {
        const JsonFields token(entry, fields_.thing(), "special token");
        if (token.FindId("rank") != static_cast<int32_t>(texts.size()))
          token.Fail("is not listed in the order of its rank");
        texts.push_back(token.Text("token_str"));
      }
    } else {
      texts.assign(kSpecial.begin(), kSpecial.end());
    }
    const auto listed = static_cast<int64_t>(texts.size());
    const int64_t count = config_.Whole("default_num_special_tokens", listed, 0);
    if (count < listed || count > listed + 100'000)
      config_.Fail(fmt::format("states {} special tokens for a list of {}", count, listed));
    for (int64_t i = listed; i < count; ++i) texts.push_back(fmt::format("<SPECIAL_{}>", i));
    std::vector<AddedToken> added;
    for (const std::string& text : texts) {
      added.push_back({text, static_cast<int32_t>(added.size())});
      parts_.vocabulary.bytes.push_back(text);
    }
    parts_.vocabulary.types.assign(texts.size(), TokenType::kControl);
    parts_.added = AddedTokens(added);
    first_ = static_cast<int32_t>(texts.size());
  }

  // A file may list more tokens than the model has.
  void ReadRanks() {
    const nlohmann::json& entries = fields_.Array("vocab");
    const auto all = static_cast<int64_t>(entries.size()) + first_;
    const int64_t size = config_.Whole("default_vocab_size", all, 0);
    if (size < first_ + 256 || size > all)
      config_.Fail(fmt::format("states {} tokens where {} are listed", size, all));
    for (int32_t rank = 0; rank < size - first_; ++rank) {
      const JsonFields token(entries[static_cast<size_t>(rank)], fields_.thing(),
                             fmt::format("token {}", rank));
      std::string bytes = DecodeBase64(token.Text("token_bytes"), token);
      const bool is_byte = bytes.size() == 1 && static_cast<unsigned char>(bytes[0]) == rank;
      if (token.FindId("rank") != rank || bytes.empty() || (rank < 256 && !is_byte))
        token.Fail("does not have its rank and its bytes");
      if (!ids_.emplace(bytes, first_ + rank).second) token.Fail("has the bytes of another one");
      parts_.vocabulary.bytes.push_back(std::move(bytes));
      parts_.vocabulary.types.push_back(TokenType::kNormal);
    }
  }

  // tiktoken joins the neighbours whose joined token has the best rank; the merges are all pairs
  // that form a token.
  void MakeModel() {
    // A file with long tokens would take hours.
    constexpr size_t kMostWork = size_t{1} << 31;
    size_t work = 0;
    BytePairEncoding::Alphabet alphabet;
    std::vector<BytePairEncoding::Merge> merges;
    for (const auto& [bytes, id] : ids_) {
      if (bytes.size() == 1) alphabet.bytes.at(static_cast<unsigned char>(bytes[0])) = id;
      work += bytes.size() * bytes.size();
      if (work > kMostWork) fields_.Fail("has too many long tokens");
      for (size_t cut = 1; cut < bytes.size(); ++cut) {
        const auto left = ids_.find(bytes.substr(0, cut));
        const auto right = ids_.find(bytes.substr(cut));
        if (left != ids_.end() && right != ids_.end())
          merges.push_back({left->second, right->second, id, id});
      }
    }
    parts_.model = std::make_unique<BytePairEncoding>(std::move(alphabet), merges, std::move(ids_));
  }

  std::optional<int32_t> FindSpecial(const std::string& text) const {
    for (int32_t id = 0; id < first_; ++id) {
      if (parts_.vocabulary.bytes[static_cast<size_t>(id)] == text) return id;
    }
    return std::nullopt;
  }

  const JsonFields& fields_;
  JsonFields config_;
  TokenizerParts parts_;
  int32_t first_ = 0;  // id of the token with rank 0
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace

TokenizerParts ReadTekken(std::string_view text, const std::string& thing) {
  const nlohmann::json json = ParseJson(text, thing);
  const JsonFields fields(json, thing, "");
  return TekkenReader(fields).Read();
}

}  // namespace midscope
