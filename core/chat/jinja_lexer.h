// SPDX-License-Identifier: MIT
// Splits a Jinja template into text and the tokens of its tags.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_limits.h"

namespace midscope::jinja {

enum class TokenKind : uint8_t {
  kText,
  kPrintBegin,
  kBlockBegin,
  kTagEnd,
  kName,
  kString,
  kNumber,
  kOperator,
  kEnd
};

struct Lexeme {
  TokenKind kind;
  std::string text;  // for a string: with escapes resolved
  size_t line;
};

// Throws Error for invalid syntax.
std::vector<Lexeme> Lex(std::string_view source);

// The base class of the parsers in jinja_expressions.h and jinja_parser.cpp: holds the current
// position among a template's lexemes, and makes nodes there. Internal to core.

class Cursor {
 protected:
  explicit Cursor(std::string_view source) : lexemes_(Lex(source)) {}

  class Deeper {
   public:
    explicit Deeper(Cursor* cursor) : cursor_(cursor) {
      if (++cursor_->depth_ > kMaxParseDepth)
        FailLimit(cursor_->Peek().line, kMaxParseDepth, "parts nested in each other");
    }
    ~Deeper() { --cursor_->depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Cursor* cursor_;
  };

  const Lexeme& Peek(size_t ahead = 0) const {
    return lexemes_[std::min(at_ + ahead, lexemes_.size() - 1)];
  }
  const Lexeme& Take() { return lexemes_[std::min(at_++, lexemes_.size() - 1)]; }
  bool IsName(std::string_view text, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kName && Peek(ahead).text == text;
  }
  bool IsOperator(std::string_view text) const {
    return Peek().kind == TokenKind::kOperator && Peek().text == text;
  }
  bool TakeName(std::string_view text) { return IsName(text) && (++at_, true); }
  bool TakeOperator(std::string_view text) { return IsOperator(text) && (++at_, true); }
  [[noreturn]] void Unexpected() const {
    Fail(Peek().line, Peek().kind == TokenKind::kEnd      ? "the template ends too early"
                      : Peek().kind == TokenKind::kTagEnd ? "the tag ends too early"
                                                          : Quote(Peek().text));
  }
  void Need(std::string_view text) {
    if (!TakeOperator(text)) Unexpected();
  }
  std::string Name() {
    if (Peek().kind != TokenKind::kName) Unexpected();
    return Take().text;
  }
  void EndTag() {
    if (Take().kind != TokenKind::kTagEnd) {
      --at_;
      Unexpected();
    }
  }
  NodePtr Make(Kind kind, std::string text = "") const {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->line = Peek().line;
    node->text = std::move(text);
    return node;
  }
  void Adopt(Node* parent, NodePtr child) const {
    parent->children.push_back(std::move(child));
    CheckHeight(parent);
  }
  // Sets a node's height from the heights of its first and last child; the others were checked
  // before.
  void CheckHeight(Node* node) const {
    for (const NodePtr* child : {&node->children.front(), &node->children.back()}) {
      if (*child) node->height = std::max(node->height, (*child)->height + 1);
    }
    if (node->height > kMaxHeight) FailLimit(node->line, kMaxHeight, "parts in one expression");
  }
  void Adopt(const NodePtr& parent, NodePtr child) const { Adopt(parent.get(), std::move(child)); }
  template <typename... Children>
  NodePtr With(NodePtr node, Children... children) const {
    (Adopt(node, std::move(children)), ...);
    return node;
  }

  size_t at_ = 0;

 private:
  std::vector<Lexeme> lexemes_;
  int depth_ = 0;
};

}  // namespace midscope::jinja
