// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "core/base/utf8.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "kernels/check.h"

namespace midscope::jinja {
namespace {

class Renderer {
 public:
  Renderer(const nlohmann::ordered_json& variables, std::string date) : date_(std::move(date)) {
    Push();
    for (const auto& [name, function] : Functions())
      Name(std::string(name), Value::Of(function), 1);
    for (const auto& [name, value] : variables.items())
      Name(name, Value::OfJson(value, {budget_, 1}), 1);
  }

  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Namespaces may hold each other, in a circle or in a chain of any length.
  ~Renderer() {
    for (const auto& space : spaces_) space->Clear();
  }

  std::string Run(const Node& root) {
    Execute(root);
    return std::move(out_);
  }

 private:
  enum class Flow : uint8_t { kOn, kBreak, kContinue };
  using Scope = std::unordered_map<std::string, Value>;

  // One node within others.
  class Deeper {
   public:
    Deeper(Renderer* renderer, const Node& node) : renderer_(renderer) {
      renderer->budget_.Step(node.line);
      if (++renderer->depth_ > kMaxEvaluationDepth)
        FailLimit(node.line, kMaxEvaluationDepth, "parts evaluated within each other");
    }
    ~Deeper() { --renderer_->depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Renderer* renderer_;
  };

  At AtNode(const Node& node) { return {budget_, node.line}; }

  void Push() { scopes_.emplace_back(); }
  void Pop() {
    names_ -= scopes_.back().size();
    scopes_.pop_back();
  }

  void Name(const std::string& name, Value value, size_t line) {
    const auto [place, made] = scopes_.back().insert_or_assign(name, std::move(value));
    if (made && ++names_ > kMaxNames) FailLimit(line, kMaxNames, "variables");
  }

  void Write(std::string_view text, const Node& node) {
    if (out_.size() + text.size() > kMaxTextBytes)
      FailLimit(node.line, int64_t{kMaxTextBytes} >> 20, "MiB of text written");
    budget_.Make(node.line, text.size());
    out_ += text;
  }

  Flow Execute(const Node& node) {
    const Deeper deeper(this, node);
    switch (node.kind) {
      case Kind::kText:
        Write(node.text, node);
        return Flow::kOn;
      case Kind::kPrint:
        Print(node);
        return Flow::kOn;
      case Kind::kBlock:
        for (const NodePtr& child : node.children) {
          const Flow flow = Execute(*child);
          if (flow != Flow::kOn) return flow;
        }
        return Flow::kOn;
      case Kind::kIf:
        if (Evaluate(*node.children[0]).IsTrue()) return Execute(*node.children[1]);
        return node.children[2] ? Execute(*node.children[2]) : Flow::kOn;
      case Kind::kFor:
        return For(node);
      case Kind::kSet:
        Set(node, Evaluate(*node.children[0]));
        return Flow::kOn;
      case Kind::kCapture:
        Set(node, Capture(*node.children[0], node));
        return Flow::kOn;
      case Kind::kMacro:
        Name(node.text, Value::Macro(&node), node.line);
        return Flow::kOn;
      case Kind::kBreak:
        return Flow::kBreak;
      case Kind::kContinue:
        return Flow::kContinue;
      default:
        MIDSCOPE_BUG("an expression where a statement is");
    }
  }

  void Print(const Node& node) {
    const Value value = Evaluate(*node.children[0]);
    if (value.text() != nullptr) return Write(*value.text(), node);
    Write(ToText(value, AtNode(node)), node);
  }

  // What `body` writes, as a value.
  Value Capture(const Node& body, const Node& node) {
    std::string text;
    std::swap(text, out_);
    Execute(body);
    std::swap(text, out_);
    return Value::Text(std::move(text), AtNode(node));
  }

  void Set(const Node& node, Value value) {
    if (node.names.size() == 1) return Name(node.names[0], std::move(value), node.line);
    const Value* holder = Lookup(node.names[0], node);
    if (holder == nullptr || holder->space() == nullptr)
      Fail(node.line, "setting a part of " + Quote(node.names[0]));
    Entries* space = holder->space();
    space->Set(node.names[1], std::move(value));
    if (space->all().size() > kMaxNames) FailLimit(node.line, kMaxNames, "names in a namespace");
  }

