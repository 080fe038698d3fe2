// SPDX-License-Identifier: MIT
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_expressions.h"

namespace midscope::jinja {
namespace {

// Statements, and the template as a block of them.
class Parser : private ExpressionParser {
 public:
  explicit Parser(std::string_view source) : ExpressionParser(source) {}

  NodePtr Run() {
    NodePtr root = Block({});
    if (Peek().kind != TokenKind::kEnd) Unexpected();
    return root;
  }

 private:
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
    NodePtr condition = TakeName("if") ? Or() : nullptr;
    EndTag();
    Adopt(node, Block({"else", "endfor"}));
    Adopt(node, std::move(condition));
    NodePtr otherwise;
    if (TakeName("else")) {
      EndTag();
      otherwise = Block({"endfor"});
    }
    Adopt(node, std::move(otherwise));
    ++at_;
    EndTag();
    return node;
  }

  NodePtr Set() {
    NodePtr node = Make(Kind::kSet);
    node->names.push_back(Name());
    if (TakeOperator(".")) node->names.push_back(Name());
    if (Peek().kind == TokenKind::kTagEnd) {
      node->kind = Kind::kCapture;
      EndTag();
      Adopt(node, Block({"endset"}));
      ++at_;
    } else {
      Need("=");
      Adopt(node, Expression());
    }
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
