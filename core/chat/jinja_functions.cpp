// SPDX-License-Identifier: MIT
// The functions that every template can call.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/chat/chat_options.h"
#include "core/chat/jinja.h"
#include "core/chat/jinja_operations.h"
#include "kernels/check.h"

namespace midscope::jinja {
namespace {

[[noreturn]] void Refuse(const Arguments& arguments, const At& at) {
  std::string said = arguments.values.empty() ? "" : ToText(arguments.values[0], at);
  if (said.size() > 500) said = Quote(said, 500);
  throw Failure("chat template", "it refuses this conversation: " + DisplayText(said));
}

Value StrftimeNow(const Arguments& arguments, const std::string& date, const At& at) {
  if (arguments.values.size() != 1) Fail(at.line, "strftime_now() of this form");
  const std::string& format = TextOf(arguments.values[0], at);
  if (format.size() > 1000) FailLimit(at.line, 1000, "bytes in a date's format");
  return Value::Text(FormatChatDate(date, format), at);
}

// Of "dict" and "namespace", which take named arguments alone.
Entries NamedEntries(const Arguments& arguments, const char* function, const At& at) {
  if (arguments.positional() > 0) Fail(at.line, std::string(function) + "() of this form");
  Entries entries;
  for (size_t i = 0; i < arguments.values.size(); ++i)
    entries.Set(arguments.names[i], arguments.values[i]);
  return entries;
}

Value MakeNamespace(const Arguments& arguments, std::vector<std::shared_ptr<Entries>>& spaces,
                    const At& at) {
  auto entries = std::make_shared<Entries>(NamedEntries(arguments, "namespace", at));
  if (spaces.size() >= kMaxNames) FailLimit(at.line, kMaxNames, "namespaces");
  spaces.push_back(entries);
  return Value::Namespace(std::move(entries));
}

Value Range(const Arguments& arguments, const At& at) {
  const std::vector<Value>& given = arguments.values;
  if (given.empty() || given.size() > 3 || !arguments.names.empty())
    Fail(at.line, "range() of this form");
  const int64_t begin = given.size() > 1 ? WholeNumber(given[0], at) : 0;
  const int64_t end = WholeNumber(given[given.size() > 1 ? 1 : 0], at);
  const int64_t step = given.size() > 2 ? WholeNumber(given[2], at) : 1;
  if (step == 0) Fail(at.line, "range() with step 0");
  // As the sandbox of Jinja, which has the same limit.
  constexpr int64_t kMaxRange = 100'000;
  if (std::min(begin, end) < -kMaxRange || std::max(begin, end) > kMaxRange ||
      step > 2 * kMaxRange || step < -2 * kMaxRange) {
    FailLimit(at.line, kMaxRange, "numbers in range()");
  }
  Items items;
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) items.push_back(Value::Of(i));
  return Value::List(std::move(items), at, Form::kRange);
}

}  // namespace

const std::vector<std::pair<std::string_view, Function>>& Functions() {
  static const std::vector<std::pair<std::string_view, Function>> functions = {
      {"raise_exception", Function::kRaiseException},
      {"strftime_now", Function::kStrftimeNow},
      {"namespace", Function::kNamespace},
      {"range", Function::kRange},
      {"dict", Function::kDict}};
  return functions;
}

Value CallFunction(Function function, const Arguments& arguments, const Surroundings& surroundings,
                   const At& at) {
  switch (function) {
    case Function::kRaiseException:
      Refuse(arguments, at);
    case Function::kStrftimeNow:
      return StrftimeNow(arguments, surroundings.date, at);
    case Function::kNamespace:
      return MakeNamespace(arguments, surroundings.spaces, at);
    case Function::kRange:
      return Range(arguments, at);
    case Function::kDict:
      return Value::Mapping(NamedEntries(arguments, "dict", at), at);
  }
  MIDSCOPE_BUG("a function of templates that is not listed");
}

}  // namespace midscope::jinja
