// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "core/tokenizer/tokenizer.h"
#include "kernels/position_awareness.h"
#include "probes/base/probe.h"

namespace midscope {

// Direct logit attribution of the answer: which heads, layers and keys make the difference between
// the answer's logit and that of the best wrong piece.

// Record answer_attribution, in logits before the final soft cap: answer_attribution [layer, head];
// with --attribution-keys answer_attribution_by_key [layer, head, key], answer_attribution_of_key
// [key] (summed over layers and heads), answer_attribution_without_key [layer, head];
// attribution_of_part [part, layer] (heads, attention bias, mlp). Attributes embedding_attribution
// and constant_attribution complete the sum, attribution_sum; logit_difference is the run's own,
// attribution_rounding the difference of both. Over several prompts, record
// answer_attribution_by_place (below).
ProbeType AnswerAttributionProbe();

// Record answer_attribution_by_place, of a stacked answer_attribution: mean_answer_attribution
// [place, layer, head], mean_attribution_of_part [place, part, layer], mean_logit_difference
// [place], over samples.
Record AnswerAttributionByPlace(const Record& stacked);

// Attention rollout of the last row with measured shares of the residual stream: how much of the
// last token's stream goes back to each token, layer by layer.

// Record attention_rollout: attention_rollout [layer, key], the row of shares when `layer` is
// entered (it sums to 1 if patterns do); attention_share [layer], the share lambda of the
// attention's update in the stream; gold_rollout [layer] if there is a span gold. Over several
// prompts, record attention_rollout_by_place (below). Memory is linear in the prompt; time is that
// of two more runs and of every row's pattern.
ProbeType AttentionRolloutProbe();

// Record attention_rollout_by_place, of a stacked attention_rollout with gold: mean_gold_rollout
// [place, layer], over samples.
Record AttentionRolloutByPlace(const Record& stacked);

// Attention of chosen prompt rows, where the last one's is not the question: what a gold passage
// reads while it is written, what the question reads.

// Record attention_rows: row_attention [layer, head, row, key] float32, 0 for keys behind the row.
// Runs where --attention-at names rows or passages.
ProbeType AttentionRowsProbe();

// The keys that Ms-PoE's position-awareness score counts.

// Record counted_keys: counted_keys [layer, head, key] boolean; attributes threshold (">=
// 3/tokens"), alpha and threshold_weight, which is alpha / tokens.
ProbeType CountedKeysProbe();

// Record counted_keys for keys [layer, head, key] marked elsewhere.
Record CountedKeysRecord(const ModelConfig& config, int64_t keys,
                         const kernels::AwarenessThreshold& threshold,
                         std::vector<uint8_t> counted);

// Which experts of a mixture each token uses.

// Record expert_use: expert and expert_weight [expert_layer, token, choice], largest weight first
// (-1 and 0 if fewer are used); expert_share [expert_layer, expert], the share of the prompt's
// tokens that use it. Axis expert_layer holds the numbers of the layers with experts.
ProbeType ExpertUseProbe();

// Measures of a head's position awareness: Ms-PoE's score by both rules, before and after rotation,
// with entropies, ranks and the resulting ratios.

// Record head_scores, all [layer, head]: score_at_least, score_greater (before rotation: >= and >
// 3 / tokens), score_at_least_rotated, score_greater_rotated, row_entropy, row_entropy_rotated
// (nats), head_rank (0: most position-aware of its layer; by the rule of --score-rule, stable),
// ratio_under, key_ratio_under (of --ratios-under). Over several prompts, record
// head_score_stability (below).
ProbeType HeadScoresProbe();

// Record head_score_stability, of stacked head_scores: score_spearman, score_kendall [layer] (means
// over pairs of prompts, the heads of a layer ordered by their scores), rank_mean, rank_deviation
// [layer, head]; attributes spearman_all_heads, kendall_all_heads (the heads of all layers
// together), pairs. NaN if there are fewer than two prompts.
Record HeadScoreStability(const Record& stacked);

// Chosen channels of the residual stream against position.

// Record hidden_channels: hidden_channel [layer, channel, position] float32, after every block.
// Runs where --channels names channels.
ProbeType HiddenChannelsProbe();

// Record hidden_channels for values [layer, channel, position] computed elsewhere.
Record HiddenChannelsRecord(const ModelConfig& config, const std::vector<int64_t>& channels,
                            int64_t positions, std::vector<float> values);

// Drift of queries and keys along position, head by head, and how far position decides which key
// wins.

// Record key_drift: drift_direction [layer, head, dimension] (unit vectors), key_slope,
// query_centroid, bias_strength (their product), key_position_correlation, attention_plasticity
// [layer, head]. Over several prompts, record key_drift_mean (below).
ProbeType KeyDriftProbe();

// Record key_drift_mean, of a stacked key_drift: mean_key_slope, mean_query_centroid,
// mean_bias_strength, mean_key_position_correlation, mean_attention_plasticity [layer, head], over
// prompts.
Record KeyDriftMean(const Record& stacked);

// The last prompt token's attention on each pair, line or document, by layer.

// A numbered piece of a prompt: a span with a name "WORD NUMBER" ("pair 7"), as in the tasks.
struct Piece {
  int64_t number = 0;
  PromptSpan span;
};
// In the order of their numbers. Empty if no span is numbered.
std::vector<Piece> NumberedPieces(const Prompt& prompt);

// Record key_information, over the layers of --key-layers: piece_attention_sum and
// piece_attention_mean [layer, piece], means over heads; piece_attention_by_head [layer, head,
// piece]; piece_attention [piece], mean over layers and heads. Attribute gold_piece (0: none). Over
// several prompts, record key_information_map (below).
ProbeType KeyInformationProbe();

// Record key_information_map, of a stacked key_information: attention_map_sum, attention_map_mean
// [gold_place, piece], means over samples, layers and heads.
Record KeyInformationMap(const Record& stacked);

// All logits of the last prompt row.

// Record last_logits: last_logits [vocabulary] float32.
ProbeType LastLogitsProbe();

// The attention of the last prompt token, by head.

// Record last_query_attention: last_query_attention [layer, head, key] float32, key = prompt
// tokens.
ProbeType LastQueryAttentionProbe();

// Record last_query_attention for weights [layer, head, key] computed elsewhere.
Record LastQueryAttentionRecord(const ModelConfig& config, int64_t keys,
                                std::vector<float> attention);

// The logits after each block: the last prompt row through the final norm and output matrix.

// Record logit_lens: lens_token_ids, lens_token_text, lens_logit, lens_probability [layer, rank]
// (--lens-top of them); where the prompt has an answer, of its first token: answer_rank (0: the
// likeliest), answer_logit, answer_log_probability (nats) [layer]. Over several prompts, record
// logit_lens_by_place (below).
ProbeType LogitLensProbe();

// Record logit_lens_by_place, of a stacked logit_lens with an answer: mean_answer_log_probability,
// mean_answer_rank, answer_first_share [place, layer], over samples.
Record LogitLensByPlace(const Record& stacked);

// The largest values of the residual stream after each block.

// Record massive_activations: activation (signed), activation_token, activation_channel,
// activation_token_text [layer, rank], largest magnitude first; median_magnitude [layer];
// massive_count [layer], the values that are massive by the paper's rule.
ProbeType MassiveActivationsProbe();

// The most likely next tokens.

// Record next_tokens: token_text, next_token_ids, logit, probability [rank]; --top of them. Where
// the prompt has an answer, attributes of its first token: answer_token, answer_token_text,
// answer_rank (0: the likeliest of all), answer_probability, answer_logit.
ProbeType NextTokensProbe();

// Record next_tokens of logits [vocabulary]. `answer`: the answer's tokens; may be empty.
Record NextTokensRecord(const Tokenizer& tokenizer, std::span<const float> logits, int64_t top,
                        std::span<const int32_t> answer);

// Negative log-likelihood of a text by token, with a sliding window.

// Tokens [begin, end) run as a prompt of their own; tokens [first_target, end) are scored in it.
struct TextWindow {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t first_target = 0;
  bool operator==(const TextWindow&) const = default;
};

// Windows of up to `window` tokens that begin every `stride` tokens (1 <= stride < window), until
// one reaches the end; each token but the first is a target exactly once. Throws std::logic_error
// for another stride.
std::vector<TextWindow> SlidingWindows(int64_t tokens, int64_t window, int64_t stride);

// Record perplexity: token_nll (nats), context_tokens [position] of tokens 1 ... of the text;
// bin_perplexity, bin_tokens [bin]. Attributes perplexity, mean_nll (over all tokens),
// window_mean_perplexity (as published scripts average), window, stride, windows.
ProbeType PerplexityProbe();

// Ms-PoE's position-awareness score of every head.

// Record position_awareness: position_awareness_score [layer, head] float32, a share of the keys.
ProbeType PositionAwarenessProbe();

// Record position_awareness for scores [layer, head] computed elsewhere.
Record PositionAwarenessRecord(const ModelConfig& config,
                               const kernels::AwarenessThreshold& threshold,
                               std::vector<float> scores);

// The threshold of a run: --awareness-alpha if it is given, else as the setting has it
// (AwarenessRule).
kernels::AwarenessThreshold AwarenessThresholdOf(const ProbeInput& input);

// ">= 3/tokens", "> 2.5/tokens".
std::string ThresholdText(const kernels::AwarenessThreshold& threshold);

// A number above 0, or `auto`, the default; `help` describes auto.
Parameter AlphaParameter(const std::string& name, const std::string& help);

// The direction in which the residual stream moves with position.

// Record position_direction: position_direction [layer, channel] (unit vectors, Cov(x, t) over the
// prompt's rows of the stream after the block), position_slope (what the stream gains along it per
// token) and position_correlation [layer]. Over several prompts, record position_direction_mean:
// the same with `mean_` before the names.
ProbeType PositionDirectionProbe();

// The embeddings of positions, learned or sinusoidal, as a table of waves.

// Record position_embeddings, of models whose positions are embeddings (gpt2, opt, xglm):
// position_embedding [position, channel], embedding_length [position], dominant_period and
// period_share [channel] (of the channel's Fourier transform over positions, without its mean),
// similarity and sinusoidal_similarity [distance] (mean over positions of the cosine of two rows at
// that distance; the value for Vaswani et al.'s table of that width: the mean of cos(distance
// theta_j)).
ProbeType PositionEmbeddingsProbe();

// The ratio by which each head's positions were divided.

// Record position_ratio: position_ratio [layer, head] float64; 1 if the scheme has no ratio.
ProbeType PositionRatioProbe();

// Record position_ratio for ratios [layer, head] computed elsewhere.
Record PositionRatioRecord(const HeadMatrix& ratio);

// Query-focused retrieval heads: attention of the question on the gold, minus that of a question
// without content.

// Record qr_heads: qr_score, question_attention, null_question_attention [layer, head]. Over
// several prompts, record qr_heads_mean (below). Runs the prompt a second time, with
// --null-question in place of the question.
ProbeType QrHeadsProbe();

// Record qr_heads_mean, of a stacked qr_heads: mean_qr_score [layer, head] over prompts,
// qr_score_by_place [place, layer, head] over samples.
Record QrHeadsMean(const Record& stacked);

// Chosen prompt rows of the residual stream after every block.

// Record residual_rows: residual [layer, position, hidden] float32. Runs where
// --residual-rows > 0 (the last ones) or --residual-at names rows or passages.
ProbeType ResidualRowsProbe();

// Heads that copy: while the answer is teacher-forced, their largest weight is on the same token in
// the gold passage.

// Record retrieval_heads, all [layer, head]: retrieval_score (share of the answer's tokens that the
// head copies from the gold), gold_top_share (share of the answer's tokens at which its largest
// weight is in the gold, on any token), copied_gold_share (distinct tokens of the gold that it
// copies, over the gold's tokens). Over several prompts, record retrieval_heads_mean (the same
// three, means over prompts). Needs a span `gold` and an answer.
ProbeType RetrievalHeadsProbe();

// The last query's attention logit towards gold, first and last tokens, by rotary pair: which
// frequencies make a head look near or far.

// Record rope_bands, axis `target` being gold (if there is such a span), first and last: rope_bands
// [target, layer, head, rotary_pair], unrotated_logit, target_logit (the sum of both) [target,
// layer, head], means over the target's tokens; wavelength [layer, rotary_pair] in tokens. NaN:
// pairs of layers that do not rotate, targets that a sliding window hides. Over several prompts,
// record rope_bands_by_place (below).
ProbeType RopeBandsProbe();

// Record rope_bands_by_place, of a stacked rope_bands: mean_rope_bands [place, target, layer, head,
// rotary_pair], mean_target_logit [place, target, layer, head], over samples.
Record RopeBandsByPlace(const Record& stacked);

// Attention sinks: how many heads put much of their weight on the first tokens.

// Record sink_share, for the first --sink-keys tokens: sink_weight [layer, head, key], the weight
// of a key, of the last row or (--sink-rows all) mean over the rows that see it; sink_share [layer,
// key], the share of heads with more than --sink-epsilon; sink_share_of_all [key].
ProbeType SinkShareProbe();

// The last prompt token's attention on the prompt's named passages, and whether a head's attention
// follows the gold when it moves.

// Record span_attention: span_attention_sum, span_attention_mean [layer, head, span] (gold first,
// then the others in the text's order); attention_centre, attention_centre_after_sink,
// attention_entropy, sink_mass [layer, head]; if there is a span `gold` gold_attention,
// gold_over_uniform [layer, head]. Over several prompts, record gold_following (below).
ProbeType SpanAttentionProbe();

// Record gold_following, of a stacked span_attention with gold: gold_attention, gold_over_uniform,
// gold_attention_centre [place, layer, head], means over samples; gold_over_uniform_least,
// centre_place_correlation [layer, head].
Record GoldFollowing(const Record& stacked);

}  // namespace midscope
