// SPDX-License-Identifier: MIT
// The type of a term: its description, how it is read and printed, and what it does to a run. Each
// type is defined in one file of core/terms, whose list (core/terms/terms.h) parser, printer, help,
// `midscope info`, forms and tests walk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <typeindex>
#include <vector>

#include "core/base/parameter.h"
#include "core/intervention/intervention.h"

namespace midscope {

struct ModelConfig;
class SplitMix64;
struct TermPlans;  // plan/term_plans.h
struct TextTerm;   // intervention_grammar.h

// When a term changes the attention plans of a model.
enum class TermStage {
  kBeforePositions,  // changes what position schemes find, such as windows
  kPositions,        // a position scheme, of which an intervention has at most one
  kAfterPositions,
};

enum class SchemeKind {
  kOther,
  kDividesPositions,     // composes with the model's own frequencies
  kReplacesFrequencies,  // of layers with the model's global frequencies, base and scaling included
};

// Resolves the spans of terms to tokens of a prompt.
struct SpanResolver {
  // [begin, end) without a name. Throws Error (usage) where the prompt has none.
  std::function<TokenSpan(const TokenSpan& span)> tokens;
  // By how many positions a span without a name moves.
  std::function<int64_t(const Move& move)> shift;
};

struct TermType {
  std::string name;     // "ms-poe"
  std::string summary;  // what it does
  std::string source;   // paper; what its public code does differently
  std::vector<Parameter> arguments;
  size_t bare_arguments = 0;  // the first ones, which may be given without their names
  // Settings that show it, as help lists them. Terms that are best shown together share one.
  std::vector<std::string> examples = {};
  // One of its settings that names no layer, channel or head that a small model lacks.
  std::string small_example = {};

  std::type_index value = typeid(void);  // of Term's value; void: `add` adds terms of other types
  int order = 0;                         // in the list
  TermStage stage = TermStage::kAfterPositions;
  SchemeKind kind = SchemeKind::kOther;
  bool needs_rotation = false;  // refused, by name, for models without rotary positions
  bool names_span = false;      // an argument is a passage

  // Adds the terms of the text. Throws Error (usage) with the column.
  std::function<void(const TextTerm& text, Intervention& intervention)> add = {};
  // The term with every argument.
  std::function<std::string(const Term& term)> print = {};
  // The term with names of passages replaced by tokens.
  std::function<Term(const Term& term, const SpanResolver& resolver)> resolve = {};
  // Changes the plans. Throws Error (usage) where it cannot apply.
  std::function<void(const Term& term, const TermPlans& plans)> apply = {};
  // The query rows that see a position scheme, in their own positions and those of the keys that
  // they see; the others see the model's own.
  std::function<RowChoice(const Term& term)> rows = {};
  // Returns the scheme for other rows; empty where it cannot choose rows.
  std::function<Term(const Term& term, const RowChoice& rows)> with_rows = {};
  // The factor by which a position scheme multiplies the trained context; infinite where it follows
  // the sequence.
  std::function<double(const Term& term, const ModelConfig& config)> stretch = {};
  // Whether the value has no effect, such as a factor of 1. Empty: no value is like that.
  std::function<bool(const Term& term)> changes_nothing = {};
  // Whether rows before the last prompt row come out differently as well.
  std::function<bool(const Term& term)> changes_early_rows = {};
  // Replaces the intervention's terms of this type by a random control: the same change to other
  // channels, or ratios in another order. Returns false where that is not possible.
  // Empty: the type has no control.
  bool (*control)(Intervention& intervention, const ModelConfig& config,
                  SplitMix64& random) = nullptr;
  // A setting that fits the model, where small_example needs a file; empty otherwise.
  std::function<Intervention(const ModelConfig& config)> sample = {};
};

// Without the terms that change nothing.
Intervention WithoutNeutralTerms(Intervention intervention);

// The intervention's position scheme; null for the model's own positions.
const Term* PositionScheme(const Intervention& intervention);
// "none", "pi", ...
std::string PositionSchemeName(const Intervention& intervention);
// The rows that see it; all without one.
RowChoice PositionSchemeRows(const Intervention& intervention);
// The setting with the position scheme for other rows, if it has one that can choose them.
Intervention WithPositionSchemeRows(Intervention intervention, const RowChoice& rows);

}  // namespace midscope
