// SPDX-License-Identifier: MIT
// Token ids of documents for tuning: texts, and conversations of chat data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/json_fields.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

struct TuningDocument {
  std::vector<int32_t> ids;      // token ids, [token]
  std::vector<uint8_t> in_loss;  // [token]: TuningSample::in_loss; empty: all
};

struct ConversationFormat {
  std::string template_text = {};  // "": the model's own template
  // Whether only the assistant's turns, including the tokens that end the turns, are part of the
  // loss, as in CREAM's paper. CREAM's public code counts all tokens.
  bool mask_user = true;
};

// Reads the conversation in a JSON line, member `conversations` ("from": human, gpt or system;
// "value"; as in ShareGPT) or `messages` ("role", "content"), and formats it with the chat
// template. As in FastChat, turns of the assistant before the first one of the user are left out.
// Throws Error (failure) for other fields, a conversation without a turn of the user, and a
// template whose text changes when turns are added.
TuningDocument ConversationDocument(const JsonFields& line, const ConversationFormat& format,
                                    const Tokenizer& tokenizer);

// How the texts of files become documents with a minimum number of tokens.
enum class DocumentPacking {
  kSelect,  // documents with too few tokens are left out: CREAM's base model
  kJoin,    // consecutive documents are joined until they have enough: CREAM's chat model
};

struct DocumentRequest {
  // Paths of .txt files (one document each), .jsonl files (one document per line, in `field`), and
  // folders of such files.
  std::vector<std::string> files;
  std::string field = "text";
  DocumentPacking packing = DocumentPacking::kSelect;
  // If set, the files are .jsonl whose lines are conversations instead of text in `field`.
  std::optional<ConversationFormat> chat = {};
  int64_t least_tokens = 1;
  int64_t documents = 1;  // reading stops after this number
};

struct TuningDocuments {
  std::vector<TuningDocument> documents;
  int64_t left_out = 0;  // number of documents with too few tokens
};

// Reads the documents. Each one begins with the tokenizer's begin_ids() if the model's files
// require them; joined documents are separated by the end token if there is one. Conversations have
// only the tokens that the chat template writes. Throws Error (failure) if a file cannot be read or
// holds no text, or if no document has enough tokens, and Cancelled.
TuningDocuments ReadTuningDocuments(const DocumentRequest& request, const Tokenizer& tokenizer,
                                    const JobContext& context);

// Returns a hash of the contents of `files` (DocumentRequest::files). Throws Error (failure).
std::string DocumentFilesHash(const std::vector<std::string>& files);

}  // namespace midscope
