// SPDX-License-Identifier: MIT
// An edit (channel scaling included) as data: its term, how it is read and printed, which passages
// it names and what it does to attention plans. One file in edits/ each, which edits/edits.cpp
// lists. Parser, printer, help, `midscope info`, forms and tests go through the list, which is
// declared here and defined above plan/, as that of schemes is (scheme_type.h).
#pragma once

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

// Which tokens of a prompt passages stand for.
struct PassageTokens {
  // [begin, end) without a name. Throws Error (usage) where the prompt has none.
  std::function<Passage(const Passage& passage)> tokens;
  // By how many positions a passage of tokens moves.
  std::function<int64_t(const Move& move)> shift;
};

struct EditType {
  Term term;
  bool names_passages = false;

  // How many edits of this type the intervention has.
  std::function<size_t(const Intervention& intervention)> count;
  // Adds what the term says. Throws Error (usage) with the column.
  std::function<void(const TextTerm& term, Intervention& intervention)> add;
  // One text per edit, every argument stated.
  std::function<void(const Intervention& intervention, std::vector<std::string>& texts)> print;
  // Replaces names of passages by tokens.
  std::function<void(Intervention& intervention, const PassageTokens& passages)> resolve;
  // Changes AttentionPlan::edits (channel alone: row_override, for which traces keep residuals).
  // Throws Error (usage) where one of the edits cannot apply.
  std::function<void(const Intervention& intervention, const EditPlans& plans)> apply;
};

// In the order in which texts list them.
const std::vector<EditType>& EditTypes();

// Null where no edit has this term.
const EditType* FindEdit(std::string_view term);

// What makes the type of an edit with values of type T: a member of Intervention where one is
// given, else in Intervention::own_edits, for which T may be any copyable type with operator==.

template <typename T>
using EditList = std::vector<T> Intervention::*;

// The list is null for values in own_edits.
template <typename T>
std::vector<T> EditsOf(const Intervention& intervention, EditList<T> list,
                       const std::string& name) {
  if (list) return intervention.*list;
  std::vector<T> edits;
  const auto own = intervention.own_edits.find(name);
  if (own == intervention.own_edits.end()) return edits;
  edits.reserve(own->second.size());
  for (const OwnValue& value : own->second) edits.push_back(*value.As<T>());
  return edits;
}

template <typename T>
void SetEdits(std::vector<T> edits, Intervention& intervention, EditList<T> list,
              const std::string& name) {
  if (list) {
    intervention.*list = std::move(edits);
    return;
  }
  std::vector<OwnValue> values;
  values.reserve(edits.size());
  for (T& edit : edits) values.push_back(OwnValue::Of(std::move(edit)));
  if (values.empty()) {
    intervention.own_edits.erase(name);
  } else {
    intervention.own_edits[name] = std::move(values);
  }
}

// Gives the member `span` its tokens where T has one.
template <typename T>
void ResolveSpan(T& edit, const PassageTokens& passages) {
  if constexpr (requires { edit.span; }) edit.span = passages.tokens(edit.span);
}

template <typename T>
struct EditTraits {
  EditList<T> list = nullptr;
  // Several edits for one term; null: one edit, read as the form says.
  std::vector<T> (*read_all)(const TextTerm& term, const TermForm<T>& form) = nullptr;
  // Throws Error (usage) where the edit cannot be added to those before.
  void (*check)(const TextTerm& term, const std::vector<T>& before, const T& edit) = nullptr;
  void (*resolve)(T& edit, const PassageTokens& passages) = ResolveSpan<T>;
};

template <typename T>
EditType MakeEdit(TermForm<T> form, void (*apply)(const T& edit, const EditPlans& plans),
                  EditTraits<T> traits = {}) {
  const auto shared = std::make_shared<const TermForm<T>>(std::move(form));
  EditType type;
  type.term = Describe(*shared);
  type.names_passages = requires(T & edit) { edit.span; };
  type.count = [shared, traits](const Intervention& intervention) {
    return EditsOf(intervention, traits.list, shared->name).size();
  };
  type.add = [shared, traits](const TextTerm& term, Intervention& intervention) {
    std::vector<T> edits = EditsOf(intervention, traits.list, shared->name);
    const std::vector<T> added =
        traits.read_all ? traits.read_all(term, *shared) : std::vector<T>{ReadTerm(term, *shared)};
    for (const T& edit : added) {
      if (traits.check) traits.check(term, edits, edit);
      edits.push_back(edit);
    }
    SetEdits(std::move(edits), intervention, traits.list, shared->name);
  };
  type.print = [shared, traits](const Intervention& intervention, std::vector<std::string>& texts) {
    for (const T& edit : EditsOf(intervention, traits.list, shared->name))
      texts.push_back(PrintTerm(edit, *shared));
  };
  type.resolve = [shared, traits](Intervention& intervention, const PassageTokens& passages) {
    std::vector<T> edits = EditsOf(intervention, traits.list, shared->name);
    for (T& edit : edits) traits.resolve(edit, passages);
    SetEdits(std::move(edits), intervention, traits.list, shared->name);
  };
  type.apply = [shared, traits, apply](const Intervention& intervention, const EditPlans& plans) {
    for (const T& edit : EditsOf(intervention, traits.list, shared->name)) apply(edit, plans);
  };
  return type;
}

}  // namespace midscope
