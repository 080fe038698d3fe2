// SPDX-License-Identifier: MIT
#include "core/chat/jinja_expressions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace midscope::jinja {

NodePtr ExpressionParser::Expression() {
  const Deeper deeper(this);
  NodePtr value = Or();
  while (TakeName("if")) {
    NodePtr choice = Make(Kind::kChoice);
    NodePtr condition = Or();
    NodePtr otherwise = TakeName("else") ? Expression() : nullptr;
    value = With(std::move(choice), std::move(value), std::move(condition), std::move(otherwise));
  }
  return value;
}

NodePtr ExpressionParser::Or() {
  NodePtr left = And();
  while (TakeName("or")) left = With(Make(Kind::kBinary, "or"), std::move(left), And());
  return left;
}

NodePtr ExpressionParser::And() {
  NodePtr left = Not();
  while (TakeName("and")) left = With(Make(Kind::kBinary, "and"), std::move(left), Not());
  return left;
}

NodePtr ExpressionParser::Not() {
  if (!TakeName("not")) return Comparison();
  const Deeper deeper(this);
  return With(Make(Kind::kNot), Not());
}

NodePtr ExpressionParser::Comparison() {
  NodePtr left = Sum();
  for (size_t count = 0;; ++count) {
    std::string name;
    if (Peek().kind == TokenKind::kOperator) {
      constexpr std::array<std::string_view, 6> kNames = {"==", "!=", "<=", ">=", "<", ">"};
      if (std::find(kNames.begin(), kNames.end(), Peek().text) == kNames.end()) return left;
      name = Take().text;
    } else if (TakeName("in")) {
      name = "in";
    } else if (IsName("not") && IsName("in", 1)) {
      at_ += 2;
      name = "not in";
    } else {
      return left;
    }
    if (count == 0) {
      left = With(Make(Kind::kBinary, name), std::move(left), Sum());
      continue;
    }
    if (left->kind == Kind::kBinary) {
      left->kind = Kind::kCompare;
      left->names.push_back(std::exchange(left->text, ""));
    }
    left->names.push_back(name);
    Adopt(left, Sum());
  }
}

template <typename Next>
NodePtr ExpressionParser::Chain(const std::vector<std::string_view>& operators, const Next& next) {
  NodePtr left = next();
  while (Peek().kind == TokenKind::kOperator &&
         std::find(operators.begin(), operators.end(), Peek().text) != operators.end()) {
    NodePtr node = Make(Kind::kBinary, Take().text);
    left = With(std::move(node), std::move(left), next());
  }
  return left;
}

NodePtr ExpressionParser::Sum() {
  return Chain({"+", "-"}, [&] {
    return Chain({"~"}, [&] {
      return Chain({"*", "/", "//", "%"},
                   [&] { return Chain({"**"}, [&] { return Filtered(Unary()); }); });
    });
  });
}

// A sign binds more tightly than a filter after the value.
NodePtr ExpressionParser::Unary() {
  const Deeper deeper(this);
  NodePtr value;
  if (TakeOperator("-")) {
    value = With(Make(Kind::kNegate), Unary());
  } else if (TakeOperator("+")) {
    value = With(Make(Kind::kPlus), Unary());
  } else {
    value = Primary();
  }
  return Postfix(std::move(value));
}

NodePtr ExpressionParser::Filtered(NodePtr value) {
  while (true) {
    if (TakeOperator("|")) {
      NodePtr filter = Filter();
      filter->children.insert(filter->children.begin(), std::move(value));
      value = std::move(filter);
      CheckHeight(value.get());
    } else if (TakeName("is")) {
      value = Test(std::move(value));
    } else if (IsOperator("(")) {
      value = Postfix(std::move(value));
    } else {
      return value;
    }
  }
}

// Parses a filter's name and arguments; its value is inserted before them later.
NodePtr ExpressionParser::Filter() {
  NodePtr filter = Make(Kind::kFilter, Name());
  if (TakeOperator("(")) CallArguments(filter.get());
  return filter;
}

NodePtr ExpressionParser::Test(NodePtr value) {
  const bool negative = TakeName("not");
  NodePtr test = Make(Kind::kTest, Name());
  Adopt(test, std::move(value));
  if (TakeOperator("(")) {
    CallArguments(test.get());
  } else if (BeginsArgument()) {
    Adopt(test, Postfix(Primary()));
  }
  if (!negative) return test;
  return With(Make(Kind::kNot), std::move(test));
}

// Whether an argument without brackets of a test begins here.
bool ExpressionParser::BeginsArgument() const {
  if (IsOperator("[") || IsOperator("{")) return true;
  if (Peek().kind == TokenKind::kString || Peek().kind == TokenKind::kNumber) return true;
  constexpr std::array<std::string_view, 8> kOthers = {"else", "or", "and", "if",
                                                       "is",   "in", "not", "recursive"};
  return Peek().kind == TokenKind::kName &&
         std::find(kOthers.begin(), kOthers.end(), Peek().text) == kOthers.end();
}

