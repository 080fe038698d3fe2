// SPDX-License-Identifier: MIT
#include "probes/tuning/tuning_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/hashes.h"
#include "core/base/spans.h"
#include "core/chat/chat_template.h"
#include "data/formats/json_lines.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/haystack.h"
#include "data/tasks/text_documents.h"

namespace midscope {
namespace {

constexpr const char* kAssistant = "assistant";

std::string RoleOf(const JsonFields& turn, const std::string& name) {
  static const std::map<std::string_view, const char*> roles = {
      {"human", "user"},       {"user", "user"},         {"gpt", kAssistant},
      {"chatgpt", kAssistant}, {kAssistant, kAssistant}, {"system", "system"},
  };
  const auto found = roles.find(name);
  if (found == roles.end()) turn.Fail("has a turn of the unknown role " + Quote(name));
  return found->second;
}

std::vector<ChatMessage> MessagesOf(const JsonFields& line) {
  const bool is_share_gpt = line.Find("conversations") != nullptr;
  const nlohmann::json& turns = line.Need(is_share_gpt ? "conversations" : "messages");
  if (!turns.is_array()) line.Fail("must have a list of turns");
  std::vector<ChatMessage> messages;
  bool has_user = false;
  for (const nlohmann::json& item : turns) {
    const JsonFields turn(item, line.thing(), "turn");
    const std::string role = RoleOf(turn, turn.Text(is_share_gpt ? "from" : "role"));
    has_user = has_user || role == "user";
    if (role == kAssistant && !has_user) continue;
    messages.push_back({role, turn.Text(is_share_gpt ? "value" : "content")});
  }
  if (!has_user) line.Fail("must have a turn of the user");
  return messages;
}

std::string Rendered(const std::vector<ChatMessage>& messages, bool generation,
                     const ConversationFormat& format, const Tokenizer& tokenizer) {
  return format.template_text.empty()
             ? RenderChat(tokenizer, messages, generation)
             : RenderChat(format.template_text, messages, generation, ChatTokensOf(tokenizer));
}

// Returns the byte ranges [begin, end) of the assistant's turns in `text`, the conversation.
std::vector<std::pair<size_t, size_t>> AssistantTurns(const std::vector<ChatMessage>& messages,
                                                      const std::string& text,
                                                      const JsonFields& line,
                                                      const ConversationFormat& format,
                                                      const Tokenizer& tokenizer) {
  std::vector<std::pair<size_t, size_t>> turns;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != kAssistant) continue;
    const std::vector<ChatMessage> before(messages.begin(),
                                          messages.begin() + static_cast<ptrdiff_t>(i));
    std::vector<ChatMessage> with = before;
    with.push_back(messages[i]);
    const std::string begin = Rendered(before, true, format, tokenizer);
    const std::string end = Rendered(with, false, format, tokenizer);
    if (!text.starts_with(begin) || !text.starts_with(end))
      line.Fail("cannot be split into turns: the chat template changes earlier text");
    turns.emplace_back(begin.size(), end.size());
  }
  return turns;
}

}  // namespace

TuningDocument ConversationDocument(const JsonFields& line, const ConversationFormat& format,
                                    const Tokenizer& tokenizer) {
  const std::vector<ChatMessage> messages = MessagesOf(line);
  const std::string text = Rendered(messages, false, format, tokenizer);
  TuningDocument document;
  if (tokenizer.add_bos() && WrittenBegin(tokenizer, text).empty())
    document.ids = tokenizer.begin_ids();
  document.in_loss.assign(document.ids.size(), 0);
  const auto turns = format.mask_user ? AssistantTurns(messages, text, line, format, tokenizer)
                                      : std::vector<std::pair<size_t, size_t>>{{0, text.size()}};
  for (const Token& token : tokenizer.Encode(text)) {
    const auto begin = static_cast<size_t>(token.byte_begin);
    document.ids.push_back(token.id);
    document.in_loss.push_back(
        std::any_of(turns.begin(), turns.end(), [&](const std::pair<size_t, size_t>& turn) {
          return begin >= turn.first && begin < turn.second;
        }));
  }
  return document;
}

