// SPDX-License-Identifier: MIT
// Order of operators as in Jinja's own parser: choice, or, and, not, comparison, + -, ~, * / // %,
// then what follows a value.
#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/jinja.h"
#include "core/jinja_lexer.h"
#include "core/utf8.h"

namespace midscope::jinja {
namespace {

// Deeper than any template; keeps a hostile one from using up the stack.
constexpr int kMaxDepth = 150;
constexpr int kMaxHeight = 300;

class Parser {
 public:
  explicit Parser(std::string_view source) : lexemes_(Lex(source)) {}

  NodePtr Run() {
    NodePtr root = Block({});
    if (Peek().kind != TokenKind::kEnd) Unexpected();
    return root;
  }

 private:
  class Deeper {
   public:
    explicit Deeper(Parser* parser) : parser_(parser) {
      if (++parser_->depth_ > kMaxDepth) Fail(parser_->Peek().line, "nested too deeply");
    }
    ~Deeper() { --parser_->depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Parser* parser_;
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
    if (child) parent->height = std::max(parent->height, child->height + 1);
    if (parent->height > kMaxHeight) Fail(parent->line, "an expression this long");
    parent->children.push_back(std::move(child));
  }
  void Adopt(const NodePtr& parent, NodePtr child) const { Adopt(parent.get(), std::move(child)); }
  template <typename... Children>
  NodePtr With(NodePtr node, Children... children) const {
    (Adopt(node, std::move(children)), ...);
    return node;
  }

  // Statements up to a block that begins with one of `ends`, whose name is left to be read.
  NodePtr Block(const std::vector<std::string_view>& ends) {
    const Deeper deeper(this);
    NodePtr block = Make(Kind::kBlock);
    while (Peek().kind != TokenKind::kEnd) {
      if (Peek().kind == TokenKind::kText) {
        Adopt(block, Make(Kind::kText, Peek().text));
        ++at_;
      } else if (Peek().kind == TokenKind::kPrintBegin) {
        ++at_;
        NodePtr print = Make(Kind::kPrint);
        Adopt(block, With(std::move(print), Expression()));
        EndTag();
      } else {
        for (const std::string_view end : ends) {
          if (IsName(end, 1)) {
            ++at_;
            return block;
          }
        }
        ++at_;
        Adopt(block, Statement());
      }
    }
    if (!ends.empty()) Unexpected();
    return block;
  }

  NodePtr Statement() {
    const std::string name = Name();
    if (name == "if") return If();
    if (name == "for") return For();
    if (name == "set") return Set();
    if (name == "macro") return Macro();
    if (name == "break" || name == "continue") {
      EndTag();
      return Make(name == "break" ? Kind::kBreak : Kind::kContinue);
    }
    if (name == "generation") {  // of transformers: marks what the model wrote
      EndTag();
      NodePtr body = Block({"endgeneration"});
      ++at_;
      EndTag();
      return body;
    }
    --at_;
    Unexpected();
  }

  NodePtr If() {
    const Deeper deeper(this);
    NodePtr node = Make(Kind::kIf);
    Adopt(node, Expression());
    EndTag();
    Adopt(node, Block({"elif", "else", "endif"}));
    if (TakeName("elif")) {
      Adopt(node, If());
      return node;
    }
    if (TakeName("else")) {
      EndTag();
      Adopt(node, Block({"endif"}));
    } else {
      Adopt(node, nullptr);
    }
    ++at_;
    EndTag();
    return node;
  }

  NodePtr For() {
    NodePtr node = Make(Kind::kFor);
    node->names.push_back(Name());
    while (TakeOperator(",")) node->names.push_back(Name());
    if (!TakeName("in")) Unexpected();
    Adopt(node, Or());
    if (TakeName("if")) {
      Adopt(node, nullptr);
      Adopt(node, Or());
    }
    EndTag();
    NodePtr body = Block({"endfor"});
    ++at_;
    EndTag();
    if (node->children.size() == 1) {
      Adopt(node, std::move(body));
    } else {
      node->height = std::max(node->height, body->height + 1);
      node->children[1] = std::move(body);
    }
    return node;
  }

  NodePtr Set() {
    NodePtr node = Make(Kind::kSet);
    node->names.push_back(Name());
    if (TakeOperator(".")) node->names.push_back(Name());
    Need("=");
    Adopt(node, Expression());
    EndTag();
    return node;
  }

  NodePtr Macro() {
    NodePtr node = Make(Kind::kMacro, Name());
    std::vector<NodePtr> defaults;
    Need("(");
    while (!TakeOperator(")")) {
      node->names.push_back(Name());
      defaults.push_back(TakeOperator("=") ? Expression() : nullptr);
      if (!IsOperator(")")) Need(",");
    }
    EndTag();
    Adopt(node, Block({"endmacro"}));
    for (NodePtr& otherwise : defaults) Adopt(node, std::move(otherwise));
    ++at_;
    EndTag();
    return node;
  }

