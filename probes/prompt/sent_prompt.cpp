// SPDX-License-Identifier: MIT
#include "probes/prompt/sent_prompt.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/hashes.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

// Number of bytes shown at the beginning and at the end of a long text.
constexpr size_t kShownAtEachEnd = 70;

// Returns the text of tokens [begin, end), with control tokens in double brackets.
std::string MarkedText(const Prompt& prompt, const Tokenizer& tokenizer, size_t begin, size_t end) {
  std::string text;
  std::vector<int32_t> run;
  const auto flush = [&] {
    text += DisplayText(tokenizer.Decode(run));
    run.clear();
  };
  for (size_t i = begin; i < end; ++i) {
    const int32_t id = prompt.ids[i];
    if (!tokenizer.IsControl(id)) {
      run.push_back(id);
      continue;
    }
    flush();
    text += "[[" + DisplayText(tokenizer.TokenText(id)) + "]]";
  }
  flush();
  return text;
}

// Returns the whole text or, if it is long, the fewest tokens at each end that reach the shown
// length.
std::string ShownText(const Prompt& prompt, const Tokenizer& tokenizer) {
  const size_t count = prompt.ids.size();
  size_t head = 0;
  for (size_t bytes = 0; head < count && bytes < kShownAtEachEnd; ++head)
    bytes += tokenizer.TokenText(prompt.ids[head]).size();
  size_t tail = count;
  for (size_t bytes = 0; tail > head && bytes < kShownAtEachEnd; --tail)
    bytes += tokenizer.TokenText(prompt.ids[tail - 1]).size();
  if (tail == head) return MarkedText(prompt, tokenizer, 0, count);
  return MarkedText(prompt, tokenizer, 0, head) + " ... " +
         MarkedText(prompt, tokenizer, tail, count);
}

// Describes the BOS at the prompt's start. `puts`: number of tokens that --bos on puts first.
std::string BosText(int64_t tokens, int64_t puts, bool requires_bos) {
  if (tokens == 0)
    return requires_bos ? "no begin-of-text, though the tokenizer adds one by default"
                        : "no begin-of-text";
  if (puts <= 1)
    return tokens == 1 ? "begin-of-text first" : fmt::format("begin-of-text {} times", tokens);
  if (tokens == puts) return fmt::format("{} begin-of-text tokens first", tokens);
  return fmt::format("{} begin-of-text tokens first, where the tokenizer has {}", tokens, puts);
}

std::string Sha256(const std::string& text) {
  ContentHash hash(ContentHashKind::kSha256, static_cast<int64_t>(text.size()));
  hash.Add(std::as_bytes(std::span(text)));
  return hash.Finish();
}

}  // namespace

int64_t BeginOfTextTokens(const Prompt& prompt, const Tokenizer& tokenizer) {
  const std::vector<int32_t> begins = tokenizer.begin_ids();
  const auto first_other = std::find_if(prompt.ids.begin(), prompt.ids.end(), [&](int32_t id) {
    return id != tokenizer.bos_id() && std::find(begins.begin(), begins.end(), id) == begins.end();
  });
  return first_other - prompt.ids.begin();
}

std::string SentLine(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format) {
  std::string line = "prompt: " + CountText(std::ssize(prompt.ids), "token") + ", " +
                     BosText(BeginOfTextTokens(prompt, tokenizer),
                             std::ssize(tokenizer.begin_ids()), tokenizer.add_bos());
  if (format.is_chat()) {
    line += ", chat template " +
            (format.chat_template == "model" ? "of the model" : Quote(format.chat_template));
  }
  return line + ": " + ShownText(prompt, tokenizer);
}

void LogPromptNotes(const Prompt& prompt, const PromptFormat& format, const JobContext& context) {
  const std::string& text = prompt.text;
  if (text.starts_with(kByteOrderMark)) {
    context.Log("note: the prompt begins with a byte-order mark, which is a part of its text");
  }
  if (text.find("\r\n") != std::string::npos) {
    context.Log(
        "note: lines of the prompt end in CR LF, as Windows writes them; the CR is sent too");
  }
  if (format.is_chat()) return;  // chat templates write the end of the text themselves
  if (text.ends_with('\n')) {
    context.Log(
        "note: the prompt ends in a line end, as editors write one; the continuation begins on "
        "a new line");
  }
  const std::string& answer = prompt.answer;
  if (text.empty() || answer.empty()) return;
  const bool word_follows = std::isalnum(static_cast<unsigned char>(answer.front())) != 0;
  const auto last = static_cast<unsigned char>(text.back());
  const bool opens = std::string_view("([{<\"'`/-_$#@").find(text.back()) != std::string_view::npos;
  if (word_follows && last < 0x80 && std::isspace(last) == 0 && !opens) {
    context.Log("note: the answer follows the prompt without a space: " +
                Quote(text.substr(text.size() - std::min<size_t>(text.size(), 12)) + answer) +
                ". Begin it with one if it is a separate word");
  }
  if (answer.front() == ' ' && last == ' ') {
    context.Log("note: two spaces are between the prompt and the answer");
  }
}

void NoteFormat(const PromptFormat& format, Record& record) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  AddPromptFormat(format, &json);
  json.erase("chat_template_text");  // it may be too long for an attribute
  if (!format.template_text.empty())
    record.attributes["chat_template_hash"] = Sha256(format.template_text);
  for (const auto& [key, value] : json.items()) {
    record.attributes[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  record.attributes["bos"] = BosRuleName(format.bos);
  if (!format.is_chat()) record.attributes["chat_template"] = std::string("none");
}

void NoteFormat(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format,
                Record& record) {
  NoteFormat(format, record);
  record.attributes["begin_of_text_tokens"] = BeginOfTextTokens(prompt, tokenizer);
}

}  // namespace midscope
