// SPDX-License-Identifier: MIT
// The description of a term that is parsed into a value of type T and printed from it. Each
// argument's description is bound to the member of T that holds its value. Internal to core.
//
// clang-format off
//   NumberArgument<&Ntk::factor>       a number (an integer where the member is)
//   NumberOrWordArgument<&Yarn::context>   a number, or a word that means 0
//   ChoiceArgument<&Yarn::form>        one of the choices: an enum, or a bool (no, yes)
//   LayersArgument<Crop>               the member `layers`: all, 8-25, [2-8,12]
//   RowsArgument<Move>                 the member `rows`: answer, last, last:16, all
//   SpanArgument<Crop>                 the member `span`: a passage's name, 400:600
//   HeadsArgument<Ablation>            the member `heads`: L12H3, [L12H3,L14G0], all, file:NAME
//   HeadSetArgument<Boost>             as above, where the default is all
//   ChosenRowsArgument<&Set::rows>     question, 400:600, last, answer, last:N, all
// clang-format on
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/intervention/intervention_grammar.h"
#include "core/intervention/intervention_values.h"
#include "core/intervention/term_type.h"

namespace midscope {

template <typename T>
struct BoundArgument {
  Parameter described;
  // Parses the argument into its member of `value`. Throws Error (usage) with the column.
  void (*read)(T& value, const TextArgument& argument, const Parameter& described);
  // Returns the argument's value as text; "" if the printed term omits the argument.
  std::string (*print)(const T& value, const Parameter& described);
};

template <typename T>
struct TermForm {
  std::string name;
  std::string summary;
  std::string source = {};
  std::vector<BoundArgument<T>> arguments = {};
  size_t bare_arguments = 0;
  std::string correct_example = {};  // a term with all required arguments, for errors
  std::vector<std::string> examples = {};
  std::string small_example = {};  // a term for a small model; if "", the first of the examples
  // Parses the term, for terms that check more than each argument on its own; if null,
  // ReadArguments is used. Throws Error (usage).
  T (*read)(const TextTerm& term, const TermForm& form) = nullptr;
};

// Returns `argument`, marked as required.
template <typename T>
BoundArgument<T> RequiredArgument(BoundArgument<T> argument) {
  argument.described.required = true;
  return argument;
}

template <typename T>
TermType Describe(const TermForm<T>& form) {
  TermType term{form.name,           form.summary,  form.source,       {},
                form.bare_arguments, form.examples, form.small_example};
  if (term.small_example.empty() && !term.examples.empty())
    term.small_example = term.examples.front();
  term.arguments.reserve(form.arguments.size());
  for (const auto& argument : form.arguments) term.arguments.push_back(argument.described);
  return term;
}

// Returns the term's value; arguments that are not given keep their default.
template <typename T>
T ReadArguments(const TextTerm& term, const TermForm<T>& form) {
  T value;
  for (const TextArgument& argument : term.arguments) {
    for (const BoundArgument<T>& bound : form.arguments) {
      if (bound.described.name == argument.name) bound.read(value, argument, bound.described);
    }
  }
  return value;
}

template <typename T>
T ReadTerm(const TextTerm& term, const TermForm<T>& form) {
  RequireArguments(term, form.correct_example);
  return form.read ? form.read(term, form) : ReadArguments(term, form);
}

template <typename T>
std::string PrintTerm(const T& value, const TermForm<T>& form) {
  std::string arguments;
  for (size_t i = 0; i < form.arguments.size(); ++i) {
    const Parameter& described = form.arguments[i].described;
    const std::string text = form.arguments[i].print(value, described);
    if (text.empty()) continue;
    if (!arguments.empty()) arguments += ", ";
    arguments += i < form.bare_arguments ? text : described.name + "=" + text;
  }
  return arguments.empty() ? form.name : form.name + "(" + arguments + ")";
}

namespace term_form {

template <typename M>
struct MemberTypes;
template <typename T, typename V>
struct MemberTypes<V T::*> {
  using Class = T;
  using Value = V;
};
template <auto kMember>
using ClassOf = typename MemberTypes<decltype(kMember)>::Class;
template <auto kMember>
using ValueOf = typename MemberTypes<decltype(kMember)>::Value;

}  // namespace term_form

template <auto kMember>
std::string MemberText(const term_form::ClassOf<kMember>& value) {
  if constexpr (std::is_integral_v<term_form::ValueOf<kMember>>) {
    return ParameterText(static_cast<int64_t>(value.*kMember));
  } else {
    return ParameterText(static_cast<double>(value.*kMember));
  }
}

// The smallest and the largest accepted value of a number argument.
struct Limits {
  double minimum = 0;
  double maximum = 0;
};

// Describes a number parameter: an integer if T is an integer.
template <typename T>
Parameter DescribedNumber(const std::string& name, const std::string& help, Limits limits,
                          std::optional<double> by_default = {}, const std::string& unit = "") {
  Parameter described = NumberParameter(name, help, limits.minimum, limits.maximum, by_default);
  described.unit = unit;
  if constexpr (std::is_integral_v<T>) {
    described.kind = ParameterKind::kWholeNumber;
    if (by_default) described.default_value = static_cast<int64_t>(*by_default);
  }
  return described;
}

template <auto kMember>
BoundArgument<term_form::ClassOf<kMember>> NumberArgument(const std::string& name,
                                                          const std::string& help, Limits limits,
                                                          std::optional<double> by_default,
                                                          const std::string& unit = "") {
  return {DescribedNumber<term_form::ValueOf<kMember>>(name, help, limits, by_default, unit),
          [](auto& value, const auto& argument, const auto& described) {
            value.*kMember = Number<term_form::ValueOf<kMember>>(OnlyValue(argument), described);
          },
          [](const auto& value, const auto&) { return MemberText<kMember>(value); }};
}

// Returns the number argument with a slider from `first` to `last` in forms.
template <typename T>
BoundArgument<T> WithSlider(BoundArgument<T> number, double first, double last) {
  number.described.slider = {first, last};
  return number;
}

// An argument that is a number or the word `word`, which means 0 and is the default.
template <auto kMember>
BoundArgument<term_form::ClassOf<kMember>> NumberOrWordArgument(const std::string& name,
                                                                const std::string& help,
                                                                const std::string& word,
                                                                Limits limits,
                                                                const std::string& unit = "") {
  Parameter parameter = DescribedNumber<term_form::ValueOf<kMember>>(name, help, limits, {}, unit);
  parameter.choices = {word};
  parameter.default_value = word;
  return {std::move(parameter),
          [](auto& value, const auto& argument, const auto& described) {
            const TextAtom& atom = OnlyValue(argument);
            const bool is_word = atom.text == described.choices.front();
            value.*kMember = is_word ? 0 : Number<term_form::ValueOf<kMember>>(atom, described);
          },
          [](const auto& value, const auto& described) {
            return value.*kMember == 0 ? described.choices.front() : MemberText<kMember>(value);
          }};
}

// An argument that is one of the choices. The default is the first choice.
template <auto kMember>
BoundArgument<term_form::ClassOf<kMember>> ChoiceArgument(const std::string& name,
                                                          const std::string& help,
                                                          const std::vector<std::string>& choices) {
  return {ChoiceParameter(name, help, choices),
          [](auto& value, const auto& argument, const auto& described) {
            value.*kMember =
                static_cast<term_form::ValueOf<kMember>>(Choice(OnlyValue(argument), described));
          },
          [](const auto& value, const auto& described) {
            return described.choices.at(static_cast<size_t>(value.*kMember));
          }};
}

// The help text for an argument that selects the layers to change.
inline constexpr const char* kLayersHelp = "Layers that are changed: all, 8-25 or [2-8,12].";

// Describes the argument `layers`; `by_default` is "" if there is no default.
Parameter DescribedLayers(const std::string& help, const std::string& by_default);

template <typename T>
BoundArgument<T> LayersArgument(const std::string& help = kLayersHelp,
                                const std::string& by_default = "all") {
  return {DescribedLayers(help, by_default),
          [](T& value, const auto& argument, const auto&) { value.layers = ReadLayers(argument); },
          [](const T& value, const auto&) { return value.layers.Text(); }};
}

// Describes the argument `rows`. The meaning of the allowed words is appended to `help`.
Parameter DescribedRows(const std::string& help, const std::string& by_default);

template <typename T>
BoundArgument<T> RowsArgument(const std::string& help, const std::string& by_default) {
  return {DescribedRows(help, by_default),
          [](T& value, const auto& argument, const auto& described) {
            value.rows = ReadRows(argument, described);
          },
          [](const T& value, const auto& described) { return RowsText(value.rows, described); }};
}

Parameter DescribedSpan();

template <typename T>
BoundArgument<T> SpanArgument() {
  return {DescribedSpan(),
          [](T& value, const auto& argument, const auto&) { value.span = ReadSpan(argument); },
          [](const T& value, const auto&) { return SpanText(value.span); }};
}

Parameter DescribedHeads();

template <typename T>
BoundArgument<T> HeadsArgument() {
  return {DescribedHeads(),
          [](T& value, const auto& argument, const auto&) { value.heads = ReadHeads(argument); },
          [](const T& value, const auto&) { return HeadsText(value.heads); }};
}

// Describes the argument `heads`. The default is all; it is not printed.
Parameter DescribedHeadSet(const std::string& help);

template <typename T>
BoundArgument<T> HeadSetArgument(const std::string& help) {
  return {DescribedHeadSet(help),
          [](T& value, const auto& argument, const auto&) { value.heads = ReadHeads(argument); },
          [](const T& value, const auto&) {
            const bool all = value.heads == std::vector<HeadName>{HeadName::All()};
            return all ? std::string() : HeadsText(value.heads);
          }};
}

// The arguments `file` and `digest` of a term that names a file. The term's own reader reads both,
// because the digest can only be compared once the numbers are known. Internal to core.
//
//   TwoNumbers Read(const TextTerm& term, const TermForm<TwoNumbers>& form) {
//     TwoNumbers value = ReadTermFile(term, ReadTwoNumbers);
//     CheckDigest(term, "numbers", DigestOf(value));
//     return value;
//   }

// Describes the argument `file`. `help` describes the file's contents, without a full stop; a note
// on quoting the file's name is appended.
Parameter DescribedTermFile(const std::string& help);

// Returns the file's name as a printed term states it: in quotation marks if it is not one word.
std::string TermFileText(const std::string& file);

// The argument `file`, bound to the member `file`. The term's own reader sets the member.
template <typename T>
BoundArgument<T> TermFileArgument(const std::string& help) {
  return {DescribedTermFile(help), [](T&, const TextArgument&, const Parameter&) {},
          [](const T& value, const Parameter&) { return TermFileText(value.file); }};
}

inline constexpr const char* kDigestHelp =
    "Of the numbers in the file, as printed forms state it: a file that has changed since is "
    "refused. Leave it out to take the file as it is.";

// The argument `digest`. kDigest: a function std::string(const T&) that returns the digest of a
// value's numbers.
template <typename T, auto kDigest>
BoundArgument<T> DigestArgument(const std::string& help = kDigestHelp) {
  return {TextParameter("digest", help), [](T&, const TextArgument&, const Parameter&) {},
          [](const T& value, const Parameter&) { return kDigest(value); }};
}

// Returns read(name of the term's file). Rethrows its Error with the column of the name.
template <typename Read>
auto ReadTermFile(const TextTerm& term, Read read) {
  const TextAtom& file = OnlyValue(*Find(term, "file"));
  try {
    return read(file.text);
  } catch (const Error& error) {
    throw ErrorAt(file.column, error.what());
  }
}

// Throws Error (usage) if the term states a digest that differs from `now`. `what`: plural noun for
// the numbers, for the message.
void CheckDigest(const TextTerm& term, const std::string& what, const std::string& now);

// Describes an argument without a default that chooses rows by rule or as a passage: question,
// 400:600, last, answer, last:N, all. The possible values are appended to `help`.
Parameter DescribedChosenRows(const std::string& name, const std::string& help);

// Parses an argument that DescribedChosenRows describes. Throws Error (usage) if it is not valid.
ChosenRows ReadChosenRows(const TextArgument& argument);
std::string ChosenRowsText(const ChosenRows& rows);

void ResolveRows(ChosenRows& rows, const SpanResolver& resolver);

template <auto kMember>
BoundArgument<term_form::ClassOf<kMember>> ChosenRowsArgument(const std::string& name,
                                                              const std::string& help) {
  return {DescribedChosenRows(name, help),
          [](auto& value, const TextArgument& argument, const Parameter&) {
            value.*kMember = ReadChosenRows(argument);
          },
          [](const auto& value, const Parameter&) { return ChosenRowsText(value.*kMember); }};
}

}  // namespace midscope
