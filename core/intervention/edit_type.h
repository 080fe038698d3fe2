// SPDX-License-Identifier: MIT
// An edit (channel scaling included) as data: its term, how it is read and printed, which passages
// it names and what it does to attention plans. One file in edits/ each, which edits/edits.cpp
// lists. Parser, printer, help, `midscope info`, forms and tests go through the list, which is
// declared here and defined above plan/, as that of schemes is (scheme_type.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/intervention/intervention.h"
#include "core/intervention/intervention_text.h"
#include "core/intervention/term_form.h"

namespace midscope {

struct EditPlans;  // plan/edit_plans.h
struct ModelConfig;

// Which tokens of a prompt the spans of edits stand for.
struct SpanResolver {
  // [begin, end) without a name. Throws Error (usage) where the prompt has none.
  std::function<TokenSpan(const TokenSpan& span)> tokens;
  // By how many positions a span without a name moves.
  std::function<int64_t(const Move& move)> shift;
};

struct EditType {
  Term term;
  bool names_span = false;      // an argument is a passage
  bool before_schemes = false;  // changes what position schemes find, such as windows

  // How many edits of this type the intervention has.
  std::function<size_t(const Intervention& intervention)> count;
  // Adds what the term says. Throws Error (usage) with the column.
  std::function<void(const TextTerm& term, Intervention& intervention)> add;
  // One text per edit, every argument stated.
  std::function<void(const Intervention& intervention, std::vector<std::string>& texts)> print;
  // Replaces names of passages by tokens.
  std::function<void(Intervention& intervention, const SpanResolver& resolver)> resolve;
  // Changes AttentionPlan::edits or residual (channel alone: row_override, for which traces keep
  // residuals).
  // Throws Error (usage) where one of the edits cannot apply.
  std::function<void(const Intervention& intervention, const EditPlans& plans)> apply;
  // A setting that fits the model, where term.small_example needs a file; empty otherwise.
  std::function<Intervention(const ModelConfig& config)> sample;
};

// In the order in which texts list them.
const std::vector<EditType>& EditTypes();

// Null where no edit has this term.
const EditType* FindEdit(std::string_view term);

// What makes the type of an edit with values of type T: a member of Intervention where one is
// given, else in Intervention::own_edits, for which T may be any copyable type with operator==.

template <typename T>
using EditList = std::vector<T> Intervention::*;

// Calls visit(edit) for each edit, in order. The list is null for values in own_edits.
template <typename T, typename Visit>
void ForEdits(const Intervention& intervention, EditList<T> list, const std::string& name,
              const Visit& visit) {
  if (list) {
    for (const T& edit : intervention.*list) visit(edit);
    return;
  }
  const auto own = intervention.own_edits.find(name);
  if (own == intervention.own_edits.end()) return;
  for (const OwnValue& value : own->second) visit(*value.As<T>());
}

// Calls change(edit) for each edit, in order.
template <typename T, typename Change>
void ChangeEdits(Intervention& intervention, EditList<T> list, const std::string& name,
                 const Change& change) {
  if (list) {
    for (T& edit : intervention.*list) change(edit);
    return;
  }
  const auto own = intervention.own_edits.find(name);
  if (own == intervention.own_edits.end()) return;
  for (OwnValue& value : own->second) {
    T edit = *value.As<T>();  // other interventions may share the value
    change(edit);
    value = OwnValue::Of(std::move(edit));
  }
}

template <typename T>
void AddEdit(T edit, Intervention& intervention, EditList<T> list, const std::string& name) {
  if (list) {
    (intervention.*list).push_back(std::move(edit));
  } else {
    intervention.own_edits[name].push_back(OwnValue::Of(std::move(edit)));
  }
}

// Gives the member `span` its tokens where T has one.
template <typename T>
void ResolveSpan(T& edit, const SpanResolver& resolver) {
  if constexpr (requires { edit.span; }) edit.span = resolver.tokens(edit.span);
}

template <typename T>
struct EditTraits {
  EditList<T> list = nullptr;
  // Several edits for one term; null: one edit, read as the form says.
  std::vector<T> (*read_all)(const TextTerm& term, const TermForm<T>& form) = nullptr;
  // Throws Error (usage) where `edit` cannot be beside the one before it.
  void (*check)(const TextTerm& term, const T& before, const T& edit) = nullptr;
  void (*resolve)(T& edit, const SpanResolver& resolver) = ResolveSpan<T>;
  T (*sample)(const ModelConfig& config) = nullptr;
  bool before_schemes = false;
};

template <typename T>
EditType MakeEdit(TermForm<T> form, void (*apply)(const T& edit, const EditPlans& plans),
                  EditTraits<T> traits = {}) {
  const auto shared = std::make_shared<const TermForm<T>>(std::move(form));
  EditType type;
  type.term = Describe(*shared);
  type.names_span =
      std::any_of(type.term.arguments.begin(), type.term.arguments.end(),
                  [](const Parameter& argument) { return argument.kind == ParameterKind::kSpan; });
  type.before_schemes = traits.before_schemes;
  type.count = [shared, traits](const Intervention& intervention) {
    size_t count = 0;
    ForEdits(intervention, traits.list, shared->name, [&count](const T&) { ++count; });
    return count;
  };
  type.add = [shared, traits](const TextTerm& term, Intervention& intervention) {
    std::vector<T> added =
        traits.read_all ? traits.read_all(term, *shared) : std::vector<T>{ReadTerm(term, *shared)};
    for (T& edit : added) {
      if (traits.check) {
        ForEdits(intervention, traits.list, shared->name,
                 [&](const T& before) { traits.check(term, before, edit); });
      }
      AddEdit(std::move(edit), intervention, traits.list, shared->name);
    }
  };
  type.print = [shared, traits](const Intervention& intervention, std::vector<std::string>& texts) {
    ForEdits(intervention, traits.list, shared->name,
             [&](const T& edit) { texts.push_back(PrintTerm(edit, *shared)); });
  };
  type.resolve = [shared, traits](Intervention& intervention, const SpanResolver& resolver) {
    ChangeEdits(intervention, traits.list, shared->name,
                [&](T& edit) { traits.resolve(edit, resolver); });
  };
  type.apply = [shared, traits, apply](const Intervention& intervention, const EditPlans& plans) {
    ForEdits(intervention, traits.list, shared->name, [&](const T& edit) { apply(edit, plans); });
  };
  if (traits.sample) {
    type.sample = [shared, traits](const ModelConfig& config) {
      Intervention intervention;
      AddEdit(traits.sample(config), intervention, traits.list, shared->name);
      return intervention;
    };
  }
  return type;
}

}  // namespace midscope
