// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_expressions.h"

namespace midscope::jinja {
namespace {

bool Mentions(const Node& node, std::string_view name) {
  if (node.kind == Kind::kName && node.text == name) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const NodePtr& child) { return child && Mentions(*child, name); });
}

// Parses statements, and the template as a block of them.
class Parser : private ExpressionParser {
 public:
  explicit Parser(std::string_view source) : ExpressionParser(source) {}

  NodePtr Run() {
    NodePtr root = Block({});
    if (Peek().kind != TokenKind::kEnd) Unexpected();
    return root;
  }

 private:
  // Parses statements up to a tag that begins with one of `ends`, whose name is not consumed.
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
        Adopt(block, With(std::move(print), TupleOrOne("", &Parser::Expression)));
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
    if (name == "with") return WithBlock();
    if (name == "filter") return FilterBlock();
    if (name == "call") return CallBlock();
    if (name == "break" || name == "continue") {
      EndTag();
      return Make(name == "break" ? Kind::kBreak : Kind::kContinue);
    }
    if (name == "generation") {  // an extension of transformers: marks text that the model wrote
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
    NodePtr target = Target();
    if (!TakeName("in")) Unexpected();
    Adopt(node, TupleOrOne("", &Parser::Or));
    NodePtr condition = TakeName("if") ? Expression() : nullptr;
    EndTag();
    Adopt(node, Block({"else", "endfor"}));
    Adopt(node, std::move(condition));
    NodePtr otherwise;
    if (TakeName("else")) {
      EndTag();
      otherwise = Block({"endfor"});
    }
    Adopt(node, std::move(otherwise));
    Adopt(node, std::move(target));
    ++at_;
    EndTag();
    return node;
  }

  NodePtr Set() {
    NodePtr node = Make(Kind::kSet);
    NodePtr target = Target();
    if (TakeOperator("=")) {
      Adopt(node, TupleOrOne("", &Parser::Expression));
    } else {
      Adopt(node, BodyThrough({}, "endset"));
    }
    Adopt(node, std::move(target));
    EndTag();
    return node;
  }

  // Returns the node for the text of the following statements up to {% END %}, passed through
  // `filters` and the filters at the current position.
  NodePtr BodyThrough(std::vector<NodePtr> filters, std::string_view end) {
    const Deeper deeper(this);
    while (TakeOperator("|")) filters.push_back(Filter());
    NodePtr value = Make(Kind::kBody);
    EndTag();
    Adopt(value, Block({end}));
    ++at_;
    for (NodePtr& filter : filters) {
      filter->children.insert(filter->children.begin(), std::move(value));
      value = std::move(filter);
      CheckHeight(value.get());
    }
    return value;
  }

  NodePtr FilterBlock() {
    NodePtr print = Make(Kind::kPrint);
    std::vector<NodePtr> filters;
    filters.push_back(Filter());
    Adopt(print, BodyThrough(std::move(filters), "endfilter"));
    EndTag();
    return print;
  }

  NodePtr WithBlock() {
    NodePtr node = Make(Kind::kWith);
    std::vector<NodePtr> parts;
    while (Peek().kind != TokenKind::kTagEnd) {
      if (!parts.empty()) Need(",");
      NodePtr target = OneTarget();
      Need("=");
      parts.push_back(Expression());
      parts.push_back(std::move(target));
    }
    EndTag();
    Adopt(node, Block({"endwith"}));
    for (NodePtr& part : parts) Adopt(node, std::move(part));
    ++at_;
    EndTag();
    return node;
  }

  NodePtr CallBlock() {
    NodePtr node = Make(Kind::kCallBlock);
    NodePtr body = Make(Kind::kMacro);
    std::vector<NodePtr> defaults;
    if (TakeOperator("(")) defaults = Parameters(body.get());
    NodePtr call = Expression();
    if (call->kind != Kind::kCall) Fail(node->line, "{% call %} without a call expression");
    EndTag();
    FinishMacro("endcall", std::move(defaults), body.get());
    EndTag();
    return With(std::move(node), std::move(call), std::move(body));
  }

  // Parses a macro's parameters up to the closing bracket; returns each one's default, or null.
  std::vector<NodePtr> Parameters(Node* node) {
    std::vector<NodePtr> defaults;
    while (!TakeOperator(")")) {
      node->names.push_back(Name());
      defaults.push_back(TakeOperator("=") ? Expression() : nullptr);
      if (!IsOperator(")")) Need(",");
    }
    return defaults;
  }

  NodePtr Macro() {
    NodePtr node = Make(Kind::kMacro, Name());
    Need("(");
    std::vector<NodePtr> defaults = Parameters(node.get());
    EndTag();
    FinishMacro("endmacro", std::move(defaults), node.get());
    EndTag();
    return node;
  }

  void FinishMacro(std::string_view end, std::vector<NodePtr> defaults, Node* macro) {
    Adopt(macro, Block({end}));
    for (const char* special : {"caller", "varargs", "kwargs"}) {
      const auto& names = macro->names;
      if (std::find(names.begin(), names.end(), special) == names.end() &&
          Mentions(*macro->children[0], special))
        macro->specials.emplace_back(special);
    }
    for (NodePtr& otherwise : defaults) Adopt(macro, std::move(otherwise));
    ++at_;
  }
};

}  // namespace

NodePtr Parse(std::string_view source) {
  if (source.size() > kMaxTemplateBytes)
    FailLimit(1, kMaxTemplateBytes, "bytes of the template itself");
  return Parser(source).Run();
}

void Fail(size_t line, const std::string& reason) {
  throw Failure(fmt::format("chat template, line {}", line), reason + " is not supported",
                "Write the conversation out as plain text");
}

}  // namespace midscope::jinja
