// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_scheme_terms.h"

#include "core/intervention/head_ratio_file.h"
#include "core/intervention/intervention.h"

namespace midscope {
namespace {

constexpr double kLargestTokens = 1 << 24;

Term NoneTerm() { return {"none", "Nothing is changed.", "", {}}; }

TermArgument FactorArgument(const char* help, double minimum, const char* by_default) {
  return {"factor", help, "", {}, minimum, kLargestRatio, by_default};
}

TermArgument LayersArgument(const char* help, const char* by_default) {
  return {"layers", help, "", {}, 0, 0, by_default};
}

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

Term BaseTerm() {
  return {"base",
          "Another base of the rotation (adjusted base frequency). Replaces the model's own base "
          "and scaling; layers with local frequencies (gemma3) keep theirs.",
          "Xiong et al. 2023, arXiv 2309.16039 (500000); published results come after tuning with "
          "the new base.",
          {{"base", "Pair j turns by base^(-2j/d) a position.", "", {}, 2, 1e12, "500000"}}};
}

Term NtkTerm() {
  return {"ntk",
          "NTK-aware base: base * factor^(d/(d-2)), which leaves the fastest pair as it is and "
          "divides the slowest by factor. Replaces the model's own base scaling; layers with local "
          "frequencies (gemma3) keep theirs.",
          "Known from a forum post of 2023; as in Peng et al., arXiv 2309.00071, and its code.",
          {FactorArgument("How much longer the context becomes.", kSmallestRatio, "2")}};
}

Term DynamicNtkTerm() {
  return {
      "dynamic-ntk",
      "The same, growing with the sequence: beyond the original context L a sequence of n "
      "tokens has the factor factor n / L - (factor - 1). All keys have the frequencies of the "
      "length that the sequence has now: text that grows beyond the context is run again token "
      "by token.",
      "transformers' rope type 'dynamic' and the YaRN repository. Both keep cached keys rotated "
      "by the frequencies of earlier lengths, so there generated text depends on the cache.",
      {FactorArgument("1: the context follows the sequence; above 1 the base grows faster.",
                      kSmallestRatio, "2")}};
}

Term DynamicLinearTerm() {
  return {"dynamic-linear",
          "Beyond the trained context L every position of a sequence of n tokens is multiplied by "
          "L / n; up to L nothing changes. Composes with the model's own frequencies.",
          "The YaRN repository's dynamic linear scaling (Peng et al. 2023, arXiv 2309.00071).",
          {}};
}

Term YarnTerm() {
  return {
      "yarn",
      "YaRN: pairs that turn often within the original context stay, those that hardly turn are "
      "divided by factor, those between are blended, and logits are sharpened. Replaces the "
      "model's "
      "own base scaling; layers with local frequencies (gemma3) keep theirs.",
      "Peng et al. 2023, arXiv 2309.00071. Its public code blends along the pair's index, the "
      "paper "
      "along the number of rotations, and the code of PoSE (arXiv 2309.10400) and CREAM (arXiv "
      "2406.07138) blends wavelengths (form=).",
      {FactorArgument("How much longer the context becomes.", 1, "4"),
       {"context",
        "Tokens of the original training; model: the model's own.",
        "tokens",
        {"model", "N"},
        1,
        kLargestTokens,
        "model"},
       {"form",
        "repo: ramp linear in the pair's index, frequencies blended (also transformers). paper: "
        "ramp linear in rotations. cream: repo's ramp, wavelengths blended.",
        "",
        {"repo", "paper", "cream"},
        0,
        0,
        "repo"},
       {"beta_fast",
        "Pairs that turn at least so often within the original context stay.",
        "rotations",
        {},
        0.001,
        1e6,
        "32"},
       {"beta_slow",
        "Pairs that turn at most so often are divided by factor; below beta_fast.",
        "rotations",
        {},
        0.001,
        1e6,
        "1"},
       {"magnitude",
        "Factor of cos and sin, so logits are multiplied by its square. auto: 0.1 ln(factor) + 1, "
        "as paper and code. 1: none, which is 'NTK-by-parts'.",
        "",
        {"auto", "M"},
        kSmallestRatio,
        100,
        "auto"}}};
}

Term NopeTerm() {
  return {"nope",
          "No rotation in these layers: keys there are told apart by what they are and by the "
          "causal mask alone.",
          "Kazemnejad et al. 2023, arXiv 2305.19466, train without positions; a model that was "
          "trained with them loses much where they are taken away.",
          {LayersArgument("Layers without rotation: all, 8-25 or [2-8,12].", "")}};
}

Term RatiosTerm() {
  return {"ratios",
          "A position ratio for every head from a file: what Ms-PoE chooses by score, set by hand. "
          "Keys are rotated once per query head. midscope export turns the position_ratio of a "
          "probe's file into such a file.",
          "",
          {{"file",
            "JSON, [[head 0, head 1, ...] of layer 0, ...] or what midscope export writes; or CSV "
            "with rows layer,head,ratio. In quotation marks where the name has other characters "
            "than letters, digits, - _ . : /",
            "",
            {},
            0,
            0,
            ""},
           {"digest",
            "Of the numbers in the file, as printed forms state it: a file that has changed since "
            "is refused. Leave it out to take the file as it is.",
            "",
            {},
            0,
            0,
            ""},
           {"shuffle",
            "A seed: each layer's ratios go to its heads in a random order, as a control of the "
            "order in the file. The digest is then that of the order drawn. Without it the file's.",
            "",
            {},
            0,
            9007199254740992.0,
            ""}}};
}

TermArgument OrderArgument() {
  return {"order",
          "score: the most position-aware head gets min. score-reversed: it gets max. sequential: "
          "head 0 gets min. reversed: head 0 gets max (the public code's head_type 'normal', but "
          "for the divisor of mode=code). random: a permutation by seed and layer. entropy: the "
          "head whose last row, before rotation, is spread most gets the ratio nearest to 1. The "
          "paper's Table 3 compares score, random, sequential and entropy; of these the public "
          "code has score alone.",
          "",
          {"score", "score-reversed", "sequential", "reversed", "random", "entropy"},
          0,
          0,
          "score"};
}

Term MsPoeTerm() {
  return {
      "ms-poe",
      "Multi-scale positions: each head divides its positions by a ratio of its own, chosen by how "
      "position-aware the head is.",
      "Zhang et al. 2024, arXiv 2403.04797. Its public code departs from the paper: it hands "
      "ratios out by argsort instead of rank, divides by the number of heads instead of one less, "
      "leaves the first two layers alone, and gives heads that share keys different ratios from "
      "those keys (mode=code). Its script scores heads for the gold places 1 and 3 only and runs "
      "the others with order=reversed.",
      {{"min",
        "First ratio of the ramp; above max the ramp falls, as in some rows of the paper's Table "
        "4.",
        "",
        {},
        kSmallestRatio,
        kLargestRatio,
        "1.2"},
       {"max", "Last ratio of the ramp.", "", {}, kSmallestRatio, kLargestRatio, "1.8"},
       {"mode",
        "rank: ratios by rank of the score, as the paper's prose says, keys rotated once per query "
        "head. code: what the public code does (with grouped key heads logits then depend on where "
        "the text begins). group: one ratio for all heads that share keys.",
        "",
        {"rank", "code", "group"},
        0,
        0,
        "rank"},
       OrderArgument(),
       {"seed", "Of order=random.", "", {}, 0, 9007199254740992.0, ""},
       {"first_layer",
        "First layer that is changed, zero-based; all later ones are. The paper says 0, the public "
        "scripts 2. Not together with layers.",
        "",
        {},
        0,
        kEveryLayerAfter,
        "2"},
       LayersArgument(
           "Layers that are changed: all, 8-25 or [2-8,12]. Not together with first_layer.", "")}};
}

Term SelfExtendTerm() {
  return {
      "self-extend",
      "Self-Extend: keys nearer than window stand where they are; for those further away positions "
      "are divided by group and rounded down, so that no distance leaves the trained range. Not "
      "together with move, nor with a sliding window.",
      "Jin et al. 2024, arXiv 2401.01325, section 3; needs no tuning. For a model trained on L "
      "tokens the rule holds up to (L - window) group + window tokens; its authors advise that "
      "window + (tokens - window) / group stay below one half to two thirds of L.",
      {{"group",
        "Positions of further keys are divided by it and rounded down; 1 changes nothing.",
        "",
        {},
        1,
        kLargestTokens,
        "2"},
       {"window",
        "Keys at their own distance, the query's own included.",
        "tokens",
        {},
        1,
        kLargestTokens,
        "64"}}};
}

Term InfiniTerm() {
  return {
      "infini",
      "Infini-attention: causal attention within segments, mixed by gate with what a "
      "compressive memory of all earlier segments says.",
      "Munkhdalai et al. 2024, arXiv 2404.07143. There the gate is learned; a model that was "
      "not trained with it has none, so any gate above 0 is expected to hurt. The first segment "
      "has nothing to read and stays as it is (equation 10 read strictly would scale it by "
      "1 - gate). Attention rows show the local part, times 1 - gate: the memory has no tokens.",
      {{"segment", "Tokens of a segment.", "tokens", {}, 1, kLargestTokens, "2048"},
       {"gate",
        "Share of the memory in a head's output: one, or one a query head in brackets.",
        "",
        {},
        0,
        1,
        "0.1"},
       {"update",
        "How a segment enters the memory. linear: added. delta: what the memory says of its "
        "keys already is taken off first.",
        "",
        {"linear", "delta"},
        0,
        0,
        "linear"}}};
}

}  // namespace

std::vector<Term> SchemeTerms() {
  return {NoneTerm(),       PositionInterpolationTerm(),
          BaseTerm(),       NtkTerm(),
          DynamicNtkTerm(), DynamicLinearTerm(),
          YarnTerm(),       NopeTerm(),
          RatiosTerm(),     MsPoeTerm(),
          SelfExtendTerm(), InfiniTerm()};
}

}  // namespace midscope
