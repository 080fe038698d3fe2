// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/utf8.h"
#include "core/chat/jinja_renderer.h"
#include "kernels/check.h"

namespace midscope::jinja {
namespace {

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Value Renderer::Evaluate(const Node& node) {
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
    case Kind::kCompare:
      return Comparisons(node);
    case Kind::kBody:
      return Capture(*node.children[0], node);
    case Kind::kNot:
      return Value::Of(!Evaluate(*node.children[0]).IsTrue());
    case Kind::kNegate:
    case Kind::kPlus:
      return ApplyOperator(node.kind == Kind::kPlus ? "+" : "-", Value::Of(int64_t{0}),
                           Evaluate(*node.children[0]), AtNode(node));
    case Kind::kChoice:
      if (Evaluate(*node.children[1]).IsTrue()) return Evaluate(*node.children[0]);
      return node.children[2] ? Evaluate(*node.children[2]) : Value();
    case Kind::kList:
    case Kind::kTuple:
      return ListOf(node);
    case Kind::kDict:
      return Dict(node);
    default:
      MIDSCOPE_BUG("a statement where an expression is");
  }
}

Value Renderer::Attribute(const Node& node) {
  const Value value = Evaluate(*node.children[0]);
  if (IsMethod(value, node.text)) Fail(node.line, "a method that is not called");
  return ItemOf(value, Value::Text(node.text), AtNode(node));
}

Value Renderer::Index(const Node& node) {
  const Value value = Evaluate(*node.children[0]);
  return ItemOf(value, Evaluate(*node.children[1]), AtNode(node));
}

Value Renderer::Slice(const Node& node) {
  const auto bound = [&](size_t i) {
    return node.children[i] ? Evaluate(*node.children[i]) : Value::None();
  };
  const Value value = Evaluate(*node.children[0]);
  const Value begin = bound(1);
  const Value end = bound(2);
  return SliceOf(value, begin, end, bound(3), AtNode(node));
}

Value Renderer::FilterOf(const Node& node) {
  const Value value = Evaluate(*node.children[0]);
  return ApplyFilter(node.text, value, ReadArguments(node), AtNode(node));
}

Value Renderer::TestOf(const Node& node) {
  const Value value = Evaluate(*node.children[0]);
  return Value::Of(ApplyTest(node.text, value, ReadArguments(node), AtNode(node)));
}

Value Renderer::ListOf(const Node& node) {
  Items items;
  for (const NodePtr& child : node.children) items.push_back(Evaluate(*child));
  return Value::List(std::move(items), AtNode(node),
                     node.kind == Kind::kTuple ? Form::kTuple : Form::kList);
}

Value Renderer::Dict(const Node& node) {
  Entries entries;
  for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const Value key = Evaluate(*node.children[i]);
    const bool number = key.integer() != nullptr;
    if (key.text() == nullptr && !number)
      Fail(node.line, "a key that is neither a string nor an integer");
    if (i > 0 && number != entries.keys_are_numbers())
      Fail(node.line, "texts and numbers as keys of one mapping");
    if (number) entries.SetKeysAreNumbers();
    entries.Set(number ? std::to_string(*key.integer()) : *key.text(),
                Evaluate(*node.children[i + 1]));
  }
  return Value::Mapping(std::move(entries), AtNode(node));
}

const Value* Renderer::Lookup(const std::string& name, const Node& node) {
  for (size_t i = scopes_.size(); i-- > base_;) {
    budget_.Step(node.line);
    const auto found = scopes_[i].find(name);
    if (found != scopes_[i].end()) return &found->second;
  }
  const auto found = scopes_.front().find(name);
  return found == scopes_.front().end() ? nullptr : &found->second;
}

Value Renderer::Binary(const Node& node) {
  Value left = Evaluate(*node.children[0]);
  if (node.text == "or") return left.IsTrue() ? left : Evaluate(*node.children[1]);
  if (node.text == "and") return left.IsTrue() ? Evaluate(*node.children[1]) : left;
  return ApplyOperator(node.text, left, Evaluate(*node.children[1]), AtNode(node));
}

Value Renderer::Comparisons(const Node& node) {
  Value left = Evaluate(*node.children[0]);
  for (size_t i = 0; i < node.names.size(); ++i) {
    Value right = Evaluate(*node.children[i + 1]);
    if (!ApplyOperator(node.names[i], left, right, AtNode(node)).IsTrue()) return Value::Of(false);
    left = std::move(right);
  }
  return Value::Of(true);
}

