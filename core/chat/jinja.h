// SPDX-License-Identifier: MIT
// An interpreter of the part of the template language Jinja (jinja.palletsprojects.com, 3.1) that
// chat templates use, with the settings of transformers (trim_blocks, lstrip_blocks). Any other
// syntax is an Error and never ignored; so is a template that exceeds the limits of jinja_limits.h.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/chat/jinja_value.h"

namespace midscope::jinja {

struct Node;
using NodePtr = std::unique_ptr<Node>;

// A node of the syntax tree: a part of an expression or a statement. The contents of the members
// depend on the kind:
// clang-format off
//   kText: text. kPrint: [expression]. kIf: [condition, then, otherwise or null].
//   kFor: [list, body, condition or null, otherwise or null, target].
//   kSet: [value, target]. kWith: [body, value, target, value, target, ...].
//   Targets are a kName, a kAttribute of a kName, or a kTuple of targets.
//   kMacro: text (name), names (parameters), [body, default of each parameter or null].
//   kCallBlock: [kCall, kMacro without a name]. kBlock: statements. kBreak, kContinue.
//   kLiteral: value. kName, kAttribute [of]: text. kIndex: [of, index]. kSlice: [of, begin, end,
//   step] (null: left out). kCall: [callee, arguments...]. kFilter, kTest: text, [value,
//   arguments...]. Arguments may be kNamed: text (name), [value], or kSpread: text ("*" or "**"),
//   [value]. kBinary: text (operator), [left, right]. kCompare: names (operators), [values...].
//   kNot, kNegate, kPlus: [value]. kChoice: [value, condition, otherwise or null]. kList, kTuple:
//   elements. kDict: key, value, key, value, ... kBody: [block]: the text that a block writes.
// clang-format on
enum class Kind : uint8_t {
  kText,
  kPrint,
  kIf,
  kFor,
  kSet,
  kWith,
  kMacro,
  kCallBlock,
  kBlock,
  kBreak,
  kContinue,
  kLiteral,
  kName,
  kAttribute,
  kIndex,
  kSlice,
  kCall,
  kFilter,
  kTest,
  kNamed,
  kSpread,
  kBinary,
  kCompare,
  kNot,
  kNegate,
  kPlus,
  kChoice,
  kList,
  kTuple,
  kDict,
  kBody
};

struct Node {
  Kind kind = Kind::kBlock;
  size_t line = 1;
  int height = 1;  // height of the subtree
  std::string text;
  std::vector<std::string> names;
  // For kMacro: which of caller, varargs and kwargs its body uses.
  std::vector<std::string> specials;
  Value value;
  std::vector<NodePtr> children;
};

// Throws Error with the line and the unsupported syntax.
NodePtr Parse(std::string_view source);

// Renders the template with `variables` (an object) and `date` (YYYY-MM-DD). Throws Error if the
// template itself raises one, for an unknown filter, test, function or method, for an operation
// that its values do not support, and for an exceeded limit.
std::string Render(const Node& root, const nlohmann::ordered_json& variables,
                   const std::string& date);

// Throws the error of a template, in one wording for all callers.
[[noreturn]] void Fail(size_t line, const std::string& reason);

}  // namespace midscope::jinja
