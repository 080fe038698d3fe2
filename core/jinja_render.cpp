// SPDX-License-Identifier: MIT
#include <map>
#include <optional>
#include <utility>

#include "core/chat_options.h"
#include "core/error.h"
#include "core/jinja.h"
#include "core/utf8.h"

namespace midscope::jinja {
namespace {

// A template that goes on longer than this is not one for a conversation.
constexpr int64_t kMaxSteps = 20'000'000;
constexpr size_t kMaxText = size_t{256} << 20;
constexpr int kMaxDepth = 60;  // of macros

const Value undefined_value(Value::value_t::discarded);

class Renderer {
 public:
  Renderer(Value variables, std::string date) : date_(std::move(date)) {
    scopes_.push_back(std::move(variables));
  }

  std::string Run(const Node& root) {
    Execute(root);
    return std::move(out_);
  }

 private:
  enum class Flow : uint8_t { kOn, kBreak, kContinue };

  void Count(const Node& node) {
    if (++steps_ > kMaxSteps || out_.size() > kMaxText) Fail(node.line, "a text without an end");
  }

  Flow Execute(const Node& node) {
    Count(node);
    switch (node.kind) {
      case Kind::kText:
        out_ += node.text;
        return Flow::kOn;
      case Kind::kPrint:
        out_ += ToText(Evaluate(*node.children[0]), node.line);
        return Flow::kOn;
      case Kind::kBlock:
        for (const NodePtr& child : node.children) {
          const Flow flow = Execute(*child);
          if (flow != Flow::kOn) return flow;
        }
        return Flow::kOn;
      case Kind::kIf:
        if (IsTrue(Evaluate(*node.children[0]))) return Execute(*node.children[1]);
        return node.children[2] ? Execute(*node.children[2]) : Flow::kOn;
      case Kind::kFor:
        For(node);
        return Flow::kOn;
      case Kind::kSet:
        Set(node);
        return Flow::kOn;
      case Kind::kMacro:
        macros_[node.text] = &node;
        return Flow::kOn;
      case Kind::kBreak:
        return Flow::kBreak;
      case Kind::kContinue:
        return Flow::kContinue;
      default:
        throw std::logic_error("an expression where a statement is");
    }
  }

  void Set(const Node& node) {
    Value value = Evaluate(*node.children[0]);
    if (node.names.size() == 1) {
      scopes_.back()[node.names[0]] = std::move(value);
      return;
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(node.names[0]);
      if (found == scope->end()) continue;
      if (!found->is_object()) break;
      (*found)[node.names[1]] = std::move(value);
      return;
    }
    Fail(node.line, "setting a part of " + Quote(node.names[0]));
  }

  // What a loop runs over.
  static Value Items(const Value& list, size_t line) {
    if (list.is_array()) return list;
    Value items = Value::array();
    if (IsUndefined(list)) return items;
    if (!list.is_object()) Fail(line, "a loop over what is no list");
    for (const auto& [key, value] : list.items()) items.push_back(key);
    return items;
  }

  void Bind(const Node& node, const Value& item) {
    Value& scope = scopes_.back();
    if (node.names.size() == 1) {
      scope[node.names[0]] = item;
      return;
    }
    if (!item.is_array() || item.size() != node.names.size())
      Fail(node.line, "a loop over parts of another number");
    for (size_t i = 0; i < node.names.size(); ++i) scope[node.names[i]] = item[i];
  }

  void For(const Node& node) {
    Value items = Items(Evaluate(*node.children[0]), node.line);
    if (node.children.size() == 3) {
      Value kept = Value::array();
      for (const Value& item : items) {
        scopes_.push_back(Value::object());
        Bind(node, item);
        if (IsTrue(Evaluate(*node.children[2]))) kept.push_back(item);
        scopes_.pop_back();
      }
      items = std::move(kept);
    }
    const size_t count = items.size();
    for (size_t i = 0; i < count; ++i) {
      scopes_.push_back(Value::object());
      Bind(node, items[i]);
      Value loop = {{"index", i + 1},
                    {"index0", i},
                    {"first", i == 0},
                    {"last", i + 1 == count},
                    {"length", count},
                    {"revindex", count - i},
                    {"revindex0", count - i - 1}};
      if (i > 0) loop["previtem"] = items[i - 1];
      if (i + 1 < count) loop["nextitem"] = items[i + 1];
      scopes_.back()["loop"] = std::move(loop);
      const Flow flow = Execute(*node.children[1]);
      scopes_.pop_back();
      if (flow == Flow::kBreak) break;
    }
  }

