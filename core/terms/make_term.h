// SPDX-License-Identifier: MIT
// Makes a TermType from the description of the term's arguments (intervention/term_form.h) and
// functions that take its value. The value may have any copyable type with operator==. Internal to
// the folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/intervention/term_form.h"
#include "core/intervention/term_type.h"
#include "core/plan/term_plans.h"
#include "core/terms/terms.h"

namespace midscope {

// Replaces the member `span` by its tokens, if T has that member.
template <typename T>
void ResolveSpan(T& value, const SpanResolver& resolver) {
  if constexpr (requires { value.span = resolver.tokens(value.span); })
    value.span = resolver.tokens(value.span);
}

// TermType::stretch: returns the factor for which the base would be the NTK-aware one.
template <typename T>
double StretchOfBase(const T& scheme, const ModelConfig& config) {
  const auto d = static_cast<double>(config.rope_dimensions);
  return std::pow(scheme.base / config.rope_base, d > 2 ? (d - 2) / d : 1.0);
}

template <typename T>
struct TermTraits {
  TermStage stage = TermStage::kAfterPositions;
  // Parses one text into several values; if null, the text gives one value, read by the form.
  std::vector<T> (*read_all)(const TextTerm& text, const TermForm<T>& form) = nullptr;
  // Throws Error (usage) if `value` may not follow `before` in one intervention.
  void (*check)(const TextTerm& text, const T& before, const T& value) = nullptr;
  void (*resolve)(T& value, const SpanResolver& resolver) = ResolveSpan<T>;
  T (*sample)(const ModelConfig& config) = nullptr;
  bool (*changes_nothing)(const T& value) = nullptr;
  bool (*control)(Intervention& intervention, const ModelConfig& config,
                  SplitMix64& random) = nullptr;
};

template <typename T>
TermType MakeTerm(TermForm<T> form, void (*apply)(const T& value, const TermPlans& plans),
                  TermTraits<T> traits = {}) {
  const auto shared = std::make_shared<const TermForm<T>>(std::move(form));
  TermType type = Describe(*shared);
  type.value = typeid(T);
  type.stage = traits.stage;
  type.names_span =
      std::any_of(type.arguments.begin(), type.arguments.end(),
                  [](const Parameter& argument) { return argument.kind == ParameterKind::kSpan; });
  type.add = [shared, traits](const TextTerm& text, Intervention& intervention) {
    std::vector<T> added =
        traits.read_all ? traits.read_all(text, *shared) : std::vector<T>{ReadTerm(text, *shared)};
    for (T& value : added) {
      if (traits.check) {
        for (const T& before : intervention.All<T>()) traits.check(text, before, value);
      }
      intervention.Add(TermOf(std::move(value)));
    }
  };
  type.print = [shared](const Term& term) { return PrintTerm(*term.As<T>(), *shared); };
  type.resolve = [traits](const Term& term, const SpanResolver& resolver) {
    T value = *term.As<T>();
    traits.resolve(value, resolver);
    return Term(term.type(), std::move(value));
  };
  type.apply = [apply](const Term& term, const TermPlans& plans) { apply(*term.As<T>(), plans); };
  if (traits.changes_nothing) {
    type.changes_nothing = [traits](const Term& term) {
      return traits.changes_nothing(*term.As<T>());
    };
  }
  type.changes_early_rows = [](const Term& term) {
    if constexpr (requires(T value) { value.rows.last_rows; }) {
      const ChannelRows rows = term.As<T>()->rows.rows;
      return rows != ChannelRows::kAnswer && rows != ChannelRows::kLast;
    }
    return true;
  };
  type.control = traits.control;
  if (traits.sample) {
    type.sample = [traits](const ModelConfig& config) {
      Intervention intervention;
      intervention.Add(TermOf(traits.sample(config)));
      return intervention;
    };
  }
  return type;
}

template <typename T>
struct PositionTraits {
  SchemeKind kind = SchemeKind::kOther;
  bool needs_rotation = true;
  T (*sample)(const ModelConfig& config) = nullptr;
  bool (*changes_nothing)(const T& value) = nullptr;
  bool (*control)(Intervention& intervention, const ModelConfig& config,
                  SplitMix64& random) = nullptr;
};

// Upper bound (exclusive) of the seeds that random controls draw.
inline constexpr uint64_t kControlSeeds = 1000000;

// The argument `rows` of a position scheme: answer, last, last:16, all. The default is all, and is
// not printed.
template <typename T>
BoundArgument<T> PositionRowsArgument() {
  BoundArgument<T> rows = RowsArgument<T>(
      "Query rows that see the changed positions, their own and those of all keys; the others see "
      "the model's own.",
      "all");
  rows.print = [](const T& value, const Parameter& described) {
    const bool all = value.rows == RowChoice{ChannelRows::kAll};
    return all ? std::string() : RowsText(value.rows, described);
  };
  return rows;
}

// Makes the type of a position scheme. If T has a member `rows`, the term has that argument.
template <typename T>
TermType MakePositionTerm(TermForm<T> form, void (*apply)(const T& value, const TermPlans& plans),
                          double (*stretch)(const T& value, const ModelConfig& config),
                          PositionTraits<T> traits = {}) {
  if constexpr (requires(T value) { value.rows; })
    form.arguments.push_back(PositionRowsArgument<T>());
  TermType type = MakeTerm<T>(std::move(form), apply,
                              {.stage = TermStage::kPositions,
                               .sample = traits.sample,
                               .changes_nothing = traits.changes_nothing,
                               .control = traits.control});
  type.kind = traits.kind;
  type.needs_rotation = traits.needs_rotation;
  type.rows = [](const Term& term) {
    if constexpr (requires(T value) { value.rows; }) return term.As<T>()->rows;
    return RowChoice{ChannelRows::kAll};
  };
  if constexpr (requires(T value) { value.rows; }) {
    type.with_rows = [](const Term& term, const RowChoice& rows) {
      T value = *term.As<T>();
      value.rows = rows;
      return Term(term.type(), std::move(value));
    };
  }
  type.stretch = [stretch](const Term& term, const ModelConfig& config) {
    return stretch(*term.As<T>(), config);
  };
  return type;
}

}  // namespace midscope
