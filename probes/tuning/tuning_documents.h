// SPDX-License-Identifier: MIT
// Token ids of documents for tuning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/tuning/conversations.h"

namespace midscope {

// How files become documents of enough tokens.
enum class DocumentPacking {
  kSelect,  // documents with too few tokens are left out: CREAM's base model
  kJoin,    // consecutive documents are joined until they have enough: CREAM's chat model
};

struct DocumentRequest {
  // Files .txt (one document), files .jsonl (one per line, in `field`), and folders of these.
  std::vector<std::string> files;
  std::string field = "text";
  DocumentPacking packing = DocumentPacking::kSelect;
  // If set, files are .jsonl whose lines are conversations, not text in `field`.
  std::optional<ConversationFormat> chat = {};
  int64_t least_tokens = 1;
  int64_t documents = 1;  // reading stops after so many
};

struct TuningDocuments {
  std::vector<TuningDocument> documents;
  int64_t left_out = 0;  // documents that have too few tokens
};

// Each document begins with the tokenizer's begin_ids() if the model's files require them; joined
// documents are separated by the end token if there is one. Conversations have only the tokens of
// their template. Throws Error (failure) if a file cannot
// be read or holds no text, or if no document has enough tokens, and Cancelled.
TuningDocuments ReadTuningDocuments(const DocumentRequest& request, const Tokenizer& tokenizer,
                                    const JobContext& context);

// Returns the hash of the contents of the files that such a request names. Throws Error (failure).
std::string DocumentFilesHash(const std::vector<std::string>& files);

}  // namespace midscope