  Value Evaluate(const Node& node) {
    Count(node);
    switch (node.kind) {
      case Kind::kLiteral:
        return node.value;
      case Kind::kName:
        return Lookup(node.text);
      case Kind::kAttribute:
        return ItemOf(Evaluate(*node.children[0]), node.text, node.line);
      case Kind::kIndex:
        return ItemOf(Evaluate(*node.children[0]), Evaluate(*node.children[1]), node.line);
      case Kind::kSlice:
        return SliceOf(Evaluate(*node.children[0]), Optional(node.children[1]),
                       Optional(node.children[2]), Optional(node.children[3]), node.line);
      case Kind::kCall:
        return Call(node);
      case Kind::kFilter: {
        const Value value = Evaluate(*node.children[0]);
        return ApplyFilter(node.text, value, ReadArguments(node));
      }
      case Kind::kTest: {
        const Value value = Evaluate(*node.children[0]);
        return ApplyTest(node.text, value, ReadArguments(node));
      }
      case Kind::kBinary:
        return Binary(node);
      case Kind::kNot:
        return !IsTrue(Evaluate(*node.children[0]));
      case Kind::kNegate:
        return ApplyOperator("-", 0, Evaluate(*node.children[0]), node.line);
      case Kind::kChoice:
        if (IsTrue(Evaluate(*node.children[1]))) return Evaluate(*node.children[0]);
        return node.children[2] ? Evaluate(*node.children[2]) : undefined_value;
      case Kind::kList: {
        Value list = Value::array();
        for (const NodePtr& child : node.children) list.push_back(Evaluate(*child));
        return list;
      }
      case Kind::kDict:
        return Dict(node);
      default:
        throw std::logic_error("a statement where an expression is");
    }
  }

  Value Optional(const NodePtr& node) { return node ? Evaluate(*node) : Value(nullptr); }

  Value Dict(const Node& node) {
    Value dict = Value::object();
    for (size_t i = 0; i + 1 < node.children.size(); i += 2)
      dict[ToText(Evaluate(*node.children[i]), node.line)] = Evaluate(*node.children[i + 1]);
    return dict;
  }

  Value Lookup(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return *found;
    }
    if (name == "strftime_now") return true;  // templates ask whether it is defined
    return undefined_value;
  }

  Value Binary(const Node& node) {
    Value left = Evaluate(*node.children[0]);
    if (node.text == "or") return IsTrue(left) ? left : Evaluate(*node.children[1]);
    if (node.text == "and") return IsTrue(left) ? Evaluate(*node.children[1]) : left;
    return ApplyOperator(node.text, left, Evaluate(*node.children[1]), node.line);
  }

  Arguments ReadArguments(const Node& node) {
    Arguments arguments{{}, node.names, node.line};
    for (size_t i = 1; i < node.children.size(); ++i)
      arguments.values.push_back(Evaluate(*node.children[i]));
    return arguments;
  }

  Value Call(const Node& node) {
    const Node& callee = *node.children[0];
    if (callee.kind == Kind::kAttribute) {
      const Value value = Evaluate(*callee.children[0]);
      return CallMethod(callee.text, value, ReadArguments(node));
    }
    if (callee.kind != Kind::kName) Fail(node.line, "calling what is no function");
    const Arguments arguments = ReadArguments(node);
    const auto macro = macros_.find(callee.text);
    if (macro != macros_.end()) return CallMacro(*macro->second, arguments);
    if (callee.text == "raise_exception") {
      const std::string said =
          arguments.values.empty() ? "" : ToText(arguments.values[0], node.line);
      throw Failure("chat template", "it refuses this conversation: " + said);
    }
    if (callee.text == "strftime_now" && arguments.values.size() == 1 &&
        arguments.values[0].is_string())
      return FormatChatDate(date_, arguments.values[0].get_ref<const std::string&>());
    if (callee.text == "namespace" && arguments.values.size() == arguments.names.size()) {
      Value made = Value::object();
      for (size_t i = 0; i < arguments.values.size(); ++i)
        made[arguments.names[i]] = arguments.values[i];
      return made;
    }
    Fail(node.line, "the function " + Quote(callee.text));
  }

  Value CallMacro(const Node& macro, const Arguments& arguments) {
    const size_t given = arguments.values.size() - arguments.names.size();
    if (given > macro.names.size() || ++depth_ > kMaxDepth)
      Fail(arguments.line, "this call of " + Quote(macro.text));
    Value scope = Value::object();
    for (size_t i = 0; i < macro.names.size(); ++i) {
      const NodePtr& otherwise = macro.children[i + 1];
      scope[macro.names[i]] = i < given   ? arguments.values[i]
                              : otherwise ? Evaluate(*otherwise)
                                          : undefined_value;
    }
    for (size_t i = 0; i < arguments.names.size(); ++i) {
      if (!scope.contains(arguments.names[i]))
        Fail(arguments.line, "the argument " + Quote(arguments.names[i]));
      scope[arguments.names[i]] = arguments.values[given + i];
    }
    // A macro sees what is set at the top, not where it is called.
    std::vector<Value> scopes = {scopes_.front(), std::move(scope)};
    std::swap(scopes, scopes_);
    std::string text;
    std::swap(text, out_);
    Execute(*macro.children[0]);
    std::swap(text, out_);
    std::swap(scopes, scopes_);
    --depth_;
    return text;
  }

  std::vector<Value> scopes_;  // innermost last
  std::map<std::string, const Node*> macros_;
  std::string date_;
  std::string out_;
  int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string Render(const Node& root, Value variables, const std::string& date) {
  return Renderer(std::move(variables), date).Run(root);
}

}  // namespace midscope::jinja