namespace {

// Collects documents with enough tokens until their number is reached.
class DocumentReader {
 public:
  DocumentReader(const DocumentRequest& request, const Tokenizer& tokenizer,
                 const JobContext& context)
      : request_(request), tokenizer_(tokenizer), context_(context) {
    if (!request.chat && tokenizer.add_bos()) begin_ = tokenizer.begin_ids();
    Begin();
  }

  bool AddText(const std::string& text) {
    return Add({tokenizer_.EncodeIds(text), {}}, tokenizer_.eos_id());
  }
  bool AddConversation(const JsonFields& line) {
    return Add(ConversationDocument(line, *request_.chat, tokenizer_), std::nullopt);
  }

  TuningDocuments Finish() {
    if (documents_.documents.empty()) {
      const bool joins = request_.packing == DocumentPacking::kJoin;
      throw Failure(
          "data",
          fmt::format("a sample needs {} tokens; {} {}", request_.least_tokens,
                      joins ? "all documents together have" : "the longest document has", longest_),
          joins ? "Give more data, or fewer --tokens"
                : "Give fewer --tokens, or --packing join to join documents");
    }
    return std::move(documents_);
  }

 private:
  void Begin() { waiting_ = {begin_, std::vector<uint8_t>(request_.chat ? begin_.size() : 0)}; }

  // Adds a document. `separator`: token between joined documents. Returns whether more are needed.
  bool Add(const TuningDocument& added, std::optional<int32_t> separator) {
    context_.ThrowIfCancelled();
    const bool joins = request_.packing == DocumentPacking::kJoin;
    if (joins && waiting_.ids.size() > begin_.size() && separator)
      waiting_.ids.push_back(*separator);
    waiting_.ids.insert(waiting_.ids.end(), added.ids.begin(), added.ids.end());
    waiting_.in_loss.insert(waiting_.in_loss.end(), added.in_loss.begin(), added.in_loss.end());
    const int64_t tokens = std::ssize(waiting_.ids);
    const bool is_enough = tokens >= request_.least_tokens;
    longest_ = std::max(longest_, tokens);
    std::vector<TuningDocument>& documents = documents_.documents;
    if (is_enough) {
      documents.push_back(std::move(waiting_));
      context_.Report({"read documents", std::ssize(documents), request_.documents, "documents"});
    } else if (!joins) {
      ++documents_.left_out;
    }
    if (is_enough || !joins) Begin();
    return std::ssize(documents) < request_.documents;
  }

  const DocumentRequest& request_;
  const Tokenizer& tokenizer_;
  const JobContext& context_;
  std::vector<int32_t> begin_;
  TuningDocument waiting_;  // the joined document so far
  int64_t longest_ = 0;
  TuningDocuments documents_;
};

std::vector<std::string> DocumentFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    const std::vector<std::string> found = DataFiles(path, {".txt", ".jsonl", ".jsonl.gz"});
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace

TuningDocuments ReadTuningDocuments(const DocumentRequest& request, const Tokenizer& tokenizer,
                                    const JobContext& context) {
  DocumentReader reader(request, tokenizer, context);
  bool is_needed = true;
  for (const std::string& file : DocumentFiles(request.files)) {
    if (!is_needed) break;
    if (request.chat) {
      ForEachJsonLine(file, [&](const JsonFields& line) {
        if (is_needed) is_needed = reader.AddConversation(line);
      });
    } else if (IsJsonLinesFile(file)) {
      ForEachDocument(file, request.field, [&](const std::string&, const std::string& text) {
        return is_needed = reader.AddText(text);
      });
    } else {
      is_needed = reader.AddText(ReadHaystack(file));
    }
  }
  return reader.Finish();
}

std::string DocumentFilesHash(const std::vector<std::string>& files) {
  std::string hashes;
  for (const std::string& file : DocumentFiles(files)) hashes += HashFile(file) + "\n";
  return HashBytes(std::as_bytes(std::span(hashes)));
}

}  // namespace midscope