  void Bind(const Node& node, const Value& item) {
    if (node.names.size() == 1) return Name(node.names[0], item, node.line);
    const Value parts = ItemsOf(item, AtNode(node));
    if (parts.list()->size() != node.names.size())
      Fail(node.line, "a loop over parts of another number");
    for (size_t i = 0; i < node.names.size(); ++i)
      Name(node.names[i], (*parts.list())[i], node.line);
  }

  Value Filtered(const Node& node, const Value& items) {
    Items kept;
    for (const Value& item : *items.list()) {
      Push();
      Bind(node, item);
      if (Evaluate(*node.children[2]).IsTrue()) kept.push_back(item);
      Pop();
    }
    return Value::List(std::move(kept), AtNode(node));
  }

  Flow For(const Node& node) {
    Value items = ItemsOf(Evaluate(*node.children[0]), AtNode(node));
    if (node.children[2]) items = Filtered(node, items);
    const size_t count = items.list()->size();
    if (count == 0) return node.children[3] ? Execute(*node.children[3]) : Flow::kOn;
    const auto loop = std::make_shared<Loop>(Loop{items, 0});
    for (size_t i = 0; i < count; ++i) {
      loop->index = i;
      Push();
      Name("loop", Value::Of(loop), node.line);
      Bind(node, (*items.list())[i]);
      const Flow flow = Execute(*node.children[1]);
      Pop();
      if (flow == Flow::kBreak) break;
    }
    return Flow::kOn;
  }

  Value Evaluate(const Node& node) {
    const Deeper deeper(this, node);
    switch (node.kind) {
      case Kind::kLiteral:
        return node.value;
      case Kind::kName: {
        const Value* found = Lookup(node.text, node);
        return found == nullptr ? Value() : *found;
      }
      case Kind::kAttribute:
        return Attribute(node);
      case Kind::kIndex:
        return Index(node);
      case Kind::kSlice:
        return Slice(node);
      case Kind::kCall:
        return Call(node);
      case Kind::kFilter:
        return FilterOf(node);
      case Kind::kTest:
        return TestOf(node);
      case Kind::kBinary:
        return Binary(node);
      case Kind::kNot:
        return Value::Of(!Evaluate(*node.children[0]).IsTrue());
      case Kind::kNegate:
        return ApplyOperator("-", Value::Of(int64_t{0}), Evaluate(*node.children[0]), AtNode(node));
      case Kind::kChoice:
        if (Evaluate(*node.children[1]).IsTrue()) return Evaluate(*node.children[0]);
        return node.children[2] ? Evaluate(*node.children[2]) : Value();
      case Kind::kList:
        return ListOf(node);
      case Kind::kDict:
        return Dict(node);
      default:
        MIDSCOPE_BUG("a statement where an expression is");
    }
  }

  Value Attribute(const Node& node) {
    const Value value = Evaluate(*node.children[0]);
    if (IsMethod(value, node.text)) Fail(node.line, "a method that is not called");
    return ItemOf(value, Value::Text(node.text), AtNode(node));
  }

  Value Index(const Node& node) {
    const Value value = Evaluate(*node.children[0]);
    return ItemOf(value, Evaluate(*node.children[1]), AtNode(node));
  }

  Value Slice(const Node& node) {
    const auto bound = [&](size_t i) {
      return node.children[i] ? Evaluate(*node.children[i]) : Value::None();
    };
    const Value value = Evaluate(*node.children[0]);
    const Value begin = bound(1);
    const Value end = bound(2);
    return SliceOf(value, begin, end, bound(3), AtNode(node));
  }

  Value FilterOf(const Node& node) {
    const Value value = Evaluate(*node.children[0]);
    return ApplyFilter(node.text, value, ReadArguments(node), AtNode(node));
  }

  Value TestOf(const Node& node) {
    const Value value = Evaluate(*node.children[0]);
    return Value::Of(ApplyTest(node.text, value, ReadArguments(node), AtNode(node)));
  }

