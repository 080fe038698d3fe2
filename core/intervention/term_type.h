// SPDX-License-Identifier: MIT
// The type of a term: its description, how it is parsed and printed, and how it changes a run. Each
// type is defined in one file of core/terms. Parser, printer, help, `midscope info`, forms and
// tests iterate over the list in core/terms/terms.h.
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

// The stage at which a term changes the attention plans during their compilation.
enum class TermStage {
  kBeforePositions,  // changes settings on which position schemes depend, such as windows
  kPositions,        // a position scheme, of which an intervention has at most one
  kAfterPositions,
};

enum class SchemeKind {
  kOther,
  kDividesPositions,     // divides positions; composes with the frequencies of the model
  kReplacesFrequencies,  // replaces frequencies, base and scaling in layers with the model's global
                         // frequencies
};

// Resolves the spans of terms to tokens of a prompt.
struct SpanResolver {
  // Returns the span as [begin, end) without a name. Throws Error (usage) if the prompt has no such
  // span.
  std::function<TokenSpan(const TokenSpan& span)> tokens;
  // Returns by how many positions a move, whose span is resolved, shifts its passage.
  std::function<int64_t(const Move& move)> shift;
};

struct TermType {
  std::string name;     // "ms-poe"
  std::string summary;  // its effect, in one sentence
  std::string source;   // the paper, and how its public code differs
  std::vector<Parameter> arguments;
  size_t bare_arguments = 0;  // number of leading arguments that may be given without their names
  // Example settings for help. Several terms may share an example.
  std::vector<std::string> examples = {};
  // An example that is valid for small models: without layers, channels or heads that they lack.
  std::string small_example = {};

  std::type_index value = typeid(void);  // type of the term's value; void: `add` adds other types
  int order = 0;                         // index in the list
  TermStage stage = TermStage::kAfterPositions;
  SchemeKind kind = SchemeKind::kOther;
  bool needs_rotation = false;  // refused, with its name, for models without rotary positions
  bool names_span = false;      // an argument is a passage

  // Parses the term and adds it to the intervention. Throws Error (usage) with the column.
  std::function<void(const TextTerm& text, Intervention& intervention)> add = {};
  // Returns the term's text with every argument.
  std::function<std::string(const Term& term)> print = {};
  // Returns the term with names of passages replaced by tokens.
  std::function<Term(const Term& term, const SpanResolver& resolver)> resolve = {};
  // Applies the term to the attention plans. Throws Error (usage) if that is not possible.
  std::function<void(const Term& term, const TermPlans& plans)> apply = {};
  // Returns the query rows to which a position scheme applies: to their own positions and those of
  // the keys that they see. Other rows use the model's own positions.
  std::function<RowChoice(const Term& term)> rows = {};
  // Returns the position scheme with its query rows replaced by `rows`; the function is empty if
  // the scheme cannot choose rows.
  std::function<Term(const Term& term, const RowChoice& rows)> with_rows = {};
  // Returns the factor by which a position scheme extends the trained context; infinite if the
  // extension grows with the sequence.
  std::function<double(const Term& term, const ModelConfig& config)> stretch = {};
  // Whether the term has no effect, such as a factor of 1. Empty: every value has an effect.
  std::function<bool(const Term& term)> changes_nothing = {};
  // Whether the term also changes rows before the last prompt row.
  std::function<bool(const Term& term)> changes_early_rows = {};
  // Replaces the intervention's terms of this type by a random control: the same change to other
  // channels, or ratios in another order. Returns false if that is not possible. Null if the type
  // has no control.
  bool (*control)(Intervention& intervention, const ModelConfig& config,
                  SplitMix64& random) = nullptr;
  // Returns a setting that is valid for the model. Only for types whose small_example needs a file;
  // else this function is empty.
  std::function<Intervention(const ModelConfig& config)> sample = {};
};

// Returns the intervention without the terms that change nothing.
Intervention WithoutNeutralTerms(Intervention intervention);

// Returns the intervention's position scheme; null for the model's own positions.
const Term* PositionScheme(const Intervention& intervention);
// Returns the name of the position scheme: "none", "pi", ...
std::string PositionSchemeName(const Intervention& intervention);
// Returns the query rows to which the position scheme applies; all rows if there is none.
RowChoice PositionSchemeRows(const Intervention& intervention);
// Returns the intervention with the position scheme's query rows replaced by `rows`; unchanged if
// it has no scheme that can choose rows.
Intervention WithPositionSchemeRows(Intervention intervention, const RowChoice& rows);

}  // namespace midscope
