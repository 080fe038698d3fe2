// SPDX-License-Identifier: MIT
// The one description of all terms: what help, forms and documentation say, and what the parser
// accepts.
#include "core/intervention_grammar.h"

namespace midscope {
namespace {

constexpr double kSmallestRatio = 0.01;
constexpr double kLargestRatio = 1000;

Term NoneTerm() { return {"none", "Nothing is changed.", "", {}}; }

Term PositionInterpolationTerm() {
  return {"pi",
          "Position interpolation: every position is divided by one ratio.",
          "Chen et al. 2023, arXiv 2306.15595; composes with the model's own frequencies.",
          {{"ratio",
            "Every position is divided by it; below 1 stretches.",
            "",
            {},
            kSmallestRatio,
            kLargestRatio,
            "1.5"}}};
}

Term MsPoeTerm() {
  return {
      "ms-poe",
      "Multi-scale positions: each head divides its positions by a ratio of its own, chosen by how "
      "position-aware the head is.",
      "Zhang et al. 2024, arXiv 2403.04797. Its public code departs from the paper: it hands "
      "ratios out by argsort instead of rank, divides by the number of heads instead of one less, "
      "leaves the first two layers alone, and gives heads that share keys different ratios from "
      "those keys (mode=code).",
      {{"min", "Smallest ratio.", "", {}, kSmallestRatio, kLargestRatio, "1.2"},
       {"max", "Largest ratio.", "", {}, kSmallestRatio, kLargestRatio, "1.8"},
       {"mode",
        "rank: ratios by rank of the score, as the paper's prose says, keys rotated once per query "
        "head. code: what the public code does. group: one ratio for all heads that share keys.",
        "",
        {"rank", "code", "group"},
        0,
        0,
        "rank"},
       {"order",
        "score: the most position-aware head gets min. score-reversed: it gets max. sequential: "
        "head 0 gets min. reversed: head 0 gets max.",
        "",
        {"score", "score-reversed", "sequential", "reversed"},
        0,
        0,
        "score"},
       {"first_layer",
        "First layer that is changed, zero-based; all later ones are. The paper says 0, the public "
        "scripts 2. Not together with layers.",
        "",
        {},
        0,
        kEveryLayerAfter,
        "2"},
       {"layers",
        "Layers that are changed: all, 8-25 or [2-8,12]. Not together with first_layer.",
        "",
        {},
        0,
        0,
        ""}}};
}

Term ChannelTerm() {
  return {"channel",
          "Scales hidden channels in what queries and keys are made from; values stay clean.",
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
            "answer"}}};
}

}  // namespace

const std::vector<Term>& InterventionTerms() {
  static const std::vector<Term> terms = {NoneTerm(), PositionInterpolationTerm(), MsPoeTerm(),
                                          ChannelTerm()};
  return terms;
}

const std::vector<std::string>& LaterTerms() {
  static const std::vector<std::string> names = {
      "base", "ntk",  "dynamic-ntk", "dynamic-linear", "yarn",   "nope",        "ratios",
      "crop", "move", "boost",       "ablate",         "infini", "temperature", "self-extend"};
  return names;
}

bool TakesBareArgument(const Term& term) { return term.name == "pi" || term.name == "channel"; }

}  // namespace midscope