void ExpressionParser::CallArguments(Node* node) {
  bool named = false;  // an argument by name or spread was read
  while (!TakeOperator(")")) {
    NodePtr argument;
    if (IsOperator("*") || IsOperator("**")) {
      argument = Make(Kind::kSpread, Take().text);
    } else if (Peek().kind == TokenKind::kName && Peek(1).kind == TokenKind::kOperator &&
               Peek(1).text == "=") {
      argument = Make(Kind::kNamed, Take().text);
      ++at_;
    }
    if (argument) {
      named = true;
      argument = With(std::move(argument), Expression());
    } else {
      if (named) Unexpected();
      argument = Expression();
    }
    Adopt(node, std::move(argument));
    if (!IsOperator(")")) Need(",");
  }
}

NodePtr ExpressionParser::Postfix(NodePtr value) {
  while (true) {
    if (TakeOperator(".")) {
      if (Peek().kind == TokenKind::kNumber) Unexpected();
      NodePtr node = Make(Kind::kAttribute, Name());
      value = With(std::move(node), std::move(value));
    } else if (TakeOperator("[")) {
      value = Subscript(std::move(value));
    } else if (TakeOperator("(")) {
      NodePtr call = With(Make(Kind::kCall), std::move(value));
      CallArguments(call.get());
      value = std::move(call);
    } else {
      return value;
    }
  }
}

NodePtr ExpressionParser::Subscript(NodePtr value) {
  std::array<NodePtr, 3> parts;
  size_t count = 0;
  bool slice = false;
  while (!TakeOperator("]")) {
    if (TakeOperator(":")) {
      slice = true;
      if (++count > 2) Unexpected();
    } else if (parts.at(count) == nullptr) {
      parts.at(count) = Expression();
    } else {
      Unexpected();
    }
  }
  if (!slice && parts[0] == nullptr) Unexpected();
  if (!slice) return With(Make(Kind::kIndex), std::move(value), std::move(parts[0]));
  return With(Make(Kind::kSlice), std::move(value), std::move(parts[0]), std::move(parts[1]),
              std::move(parts[2]));
}

NodePtr ExpressionParser::Literal(Value value) const {
  NodePtr node = Make(Kind::kLiteral);
  node->value = std::move(value);
  return node;
}

NodePtr ExpressionParser::Number() {
  const std::string text = Take().text;
  if (text.find('.') == std::string::npos) return Literal(Value::Of(int64_t{std::stoll(text)}));
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return Literal(Value::Of(value));
}

NodePtr ExpressionParser::Primary() {
  const Deeper deeper(this);
  if (Peek().kind == TokenKind::kString) {
    std::string text;
    while (Peek().kind == TokenKind::kString) text += Take().text;
    return Literal(Value::Text(std::move(text)));
  }
  if (Peek().kind == TokenKind::kNumber) return Number();
  if (Peek().kind == TokenKind::kName) {
    for (const auto& [name, value] : {std::pair<std::string_view, Value>{"true", Value::Of(true)},
                                      {"True", Value::Of(true)},
                                      {"false", Value::Of(false)},
                                      {"False", Value::Of(false)},
                                      {"none", Value::None()},
                                      {"None", Value::None()}}) {
      if (TakeName(name)) return Literal(value);
    }
    NodePtr name = Make(Kind::kName, Peek().text);
    ++at_;
    return name;
  }
  if (TakeOperator("(")) {
    NodePtr inside = TupleOrOne(")", &ExpressionParser::Expression);
    Need(")");
    return inside;
  }
  if (TakeOperator("[")) return Elements(Make(Kind::kList), "]");
  if (TakeOperator("{")) {
    NodePtr dict = Make(Kind::kDict);
    while (!TakeOperator("}")) {
      Adopt(dict, Expression());
      Need(":");
      Adopt(dict, Expression());
      if (!IsOperator("}")) Need(",");
    }
    return dict;
  }
  Unexpected();
}

NodePtr ExpressionParser::TupleOrOne(std::string_view end, NodePtr (ExpressionParser::*next)()) {
  const auto ends = [&] {
    if (Peek().kind == TokenKind::kTagEnd) return end.empty();
    return end == ")" ? IsOperator(end) : IsName(end);
  };
  if (end == ")" && ends()) return Make(Kind::kTuple);
  NodePtr first = (this->*next)();
  if (!IsOperator(",")) return first;
  NodePtr tuple = With(Make(Kind::kTuple), std::move(first));
  while (TakeOperator(",")) {
    if (ends() || IsOperator("=")) break;
    Adopt(tuple, (this->*next)());
  }
  return tuple;
}

NodePtr ExpressionParser::Target() { return TupleOrOne("in", &ExpressionParser::OneTarget); }

NodePtr ExpressionParser::OneTarget() {
  const Deeper deeper(this);
  if (TakeOperator("(")) {
    NodePtr inside = TupleOrOne(")", &ExpressionParser::OneTarget);
    Need(")");
    return inside;
  }
  NodePtr name = Make(Kind::kName, Name());
  if (!TakeOperator(".")) return name;
  NodePtr attribute = Make(Kind::kAttribute, Name());
  return With(std::move(attribute), std::move(name));
}

NodePtr ExpressionParser::Elements(NodePtr list, std::string_view close) {
  while (!TakeOperator(close)) {
    Adopt(list, Expression());
    if (!IsOperator(close)) Need(",");
  }
  return list;
}

}  // namespace midscope::jinja