  NodePtr Expression() {
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

  NodePtr Or() {
    NodePtr left = And();
    while (TakeName("or")) left = With(Make(Kind::kBinary, "or"), std::move(left), And());
    return left;
  }

  NodePtr And() {
    NodePtr left = Not();
    while (TakeName("and")) left = With(Make(Kind::kBinary, "and"), std::move(left), Not());
    return left;
  }

  NodePtr Not() {
    if (!TakeName("not")) return Comparison();
    const Deeper deeper(this);
    return With(Make(Kind::kNot), Not());
  }

  NodePtr Comparison() {
    NodePtr left = Sum();
    size_t count = 0;
    while (true) {
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
      if (++count > 1) Fail(Peek().line, "a chain of comparisons");
      left = With(Make(Kind::kBinary, name), std::move(left), Sum());
    }
  }

  // One level of operators that are read from left to right.
  template <typename Next>
  NodePtr Chain(const std::vector<std::string_view>& operators, const Next& next) {
    NodePtr left = next();
    while (Peek().kind == TokenKind::kOperator &&
           std::find(operators.begin(), operators.end(), Peek().text) != operators.end()) {
      NodePtr node = Make(Kind::kBinary, Take().text);
      left = With(std::move(node), std::move(left), next());
    }
    return left;
  }

  NodePtr Sum() {
    return Chain({"+", "-"}, [&] {
      return Chain({"~"}, [&] { return Chain({"*", "/", "//", "%"}, [&] { return Unary(); }); });
    });
  }

  NodePtr Unary() {
    const Deeper deeper(this);
    if (TakeOperator("-")) return With(Make(Kind::kNegate), Unary());
    NodePtr value = Postfix(Primary());
    while (true) {
      if (TakeOperator("|")) {
        NodePtr filter = Make(Kind::kFilter, Name());
        Adopt(filter, std::move(value));
        if (TakeOperator("(")) CallArguments(filter.get());
        value = std::move(filter);
      } else if (TakeName("is")) {
        value = Test(std::move(value));
      } else {
        return value;
      }
    }
  }

  NodePtr Test(NodePtr value) {
    const bool negative = TakeName("not");
    NodePtr test = Make(Kind::kTest, Name());
    Adopt(test, std::move(value));
    if (TakeOperator("(")) {
      CallArguments(test.get());
    } else if (Peek().kind == TokenKind::kString || Peek().kind == TokenKind::kNumber) {
      Adopt(test, Primary());
    }
    if (!negative) return test;
    return With(Make(Kind::kNot), std::move(test));
  }

  void CallArguments(Node* node) {
    while (!TakeOperator(")")) {
      if (Peek().kind == TokenKind::kName && Peek(1).kind == TokenKind::kOperator &&
          Peek(1).text == "=") {
        node->names.push_back(Take().text);
        ++at_;
      } else if (!node->names.empty()) {
        Unexpected();
      }
      Adopt(node, Expression());
      if (!IsOperator(")")) Need(",");
    }
  }

  NodePtr Postfix(NodePtr value) {
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

  NodePtr Subscript(NodePtr value) {
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

  NodePtr Literal(Value value) const {
    NodePtr node = Make(Kind::kLiteral);
    node->value = std::move(value);
    return node;
  }

  NodePtr Primary() {
    const Deeper deeper(this);
    if (Peek().kind == TokenKind::kString) {
      std::string text;
      while (Peek().kind == TokenKind::kString) text += Take().text;
      return Literal(std::move(text));
    }
    if (Peek().kind == TokenKind::kNumber) return Literal(std::stoll(Take().text));
    if (Peek().kind == TokenKind::kName) {
      for (const auto& [name, value] : {std::pair<std::string_view, Value>{"true", true},
                                        {"True", true},
                                        {"false", false},
                                        {"False", false},
                                        {"none", nullptr},
                                        {"None", nullptr}}) {
        if (TakeName(name)) return Literal(value);
      }
      NodePtr name = Make(Kind::kName, Peek().text);
      ++at_;
      return name;
    }
    if (TakeOperator("(")) return Parenthesis();
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

  NodePtr Parenthesis() {
    if (IsOperator(")")) return Elements(Make(Kind::kList), ")");
    NodePtr inside = Expression();
    if (TakeOperator(")")) return inside;
    Need(",");
    return Elements(With(Make(Kind::kList), std::move(inside)), ")");
  }

  NodePtr Elements(NodePtr list, std::string_view close) {
    while (!TakeOperator(close)) {
      Adopt(list, Expression());
      if (!IsOperator(close)) Need(",");
    }
    return list;
  }

  std::vector<Lexeme> lexemes_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

NodePtr Parse(std::string_view source) { return Parser(source).Run(); }

void Fail(size_t line, const std::string& reason) {
  throw Failure("chat template, line " + std::to_string(line), reason + " is not supported",
                "Write the conversation out as plain text");
}

}  // namespace midscope::jinja
