// SPDX-License-Identifier: MIT
#include "probes/engine/own_text_request.h"

#include <utility>

#include "core/base/utf8.h"
#include "core/tokenizer/prompt.h"
#include "data/scorers/answer_text.h"

namespace midscope {

OwnText OwnTextOf(const PromptRequest& request) {
  OwnText own{request.text, request.spans, request.answer};
  if (request.gold_end > request.gold_begin) {
    own.spans.push_back({{"gold", request.gold_begin, request.gold_end}, ""});
  }
  if (request.question.empty()) return own;
  // The question follows after an empty line, as in the task jsonl.
  if (!own.text.empty()) own.text += own.text.ends_with('\n') ? "\n" : "\n\n";
  const auto begin = static_cast<int64_t>(own.text.size());
  own.text += "Question: " + request.question;
  own.spans.push_back({{"question", begin, static_cast<int64_t>(own.text.size())}, ""});
  own.text += "\nAnswer:";
  if (!own.answer.empty()) own.answer = " " + StripText(own.answer);
  return own;
}

PiecesText PiecesTextOf(const PromptRequest& request) {
  CheckUtf8("prompt", request.text);
  OwnText own = OwnTextOf(request);
  PiecesText text;
  text.pieces = request.pieces;
  text.answer = own.answer;
  text.gold = {"gold", request.gold_begin, request.gold_end};
  for (const SpanRequest& span : own.spans) {
    if (span.span.name != "gold") text.spans.push_back(FindSpanBytes(own.text, span));
  }
  text.text = std::move(own.text);
  return text;
}

}  // namespace midscope
