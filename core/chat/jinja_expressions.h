// SPDX-License-Identifier: MIT
// Expressions of templates. Order of operators as in Jinja's own parser: choice, or, and, not,
// comparison, + -, ~, * / // %, **, signs, then what follows a value. Internal to core.
#pragma once

#include <string_view>
#include <vector>

#include "core/chat/jinja_lexer.h"

namespace midscope::jinja {

class ExpressionParser : protected Cursor {
 protected:
  explicit ExpressionParser(std::string_view source) : Cursor(source) {}

  NodePtr Expression();
  // Without a choice (VALUE if CONDITION), as in the head of a loop.
  NodePtr Or();
  // One or, with commas, a kTuple of what `next` reads, up to `end` (")", a name, or "": the tag's
  // end), which is left to be read.
  NodePtr TupleOrOne(std::string_view end, NodePtr (ExpressionParser::*next)());
  // The target of a loop or {% set %}.
  NodePtr Target();
  NodePtr OneTarget();
  NodePtr Filter();
  void CallArguments(Node* node);

 private:
  NodePtr Filtered(NodePtr value);
  bool BeginsArgument() const;
  NodePtr And();
  NodePtr Not();
  NodePtr Comparison();
  // One level of operators that are read from left to right.
  template <typename Next>
  NodePtr Chain(const std::vector<std::string_view>& operators, const Next& next);
  NodePtr Sum();
  NodePtr Unary();
  NodePtr Test(NodePtr value);
  NodePtr Postfix(NodePtr value);
  NodePtr Subscript(NodePtr value);
  NodePtr Literal(Value value) const;
  NodePtr Number();
  NodePtr Primary();
  NodePtr Elements(NodePtr list, std::string_view close);
};

}  // namespace midscope::jinja
