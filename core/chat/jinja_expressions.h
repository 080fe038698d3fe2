// SPDX-License-Identifier: MIT
// The parser of expressions in templates. Operators bind in the order of Jinja's own parser,
// loosest first: choice, or, and, not, comparison, + -, ~, * / // %, **, signs, then the suffixes
// of a value. Internal to core.
#pragma once

#include <string_view>
#include <vector>

#include "core/chat/jinja_lexer.h"

namespace midscope::jinja {

class ExpressionParser : protected Cursor {
 protected:
  explicit ExpressionParser(std::string_view source) : Cursor(source) {}

  NodePtr Expression();
  // Parses an expression without a choice (VALUE if CONDITION), as in the head of a loop.
  NodePtr Or();
  // Parses one item with `next` or, if there are commas, a kTuple of such items, up to `end` (")",
  // a name, or "" for the tag's end), which is not consumed.
  NodePtr TupleOrOne(std::string_view end, NodePtr (ExpressionParser::*next)());
  // Parses the target of a loop or {% set %}.
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
  // Parses one level of left-associative operators.
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