Arguments Renderer::ReadArguments(const Node& node) {
  Arguments arguments;
  Items named;
  for (size_t i = 1; i < node.children.size(); ++i) {
    const Node& child = *node.children[i];
    const bool spread = child.kind == Kind::kSpread;
    const bool has_name = child.kind == Kind::kNamed;
    Value value = Evaluate(spread || has_name ? *child.children[0] : child);
    if (has_name) {
      arguments.names.push_back(child.text);
      named.push_back(std::move(value));
    } else if (!spread) {
      arguments.values.push_back(std::move(value));
    } else if (child.text == "*") {
      const Value items = ItemsOf(value, AtNode(child));
      for (const Value& item : *items.list()) arguments.values.push_back(item);
    } else {
      SpreadMapping(child, value, &arguments, &named);
    }
  }
  At at = AtNode(node);
  at.MakeItems(arguments.values.size() + named.size());
  std::move(named.begin(), named.end(), std::back_inserter(arguments.values));
  return arguments;
}

void Renderer::SpreadMapping(const Node& node, const Value& value, Arguments* arguments,
                             Items* named) {
  if (value.mapping() == nullptr || value.mapping()->keys_are_numbers())
    Fail(node.line, "** before a value that is not a mapping with string keys");
  for (const auto& [name, entry] : value.mapping()->all()) {
    const auto& names = arguments->names;
    if (std::find(names.begin(), names.end(), name) != names.end())
      Fail(node.line, "the argument " + Quote(name) + " given twice");
    arguments->names.push_back(name);
    named->push_back(entry);
  }
}

Value Renderer::Call(const Node& node) {
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
                                               : "calling a value that is not a function");
  }
  return CallFunction(*called.function(), arguments, {date_, spaces_}, AtNode(node));
}

Value Renderer::CallMacro(const Node& macro, const Arguments& arguments, const Node& node) {
  // Arguments beyond the macro's parameters, for macros that use varargs or kwargs.
  Items others;
  Entries others_named;
  Value caller;
  const size_t positional = arguments.positional();
  for (size_t i = macro.names.size(); i < positional; ++i) others.push_back(arguments.values[i]);
  if (!others.empty() && !Has(macro.specials, kVariableArguments))
    Fail(node.line, "this call of " + Quote(macro.text));
  for (size_t i = 0; i < arguments.names.size(); ++i) {
    const std::string& name = arguments.names[i];
    const auto parameter = std::find(macro.names.begin(), macro.names.end(), name);
    const bool is_other = parameter == macro.names.end();
    const bool taken =
        is_other ? Has(macro.specials, name == kCaller ? kCaller : kNamedArguments)
                 : parameter - macro.names.begin() >= static_cast<std::ptrdiff_t>(positional);
    if (!taken) Fail(node.line, "the argument " + Quote(name));
    const Value& value = arguments.values[positional + i];
    if (is_other && name == kCaller) caller = value;
    if (is_other && name != kCaller) others_named.Set(name, value);
  }
  // A macro sees the variables set at top level, but not those at its call. A {% call %} block sees
  // the variables around it.
  std::vector<Scope> hidden;
  const size_t base = std::exchange(base_, scopes_.size());
  if (macro.text.empty()) hidden = HideMacro(macro);
  Push();
  for (const std::string& special : macro.specials) {
    Name(special,
         special == kCaller              ? caller
         : special == kVariableArguments ? Value::List(others, AtNode(node), Form::kTuple)
                                         : Value::Mapping(others_named, AtNode(node)),
         node.line);
  }
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
  std::move(hidden.begin(), hidden.end(), std::back_inserter(scopes_));
  base_ = base;
  return text;
}

std::vector<Renderer::Scope> Renderer::HideMacro(const Node& block) {
  const auto caller = std::find_if(callers_.rbegin(), callers_.rend(),
                                   [&](const Caller& other) { return other.node == &block; });
  if (caller == callers_.rend()) Fail(block.line, "caller() where its block has ended");
  base_ = caller->base;
  const auto end = scopes_.begin() + static_cast<std::ptrdiff_t>(caller->end);
  std::vector<Scope> hidden(std::make_move_iterator(end), std::make_move_iterator(scopes_.end()));
  scopes_.erase(end, scopes_.end());
  return hidden;
}

}  // namespace midscope::jinja
