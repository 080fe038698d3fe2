// SPDX-License-Identifier: MIT
// Expressions of templates. Order of operators as in Jinja's own parser: choice, or, and, not,
// comparison, + -, ~, * / // %, then what follows a value. Internal to core.
#pragma once

#include <string_view>
#include <vector>

#include "core/chat/jinja_cursor.h"

namespace midscope::jinja {

class ExpressionParser : protected Cursor {
 protected:
  explicit ExpressionParser(std::string_view source) : Cursor(source) {}

  NodePtr Expression();
  // Without a choice (VALUE if CONDITION), as in the head of a loop.
  NodePtr Or();

 private:
  NodePtr And();
  NodePtr Not();
  NodePtr Comparison();
  // One level of operators that are read from left to right.
  template <typename Next>
  NodePtr Chain(const std::vector<std::string_view>& operators, const Next& next);
  NodePtr Sum();
  NodePtr Unary();
  NodePtr Test(NodePtr value);
  void CallArguments(Node* node);
  NodePtr Postfix(NodePtr value);
  NodePtr Subscript(NodePtr value);
  NodePtr Literal(Value value) const;
  NodePtr Number();
  NodePtr Primary();
  NodePtr Parenthesis();
  NodePtr Elements(NodePtr list, std::string_view close);
};

}  // namespace midscope::jinja
