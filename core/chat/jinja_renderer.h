// SPDX-License-Identifier: MIT
// The implementation of Render() of jinja.h: statements (jinja_render.cpp), and expressions and
// calls (jinja_evaluate.cpp). Internal to core.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"

namespace midscope::jinja {

// Names that macros may use without declaring them.
inline constexpr std::string_view kCaller = "caller";
inline constexpr std::string_view kVariableArguments = "varargs";
inline constexpr std::string_view kNamedArguments = "kwargs";

class Renderer {
 public:
  Renderer(const nlohmann::ordered_json& variables, std::string date);

  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Clears the namespaces, which may refer to each other in a cycle or in a chain of any length.
  ~Renderer();

  std::string Run(const Node& root);

 private:
  enum class Flow : uint8_t { kOn, kBreak, kContinue };
  using Scope = std::unordered_map<std::string, Value>;

  // A guard that counts the nesting depth of nodes during evaluation.
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

  // A {% call %} block and the scopes that it sees.
  struct Caller {
    const Node* node;
    size_t base;
    size_t end;
  };

  At AtNode(const Node& node) { return {budget_, node.line}; }

  void Push() { scopes_.emplace_back(); }
  void Pop() {
    names_ -= scopes_.back().size();
    scopes_.pop_back();
  }

  void Name(const std::string& name, Value value, size_t line);

  void Write(std::string_view text, const Node& node);
  // The following functions execute the statements of a template.
  Flow Execute(const Node& node);
  void Print(const Node& node);
  // Returns the text that `body` outputs, as a value.
  Value Capture(const Node& body, const Node& node);
  void Assign(const Node& target, Value value);
  void SetAttribute(const Node& target, Value value);
  // Executes {% with %}: all values are evaluated before any name is set.
  Flow WithValues(const Node& node);
  // Executes {% call %}: the called macro gets the block as caller().
  void CallWithBlock(const Node& node);
  Value Filtered(const Node& node, const Value& items);
  Flow For(const Node& node);

  // The following functions evaluate expressions.
  Value Evaluate(const Node& node);
  Value Attribute(const Node& node);
  Value Index(const Node& node);
  Value Slice(const Node& node);
  Value FilterOf(const Node& node);
  Value TestOf(const Node& node);
  Value ListOf(const Node& node);
  Value Dict(const Node& node);
  // Returns the value of a variable; null if it does not exist. A macro sees its own variables and
  // those at top level.
  const Value* Lookup(const std::string& name, const Node& node);
  Value Binary(const Node& node);
  // Evaluates a < b <= c, up to the first comparison that is false.
  Value Comparisons(const Node& node);
  Arguments ReadArguments(const Node& node);
  void SpreadMapping(const Node& node, const Value& value, Arguments* arguments, Items* named);
  Value Call(const Node& node);
  Value CallMacro(const Node& macro, const Arguments& arguments, const Node& node);
  // Called before a {% call %} block runs: hides the scopes that were created after the block.
  std::vector<Scope> HideMacro(const Node& block);

  Budget budget_;
  std::vector<Scope> scopes_;  // innermost last
  std::vector<Caller> callers_;
  size_t base_ = 0;   // the first scope of the running macro
  size_t names_ = 0;  // number of names in all scopes
  std::vector<std::shared_ptr<Entries>> spaces_;
  std::string date_;
  std::string out_;
  int depth_ = 0;
};

}  // namespace midscope::jinja
