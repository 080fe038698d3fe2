// SPDX-License-Identifier: MIT
// Conversations of chat data as documents for tuning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json_fields.h"
#include "core/tokenizer/tokenizer.h"

namespace midscope {

struct TuningDocument {
  std::vector<int32_t> ids;      // [token]
  std::vector<uint8_t> in_loss;  // [token]: TuningSample::in_loss; empty: all
};

struct ConversationFormat {
  std::string template_text = {};  // "": the model's own
  // Whether only the assistant's turns, with the tokens that end them, are part of the loss, as in
  // CREAM's paper. Its public code counts all tokens.
  bool mask_user = true;
};

// Reads a line's `conversations` ("from": human, gpt or system; "value"), the form of ShareGPT, or
// `messages` ("role", "content"), and formats it with the chat template. As in FastChat, turns of
// the assistant before the first one of the user are left out. Throws Error (failure) for other
// fields, a conversation without a turn of the user, and a template whose text changes when turns
// are added.
TuningDocument ConversationDocument(const JsonFields& line, const ConversationFormat& format,
                                    const Tokenizer& tokenizer);

}  // namespace midscope