  Value ListOf(const Node& node) {
    Items items;
    for (const NodePtr& child : node.children) items.push_back(Evaluate(*child));
    return Value::List(std::move(items), AtNode(node));
  }

  Value Dict(const Node& node) {
    Entries entries;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const Value key = Evaluate(*node.children[i]);
      const bool number = key.integer() != nullptr;
      if (key.text() == nullptr && !number) Fail(node.line, "a key that is no text");
      if (i > 0 && number != entries.keys_are_numbers())
        Fail(node.line, "texts and numbers as keys of one mapping");
      if (number) entries.SetKeysAreNumbers();
      entries.Set(number ? std::to_string(*key.integer()) : *key.text(),
                  Evaluate(*node.children[i + 1]));
    }
    return Value::Mapping(std::move(entries), AtNode(node));
  }

  // Null: there is no such variable. A macro sees its own and those at the top.
  const Value* Lookup(const std::string& name, const Node& node) {
    for (size_t i = scopes_.size(); i-- > base_;) {
      budget_.Step(node.line);
      const auto found = scopes_[i].find(name);
      if (found != scopes_[i].end()) return &found->second;
    }
    const auto found = scopes_.front().find(name);
    return found == scopes_.front().end() ? nullptr : &found->second;
  }

  Value Binary(const Node& node) {
    Value left = Evaluate(*node.children[0]);
    if (node.text == "or") return left.IsTrue() ? left : Evaluate(*node.children[1]);
    if (node.text == "and") return left.IsTrue() ? Evaluate(*node.children[1]) : left;
    return ApplyOperator(node.text, left, Evaluate(*node.children[1]), AtNode(node));
  }

  Arguments ReadArguments(const Node& node) {
    Arguments arguments{{}, node.names};
    for (size_t i = 1; i < node.children.size(); ++i)
      arguments.values.push_back(Evaluate(*node.children[i]));
    return arguments;
  }

  Value Call(const Node& node) {
    const Node& callee = *node.children[0];
    if (callee.kind == Kind::kAttribute) {
      const Value value = Evaluate(*callee.children[0]);
      return CallMethod(callee.text, value, ReadArguments(node), AtNode(node));
    }
    const Value called = Evaluate(callee);
    const Arguments arguments = ReadArguments(node);
    if (called.macro() != nullptr) return CallMacro(*called.macro(), arguments, node);
    if (called.function() == nullptr) {
      Fail(node.line, callee.kind == Kind::kName ? "the function " + Quote(callee.text)
                                                 : "calling what is no function");
    }
    return CallFunction(*called.function(), arguments, {date_, spaces_}, AtNode(node));
  }

  Value CallMacro(const Node& macro, const Arguments& arguments, const Node& node) {
    const size_t given = arguments.positional();
    if (given > macro.names.size()) Fail(node.line, "this call of " + Quote(macro.text));
    for (const std::string& name : arguments.names) {
      if (std::find(macro.names.begin(), macro.names.end(), name) == macro.names.end())
        Fail(node.line, "the argument " + Quote(name));
    }
    // A macro sees what is set at the top, not where it is called.
    const size_t base = std::exchange(base_, scopes_.size());
    Push();
    for (size_t i = 0; i < macro.names.size(); ++i) {
      const Value* value = arguments.Find(i, macro.names[i]);
      const NodePtr& otherwise = macro.children[i + 1];
      Name(macro.names[i],
           value != nullptr ? *value
           : otherwise      ? Evaluate(*otherwise)
                            : Value(),
           node.line);
    }
    Value text = Capture(*macro.children[0], node);
    Pop();
    base_ = base;
    return text;
  }

  Budget budget_;
  std::vector<Scope> scopes_;  // innermost last
  size_t base_ = 0;            // the first scope of the macro that is called
  size_t names_ = 0;           // in all scopes
  std::vector<std::shared_ptr<Entries>> spaces_;
  std::string date_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string Render(const Node& root, const nlohmann::ordered_json& variables,
                   const std::string& date) {
  return Renderer(variables, date).Run(root);
}

}  // namespace midscope::jinja
