// SPDX-License-Identifier: MIT
// The part of the template language Jinja (jinja.palletsprojects.com, 3.1) that chat templates are
// written in, with the settings of transformers (trim_blocks, lstrip_blocks). Any other syntax is
// an Error, never left out; so is a template beyond the limits of jinja_limits.h.
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

// A part of an expression or a statement. The contents of the members depend on the kind:
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
  int height = 1;  // of the tree below
  std::string text;
  std::vector<std::string> names;
  // kMacro: those of caller, varargs and kwargs that its body uses.
  std::vector<std::string> specials;
  Value value;
  std::vector<NodePtr> children;
};

// Throws Error with the line and what is not understood there.
NodePtr Parse(std::string_view source);

// The text that the template makes of `variables` (an object) on `date` (YYYY-MM-DD). Throws Error:
// what the template raises itself, an unknown filter, test, function or method, an operation on
// values that do not have it, a limit.
std::string Render(const Node& root, const nlohmann::ordered_json& variables,
                   const std::string& date);

// The error of a template, said the same way everywhere.
[[noreturn]] void Fail(size_t line, const std::string& reason);

}  // namespace midscope::jinja
