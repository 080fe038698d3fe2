// SPDX-License-Identifier: MIT
// A position scheme as data: its term, how it is read and printed, what it does to attention plans
// and by what it stretches the context. One file in schemes/ each, which schemes/schemes.cpp lists.
// Parser, printer, help, `midscope info`, forms and tests go through the list.
//
// The list is declared here and defined in schemes/, which lies above plan/: the text form needs
// the terms, and the schemes need plans.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/intervention/intervention.h"
#include "core/intervention/intervention_text.h"
#include "core/intervention/scheme_rows.h"
#include "core/intervention/term_form.h"
#include "core/model/model_config.h"

namespace midscope {

struct SchemePlans;  // plan/scheme_plans.h

enum class SchemeKind {
  kOther,
  kDividesPositions,     // composes with the model's own frequencies
  kReplacesFrequencies,  // of layers with the model's global frequencies, base and scaling included
};

struct SchemeType {
  Term term;
  SchemeKind kind = SchemeKind::kOther;
  bool needs_rotation = true;  // refused, by name, for models without rotary positions
  // Has the argument `rows`, which scheme_rows.h describes, reads and prints for every scheme.
  bool chooses_rows = true;

  bool (*holds)(const PositionScheme& scheme) = nullptr;  // whether it is of this type
  // Throws Error (usage) with the column.
  std::function<PositionScheme(const TextTerm& term)> read;
  // The term with every argument.
  std::function<std::string(const PositionScheme& scheme)> print;
  // Changes the plans of a model that is left alone. Throws Error (usage) where it cannot apply.
  std::function<void(const PositionScheme& scheme, const SchemePlans& plans)> apply;
  // By what it multiplies the trained context; infinite where it follows the sequence.
  std::function<double(const PositionScheme& scheme, const ModelConfig& config)> stretch;
  // A value that fits the model, where term.small_example needs a file; null otherwise.
  PositionScheme (*sample)(const ModelConfig& config) = nullptr;
};

// In the order in which help lists them; `none` first.
const std::vector<SchemeType>& SchemeTypes();

// Throws std::logic_error for a value of no listed type.
const SchemeType& SchemeTypeOf(const PositionScheme& scheme);

// Null where no scheme has this term.
const SchemeType* FindScheme(std::string_view term);

// What makes the type of a scheme with values of type T, which may be any copyable type with
// operator==.

template <typename T, typename Variant>
inline constexpr bool kIsAlternative = false;
template <typename T, typename... Ts>
inline constexpr bool kIsAlternative<T, std::variant<Ts...>> = (std::is_same_v<T, Ts> || ...);

// Null where the scheme is another.
template <typename T>
const T* SchemeAs(const PositionScheme& scheme) {
  if constexpr (kIsAlternative<T, PositionScheme>) {
    return std::get_if<T>(&scheme);
  } else {
    const auto* own = std::get_if<OwnValue>(&scheme);
    return own ? own->As<T>() : nullptr;
  }
}

template <typename T>
PositionScheme SchemeOf(T value) {
  if constexpr (kIsAlternative<T, PositionScheme>) {
    return value;
  } else {
    return OwnValue::Of(std::move(value));
  }
}

struct SchemeTraits {
  SchemeKind kind = SchemeKind::kOther;
  bool needs_rotation = true;
  bool chooses_rows = true;
  PositionScheme (*sample)(const ModelConfig& config) = nullptr;
};

template <typename T>
SchemeType MakeScheme(TermForm<T> form, void (*apply)(const T& scheme, const SchemePlans& plans),
                      double (*stretch)(const T& scheme, const ModelConfig& config),
                      SchemeTraits traits = {}) {
  const auto shared = std::make_shared<const TermForm<T>>(std::move(form));
  SchemeType type;
  type.term = Describe(*shared);
  type.kind = traits.kind;
  type.needs_rotation = traits.needs_rotation;
  type.chooses_rows = traits.chooses_rows;
  if (type.chooses_rows) type.term.arguments.push_back(DescribedSchemeRows());
  type.sample = traits.sample;
  type.holds = [](const PositionScheme& scheme) { return SchemeAs<T>(scheme) != nullptr; };
  type.read = [shared](const TextTerm& term) { return SchemeOf<T>(ReadTerm(term, *shared)); };
  type.print = [shared](const PositionScheme& scheme) {
    return PrintTerm(*SchemeAs<T>(scheme), *shared);
  };
  type.apply = [apply](const PositionScheme& scheme, const SchemePlans& plans) {
    apply(*SchemeAs<T>(scheme), plans);
  };
  type.stretch = [stretch](const PositionScheme& scheme, const ModelConfig& config) {
    return stretch(*SchemeAs<T>(scheme), config);
  };
  return type;
}

}  // namespace midscope
