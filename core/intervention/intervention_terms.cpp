// SPDX-License-Identifier: MIT
// The one description of all terms: what help, forms and documentation say, and what the parser
// accepts.
#include <algorithm>

#include "core/intervention/intervention_grammar.h"
#include "core/intervention/intervention_scheme_terms.h"
#include "core/intervention/presets.h"

namespace midscope {
namespace {

Term ChannelTerm() {
  return {"channel",
          "Scales hidden channels in what queries and keys are made from; values stay clean unless "
          "change_value=yes.",
          "Yu et al. 2024, arXiv 2406.02536. rows=last is the paper read strictly; its public code "
          "also scales for every answer token (rows=answer).",
          {{"channel",
            "Hidden channel, or several in brackets; zero-based.",
            "",
            {},
            0,
            kEveryLayerAfter,
            ""},
           {"factor",
            "What the channel is multiplied by; one, or one a channel in brackets.",
            "",
            {},
            -1000,
            1000,
            ""},
           {"layers", "Layers that are changed: all, 8-25 or [2-8,12].", "", {}, 0, 0, "all"},
           {"rows",
            "Rows whose queries see scaled input. answer: the last prompt row and all answer rows. "
            "last: the last prompt row alone. last:N: the last N prompt rows and all answer rows. "
            "all: every row.",
            "",
            {"answer", "last", "last:N", "all"},
            0,
            0,
            "answer"},
           {"change_value",
            "yes: the values that those rows see come from scaled input too (the public code can "
            "do so and never does). no: they stay clean.",
            "",
            {"no", "yes"},
            0,
            0,
            "no"}}};
}

constexpr const char* kChannelPaper = "Yu et al. 2024, arXiv 2406.02536";

TermArgument SpanArgument() {
  return {"span",
          "The passage: its name (gold; \"pair 7\" in quotation marks where it has spaces), or "
          "tokens as 400:600, the last not included.",
          "",
          {},
          0,
          0,
          ""};
}

TermArgument LayersArgument() {
  return {"layers", "Layers that are changed: all, 8-25 or [2-8,12].", "", {}, 0, 0, "all"};
}

TermArgument HeadArgument() {
  return {"head",
          "A head as L12H3, or a key head with all query heads that read it as L12G1; several in "
          "brackets; zero-based.",
          "",
          {},
          0,
          0,
          ""};
}

TermArgument RowsArgument(const std::string& help, const std::string& by_default) {
  return {"rows",
          help +
              " answer: the last prompt row and all answer rows. last: the last prompt row alone. "
              "last:N: the last N prompt rows and all answer rows. all: every row.",
          "",
          {"answer", "last", "last:N", "all"},
          0,
          0,
          by_default};
}

Term CropTerm() {
  return {"crop",
          "Crops the causal mask: the passage's tokens see one another and nothing before them; "
          "others see them as before.",
          std::string(kChannelPaper) +
              ", App. C (layers 1-8 counted from 1: layers=0-7) and, with keep=none, App. D.",
          {SpanArgument(),
           LayersArgument(),
           {"keep",
            "What they still see before themselves. first: the prompt's first token, which keeps "
            "attention stable. none: nothing.",
            "",
            {"first", "none"},
            0,
            0,
            "first"}}};
}

Term MoveTerm() {
  return {"move",
          "Gives the passage's tokens other positions; their order, and so the causal mask, stays. "
          "Not for models without rotary positions (ALiBi).",
          std::string(kChannelPaper) +
              ", App. C (to=begin, to=end, for the last token's attention alone: rows=last) and "
              "App. D (to=shift:-200 for every row: rows=all).",
          {SpanArgument(),
           {"to",
            "begin: the passage begins where the first piece of the prompt does (the first pair, "
            "line or document; the first token where there are none). end: it ends where the last "
            "piece does (the last prompt token). shift:N: each token stands N positions further "
            "on.",
            "",
            {"begin", "end", "shift:N"},
            0,
            0,
            ""},
           LayersArgument(),
           RowsArgument("Rows that see the changed positions; their own queries stand at them too "
                        "where they belong to the passage.",
                        "answer")}};
}

Term BoostTerm() {
  return {"boost",
          "Multiplies the attention weights that rows give to the passage's tokens, in all heads.",
          std::string(kChannelPaper) +
              ", Fig. 6: 'manually double the attention weights'. Doubled as said, a row's weights "
              "no longer sum to 1; renormalise=yes lets the others give way.",
          {SpanArgument(),
           {"factor",
            "What the weights are multiplied by; above 0 with renormalise=yes.",
            "",
            {},
            -1000,
            1000,
            "2"},
           {"renormalise",
            "yes: the row is brought back to a sum of 1 (as if log(factor) were added to the "
            "logits). no: it is not.",
            "",
            {"no", "yes"},
            0,
            0,
            "no"},
           LayersArgument(),
           RowsArgument("Rows whose weights are multiplied.", "answer")}};
}

Term AblateTerm() {
  return {"ablate",
          "Replaces what heads put out (hook_z, before the output projection).",
          "",
          {HeadArgument(),
           {"with",
            "zero: nothing. mean: in row i the mean of the head's own outputs in rows 0 to i of "
            "the same run.",
            "",
            {"zero", "mean"},
            0,
            0,
            "zero"},
           RowsArgument("Rows whose outputs are replaced.", "all")}};
}

Term TemperatureTerm() {
  return {"temperature",
          "Divides the attention logits of heads (soft cap and ALiBi included) before the softmax; "
          "Ms-PoE's scores are taken without it.",
          "",
          {HeadArgument(),
           {"temperature", "Above 1 flattens, below 1 sharpens.", "", {}, 0.001, 1000, ""},
           RowsArgument("Rows whose logits are divided.", "all")}};
}

Term PresetTerm() {
  std::vector<std::string> names;
  for (const Preset& preset : InterventionPresets()) names.push_back(preset.name);
  return {"preset",
          "A published setting by name; printed forms state what it stands for.",
          "See midscope help presets for each one's models, source and warnings.",
          {{"name", "Which one.", "", names, 0, 0, ""}}};
}

}  // namespace

const std::vector<Term>& InterventionTerms() {
  static const std::vector<Term> terms = [] {
    std::vector<Term> all = SchemeTerms();
    for (Term& edit : std::vector<Term>{ChannelTerm(), CropTerm(), MoveTerm(), BoostTerm(),
                                        AblateTerm(), TemperatureTerm(), PresetTerm()}) {
      all.push_back(std::move(edit));
    }
    return all;
  }();
  return terms;
}

size_t BareArguments(const Term& term) {
  static const std::vector<std::string> one = {"pi",     "base",    "ntk",    "dynamic-ntk", "yarn",
                                               "ratios", "channel", "ablate", "preset"};
  if (term.name == "temperature") return 2;
  return std::find(one.begin(), one.end(), term.name) != one.end() ? 1 : 0;
}

}  // namespace midscope
