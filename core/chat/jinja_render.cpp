// SPDX-License-Identifier: MIT
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/utf8.h"
#include "core/chat/jinja_renderer.h"
#include "kernels/check.h"

namespace midscope::jinja {
namespace {

class LoopEnd {
 public:
  explicit LoopEnd(Loop* loop) : loop_(loop) {}
  ~LoopEnd() {
    loop_->over = true;
    loop_->changed = {};
  }
  LoopEnd(const LoopEnd&) = delete;
  LoopEnd& operator=(const LoopEnd&) = delete;

 private:
  Loop* loop_;
};

}  // namespace

Renderer::Renderer(const nlohmann::ordered_json& variables, std::string date)
    : date_(std::move(date)) {
  Push();
  for (const auto& [name, function] : Functions()) Name(std::string(name), Value::Of(function), 1);
  for (const auto& [name, value] : variables.items())
    Name(name, Value::OfJson(value, {budget_, 1}), 1);
}

Renderer::~Renderer() {
  for (const auto& space : spaces_) space->Clear();
}

std::string Renderer::Run(const Node& root) {
  Execute(root);
  return std::move(out_);
}

void Renderer::Name(const std::string& name, Value value, size_t line) {
  const auto [place, made] = scopes_.back().insert_or_assign(name, std::move(value));
  if (made && ++names_ > kMaxNames) FailLimit(line, kMaxNames, "variables");
}

void Renderer::Write(std::string_view text, const Node& node) {
  if (out_.size() + text.size() > kMaxTextBytes)
    FailLimit(node.line, int64_t{kMaxTextBytes} >> 20, "MiB of text written");
  budget_.Make(node.line, text.size());
  out_ += text;
}

Renderer::Flow Renderer::Execute(const Node& node) {
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
      Assign(*node.children[1], Evaluate(*node.children[0]));
      return Flow::kOn;
    case Kind::kWith:
      return WithValues(node);
    case Kind::kCallBlock:
      CallWithBlock(node);
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

void Renderer::Print(const Node& node) {
  const Value value = Evaluate(*node.children[0]);
  if (value.text() != nullptr) return Write(*value.text(), node);
  Write(ToText(value, AtNode(node)), node);
}

Value Renderer::Capture(const Node& body, const Node& node) {
  std::string text;
  std::swap(text, out_);
  Execute(body);
  std::swap(text, out_);
  return Value::Text(std::move(text), AtNode(node));
}

void Renderer::Assign(const Node& target, Value value) {
  if (target.kind == Kind::kName) return Name(target.text, std::move(value), target.line);
  if (target.kind == Kind::kAttribute) return SetAttribute(target, std::move(value));
  const Value parts = ItemsOf(value, AtNode(target));
  if (parts.list()->size() != target.children.size())
    Fail(target.line, "as many names as this for a value of other parts");
  for (size_t i = 0; i < target.children.size(); ++i)
    Assign(*target.children[i], (*parts.list())[i]);
}

void Renderer::SetAttribute(const Node& target, Value value) {
  const std::string& name = target.children[0]->text;
  const Value* holder = Lookup(name, target);
  if (holder == nullptr || holder->space() == nullptr)
    Fail(target.line, "setting a part of " + Quote(name));
  Entries* space = holder->space();
  space->Set(target.text, std::move(value));
  if (space->all().size() > kMaxNames) FailLimit(target.line, kMaxNames, "names in a namespace");
}

Renderer::Flow Renderer::WithValues(const Node& node) {
  std::vector<Value> values;
  for (size_t i = 1; i + 1 < node.children.size(); i += 2)
    values.push_back(Evaluate(*node.children[i]));
  Push();
  for (size_t i = 0; i < values.size(); ++i)
    Assign(*node.children[2 * i + 2], std::move(values[i]));
  const Flow flow = Execute(*node.children[0]);
  Pop();
  return flow;
}

void Renderer::CallWithBlock(const Node& node) {
  const Node& call = *node.children[0];
  const Value called = Evaluate(*call.children[0]);
  if (called.macro() == nullptr) Fail(node.line, "{% call %} of a value that is not a macro");
  Arguments arguments = ReadArguments(call);
  arguments.names.emplace_back(kCaller);
  arguments.values.push_back(Value::Macro(node.children[1].get()));
  callers_.push_back({node.children[1].get(), base_, scopes_.size()});
  const Value text = CallMacro(*called.macro(), arguments, node);
  callers_.pop_back();
  Write(*text.text(), node);
}

Value Renderer::Filtered(const Node& node, const Value& items) {
  Items kept;
  for (const Value& item : *items.list()) {
    Push();
    Assign(*node.children[4], item);
    if (Evaluate(*node.children[2]).IsTrue()) kept.push_back(item);
    Pop();
  }
  return Value::List(std::move(kept), AtNode(node));
}

Renderer::Flow Renderer::For(const Node& node) {
  Value items = ItemsOf(Evaluate(*node.children[0]), AtNode(node));
  if (node.children[2]) items = Filtered(node, items);
  const size_t count = items.list()->size();
  if (count == 0) return node.children[3] ? Execute(*node.children[3]) : Flow::kOn;
  const auto loop = std::make_shared<Loop>(Loop{items, 0});
  const LoopEnd end(loop.get());
  for (size_t i = 0; i < count; ++i) {
    loop->index = i;
    Push();
    Name("loop", Value::Of(loop), node.line);
    Assign(*node.children[4], (*items.list())[i]);
    const Flow flow = Execute(*node.children[1]);
    Pop();
    if (flow == Flow::kBreak) break;
  }
  return Flow::kOn;
}

std::string Render(const Node& root, const nlohmann::ordered_json& variables,
                   const std::string& date) {
  return Renderer(variables, date).Run(root);
}

}  // namespace midscope::jinja
