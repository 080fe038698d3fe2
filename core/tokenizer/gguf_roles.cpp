// SPDX-License-Identifier: MIT
#include "core/tokenizer/gguf_roles.h"

#include <algorithm>
#include <array>

namespace midscope {
namespace {

// llama.cpp's special_eog_ids.
constexpr std::array<std::string_view, 22> kEnds = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<\xef\xbd\x9c"
    "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
    "[e~["};

// Tokens for filling in text (FIM), which the metadata may or may not name.
struct Fill {
  const char* role;
  bool ends;  // whether it ends a generation
  std::array<std::string_view, 8> texts;
};
constexpr std::array<Fill, 6> kFills = {{
    {"fim_pre",
     false,
     {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",
      "<\xef\xbd\x9c"
      "fim\xe2\x96\x81"
      "begin\xef\xbd\x9c>",
      "<PRE>", "\xe2\x96\x81<PRE>", "<|code_prefix|>", "<|prefix|>"}},
    {"fim_suf",
     false,
     {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",
      "<\xef\xbd\x9c"
      "fim\xe2\x96\x81hole\xef\xbd\x9c>",
      "<SUF>", "\xe2\x96\x81<SUF>", "<|code_suffix|>", "<|suffix|>"}},
    {"fim_mid",
     false,
     {"<|fim_middle|>", "<fim-middle>", "<fim_middle>",
      "<\xef\xbd\x9c"
      "fim\xe2\x96\x81"
      "end\xef\xbd\x9c>",
      "<MID>", "\xe2\x96\x81<MID>", "<|code_middle|>", "<|middle|>"}},
    {"fim_pad", true, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {"fim_rep", true, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {"fim_sep", true, {"<|file_sep|>"}},
}};

// The tokens of gpt-oss' channels.
constexpr std::array<std::string_view, 4> kChannels = {"<|channel|>", "<|message|>", "<|start|>",
                                                       "<|constrain|>"};

class RoleFinder {
 public:
  RoleFinder(const std::unordered_map<std::string_view, int32_t>& ids,
             std::vector<TokenType>* types)
      : ids_(ids), types_(*types) {}

  std::optional<int32_t> Find(std::string_view text) const {
    const auto found = ids_.find(text);
    return text.empty() || found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  void SetType(int32_t id, TokenType type) { types_[static_cast<size_t>(id)] = type; }
  void AddEnd(int32_t id) {
    if (std::find(ends_.begin(), ends_.end(), id) == ends_.end()) ends_.push_back(id);
  }
  bool Ends(std::string_view text) const {
    const auto id = Find(text);
    return id && std::find(ends_.begin(), ends_.end(), *id) != ends_.end();
  }
  void RemoveEnd(std::string_view text, TokenType type) {
    const int32_t id = *Find(text);
    ends_.erase(std::find(ends_.begin(), ends_.end(), id));
    SetType(id, type);
  }
  std::vector<int32_t> Take() { return std::move(ends_); }

 private:
  const std::unordered_map<std::string_view, int32_t>& ids_;
  std::vector<TokenType>& types_;
  std::vector<int32_t> ends_;
};

}  // namespace

std::vector<int32_t> FindGgufEnds(
    const std::unordered_map<std::string_view, int32_t>& ids,
    const std::function<std::optional<int32_t>(const char* role)>& named,
    std::vector<TokenType>* types) {
  RoleFinder finder(ids, types);
  for (const Fill& fill : kFills) {
    auto id = named(fill.role);
    for (size_t i = 0; i < fill.texts.size() && !id; ++i) {
      id = finder.Find(fill.texts[i]);
      if (id) finder.SetType(*id, TokenType::kControl);
    }
    if (id && fill.ends) finder.AddEnd(*id);
  }
  for (const std::string_view text : kEnds) {
    const auto id = finder.Find(text);
    if (!id) continue;
    finder.SetType(*id, TokenType::kControl);
    finder.AddEnd(*id);
  }
  for (const std::string_view text : kChannels) {
    if (const auto id = finder.Find(text)) finder.SetType(*id, TokenType::kUserDefined);
  }
  // In these formats, "<|end|>" separates the channels of one answer.
  const bool calls = finder.Ends("<|call|>") || finder.Ends("<|calls|>");
  if (calls && finder.Ends("<|end|>") && (finder.Ends("<|return|>") || finder.Ends("<|flush|>")))
    finder.RemoveEnd("<|end|>", TokenType::kUserDefined);
  // In Gemma 4 and PLaMo it is ordinary text.
  const bool as_text = finder.Ends("<|tool_response>") || finder.Ends("<|plamo:eos|>");
  if (as_text && finder.Ends("</s>")) finder.RemoveEnd("</s>", TokenType::kNormal);
  return finder.Take();
}

}  // namespace midscope
