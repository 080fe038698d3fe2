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

// Direct logit attribution of the answer: which heads, layers and keys produce the difference
// between the logits of the answer and of the best wrong piece.

// Makes record answer_attribution, in logits before the final soft cap: answer_attribution [layer,
// head]; with --attribution-keys answer_attribution_by_key [layer, head, key],
// answer_attribution_of_key [key] (summed over layers and heads), answer_attribution_without_key
// [layer, head]; attribution_of_part [part, layer] (heads, attention bias, mlp). Attributes:
// attribution_sum, the sum of all terms, which include embedding_attribution and
// constant_attribution; logit_difference, measured in the run; attribution_rounding, its difference
// from attribution_sum. Over several prompts, record answer_attribution_by_place (below).
ProbeType AnswerAttributionProbe();

// Returns record answer_attribution_by_place of a stacked answer_attribution:
// mean_answer_attribution [place, layer, head], mean_attribution_of_part [place, part, layer],
// mean_logit_difference [place], over samples.
Record AnswerAttributionByPlace(const Record& stacked);

// Attention rollout of the last row with measured shares of the residual stream: how much of the
// last token's stream originates from each token, layer by layer.

// Makes record attention_rollout: attention_rollout [layer, key], the shares at the input of
// `layer` (their sum is 1 if the patterns' rows sum to 1); attention_share [layer], the share
// lambda of the attention's update in the stream; gold_rollout [layer] if there is a span `gold`.
// Over several prompts, record attention_rollout_by_place (below). Memory is linear in the prompt's
// length; the probe needs two additional runs and the pattern of every row.
ProbeType AttentionRolloutProbe();

// Returns record attention_rollout_by_place of a stacked attention_rollout with gold:
// mean_gold_rollout [place, layer], over samples.
Record AttentionRolloutByPlace(const Record& stacked);

// Attention of chosen prompt rows instead of the last one, for example of the gold passage or of
// the question.

// Makes record attention_rows: row_attention [layer, head, row, key] float32, 0 for keys after the
// row. Runs if --attention-at names rows or passages.
ProbeType AttentionRowsProbe();

// The keys that Ms-PoE's position-awareness score of a head counts.

// Makes record counted_keys: counted_keys [layer, head, key] boolean; attributes threshold (">=
// 3/tokens"), alpha and threshold_weight, which is alpha / tokens.
ProbeType CountedKeysProbe();

// Makes record counted_keys from the given keys [layer, head, key].
Record CountedKeysRecord(const ModelConfig& config, int64_t keys,
                         const kernels::AwarenessThreshold& threshold,
                         std::vector<uint8_t> counted);

// How layers with a mixer (linear attention or a state space model) mix tokens.

// Makes record effective_attention: effective_attention [mixer_layer, mixer_head, key] float32,
// signed; with a span `gold` effective_gold_share [mixer_layer, mixer_head]. The values of axis
// mixer_layer are the layers with a mixer. Over several prompts with gold, record
// effective_attention_by_place (below).
ProbeType EffectiveAttentionProbe();

// Returns record effective_attention_by_place of a stacked effective_attention with gold:
// mean_effective_gold_share [place, mixer_layer, mixer_head], over samples.
Record EffectiveAttentionByPlace(const Record& stacked);

// The experts that each token uses, in mixture-of-experts models.

// Makes record expert_use: expert and expert_weight [expert_layer, token, choice], largest weight
// first (-1 and 0 if fewer are used); expert_share [expert_layer, expert], the share of the
// prompt's tokens that use it. The values of axis expert_layer are the layers with experts.
ProbeType ExpertUseProbe();

// Measures of a head's position awareness: Ms-PoE's score by both rules, before and after rotation,
// with entropies, ranks and the resulting ratios.

// Makes record head_scores, all [layer, head]: score_at_least, score_greater (before rotation: >=
// and > 3 / tokens), score_at_least_rotated, score_greater_rotated, row_entropy,
// row_entropy_rotated (nats), sparse_share, sparse_share_rotated (share of keys below
// --sparse-below / tokens), head_rank (0: most position-aware head of its layer, by --score-rule;
// ties: lower head), ratio_under, key_ratio_under (ratios under the setting of --ratios-under).
// Over several prompts, record head_score_stability (below).
ProbeType HeadScoresProbe();

// Returns record head_score_stability of stacked head_scores: score_spearman, score_kendall [layer]
// (rank correlations of the scores of a layer's heads, means over pairs of prompts), rank_mean,
// rank_deviation [layer, head]; attributes spearman_all_heads, kendall_all_heads (the heads of all
// layers together), pairs. NaN if there are fewer than two prompts.
Record HeadScoreStability(const Record& stacked);

// Makes record hidden_channels: hidden_channel [layer, channel, position] float32, values of the
// chosen channels of the residual stream after every block. Runs if --channels names channels.
ProbeType HiddenChannelsProbe();

// Makes record hidden_channels from the given values [layer, channel, position].
Record HiddenChannelsRecord(const ModelConfig& config, const std::vector<int64_t>& channels,
                            int64_t positions, std::vector<float> values);

// Drift of each head's queries and keys with position, and how strongly position determines which
// key gets the most attention.

// Makes record key_drift: drift_direction [layer, head, dimension] (unit vectors), key_slope,
// query_centroid, bias_strength (their product), key_position_correlation, attention_plasticity
// [layer, head]. Over several prompts, record key_drift_mean (below).
ProbeType KeyDriftProbe();

// Returns record key_drift_mean of a stacked key_drift: mean_key_slope, mean_query_centroid,
// mean_bias_strength, mean_key_position_correlation, mean_attention_plasticity [layer, head], over
// prompts.
Record KeyDriftMean(const Record& stacked);

// The last prompt token's attention to each pair, line or document, by layer.

// A numbered piece of a prompt: a span with a name "WORD NUMBER" ("pair 7"), as in the tasks.
struct Piece {
  int64_t number = 0;
  PromptSpan span;
};
// Returns the pieces in the order of their numbers; empty if no span is numbered.
std::vector<Piece> NumberedPieces(const Prompt& prompt);

// Makes record key_information, over the layers of --key-layers: piece_attention_sum and
// piece_attention_mean [layer, piece], means over heads; piece_attention_by_head [layer, head,
// piece]; piece_attention [piece], mean over layers and heads. Attribute gold_piece (0: none). Over
// several prompts, record key_information_map (below).
ProbeType KeyInformationProbe();

// Returns record key_information_map of a stacked key_information: attention_map_sum,
// attention_map_mean [gold_place, piece], means over samples, layers and heads.
Record KeyInformationMap(const Record& stacked);

// Makes record last_logits: last_logits [vocabulary] float32, all logits of the last prompt row.
ProbeType LastLogitsProbe();

// Makes record last_query_attention: last_query_attention [layer, head, key] float32, the attention
// of the last prompt token; keys are the prompt's tokens.
ProbeType LastQueryAttentionProbe();

// Makes record last_query_attention from the given weights [layer, head, key].
Record LastQueryAttentionRecord(const ModelConfig& config, int64_t keys,
                                std::vector<float> attention);

// The logits after each block: applies the final norm and the output matrix to the last prompt row
// (layer_lens.h), in the Jacobian lens after a matrix of the layer.

// Makes record logit_lens (layer_lens.h); over several prompts, also logit_lens_by_place.
ProbeType LogitLensProbe();

// Makes record jacobian_lens (layer_lens.h) with the lens of --lens-file; over several prompts,
// also jacobian_lens_by_place.
ProbeType JacobianLensProbe();

// The largest values of the residual stream after each block.

// Makes record massive_activations: activation (signed), activation_token, activation_channel,
// activation_token_text [layer, rank], largest magnitude first; median_magnitude [layer];
// massive_count [layer], the number of values that are massive by the paper's rule.
ProbeType MassiveActivationsProbe();

// Makes record next_tokens: token_text, next_token_ids, logit, probability [rank], for the first
// --top tokens. If the prompt has an answer, attributes for its first token: answer_token,
// answer_token_text, answer_rank (0: the likeliest of all), answer_probability, answer_logit.
ProbeType NextTokensProbe();

// Makes record next_tokens from logits [vocabulary]. `answer`: the answer's token ids; may be
// empty.
Record NextTokensRecord(const Tokenizer& tokenizer, std::span<const float> logits, int64_t top,
                        std::span<const int32_t> answer);

// Negative log-likelihood of each token of a text, with a sliding window.

// A window of a text: tokens [begin, end) are run as one prompt, [first_target, end) are scored.
struct TextWindow {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t first_target = 0;
  bool operator==(const TextWindow&) const = default;
};

// Returns windows of up to `window` tokens that begin every `stride` tokens (1 <= stride < window),
// until one reaches the end; each token except the first is a target exactly once. Throws
// std::logic_error if `stride` is out of range.
std::vector<TextWindow> SlidingWindows(int64_t tokens, int64_t window, int64_t stride);

// Makes record perplexity: token_nll (nats), context_tokens [position], for all tokens except the
// first; bin_perplexity, bin_tokens [bin]. Attributes perplexity, mean_nll (over all tokens),
// window_mean_perplexity (averaged as in published scripts), window, stride, windows.
ProbeType PerplexityProbe();

// Ms-PoE's position-awareness score of every head.

// Makes record position_awareness: position_awareness_score [layer, head] float32, a share of the
// keys. Over several prompts, record position_awareness_by_place (below).
ProbeType PositionAwarenessProbe();

// Returns record position_awareness_by_place of a stacked position_awareness:
// mean_position_awareness_score [place, layer, head], mean over samples, and
// mean_position_awareness_score_half_width, half of its 95 % interval.
Record AwarenessByPlace(const Record& stacked);

// Makes record position_awareness from the given scores [layer, head].
Record PositionAwarenessRecord(const ModelConfig& config,
                               const kernels::AwarenessThreshold& threshold,
                               std::vector<float> scores);

// Returns the threshold of a run: --awareness-alpha if given, else the setting's (AwarenessRule).
kernels::AwarenessThreshold AwarenessThresholdOf(const ProbeInput& input);

// Returns the threshold as text: ">= 3/tokens", "> 2.5/tokens".
std::string ThresholdText(const kernels::AwarenessThreshold& threshold);

// Makes a numeric option above 0 that also accepts `auto`, the default; `help` describes `auto`.
Parameter AlphaParameter(const std::string& name, const std::string& help);

// The direction in which the residual stream moves with position.

// Makes record position_direction: position_direction [layer, channel] (unit vectors, Cov(x, t)
// over the prompt's rows of the stream after the block), position_slope (increase of the stream
// along that direction per token) and position_correlation [layer]. Over several prompts, record
// position_direction_mean with the means of these arrays, named mean_NAME.
ProbeType PositionDirectionProbe();

// The embeddings of positions, learned or sinusoidal, analysed as waves.

// Makes record position_embeddings, for models whose positions are embeddings (gpt2, opt, xglm):
// position_embedding [position, channel], embedding_length [position], dominant_period and
// period_share [channel] (largest component of the channel's Fourier transform over positions,
// without the mean), similarity [distance] (mean over positions of the cosine of two rows at that
// distance) and sinusoidal_similarity [distance] (similarity of the table of Vaswani et al. of that
// width: the mean of cos(distance theta_j)).
ProbeType PositionEmbeddingsProbe();

// Makes record position_ratio: position_ratio [layer, head] float64, the number by which the head's
// positions were divided; 1 if the scheme has no ratio.
ProbeType PositionRatioProbe();

// Makes record position_ratio from the given ratios [layer, head].
Record PositionRatioRecord(const HeadMatrix& ratio);

// Query-focused retrieval heads: attention of the question to the gold passage, minus the attention
// of a question without content.

// Makes record qr_heads: qr_score, question_attention, null_question_attention [layer, head]. Over
// several prompts, record qr_heads_mean (below). Runs the prompt a second time, with
// --null-question in place of the question.
ProbeType QrHeadsProbe();

// Returns record qr_heads_mean of a stacked qr_heads: mean_qr_score [layer, head] over prompts,
// qr_score_by_place [place, layer, head] over samples.
Record QrHeadsMean(const Record& stacked);

// Makes record residual_rows: residual [layer, position, hidden] float32, chosen prompt rows of the
// residual stream after every block. Runs if --residual-rows > 0 (number of last rows) or
// --residual-at names rows or passages.
ProbeType ResidualRowsProbe();

// Retrieval heads, which copy from the gold passage: while the answer is teacher-forced, their
// largest weight is on the same token in the gold passage.

// Makes record retrieval_heads, all [layer, head]: retrieval_score (share of the answer's tokens
// that the head copies from the gold), gold_top_share (share of the answer's tokens at which the
// head's largest weight is on any gold token), copied_gold_share (number of distinct gold tokens
// that the head copies, over the number of gold tokens). Over several prompts, record
// retrieval_heads_mean (means of these three over prompts). Needs a span `gold` and an answer.
ProbeType RetrievalHeadsProbe();

// The last query's attention logits for gold, first and last tokens, by rotary pair: which
// frequencies make a head attend near or far.

// Makes record rope_bands; axis `target` lists gold (if there is such a span), first and last:
// rope_bands [target, layer, head, rotary_pair], unrotated_logit, target_logit (the sum of both)
// [target, layer, head], means over the target's tokens; wavelength [layer, rotary_pair] in tokens.
// NaN for pairs in layers without rotation and for targets outside a sliding window. Over several
// prompts, record rope_bands_by_place (below).
ProbeType RopeBandsProbe();

// Returns record rope_bands_by_place of a stacked rope_bands: mean_rope_bands [place, target,
// layer, head, rotary_pair], mean_target_logit [place, target, layer, head], over samples.
Record RopeBandsByPlace(const Record& stacked);

// Attention sinks: the share of heads with large weights on the first tokens.

// Makes record sink_share, for the first --sink-keys tokens: sink_weight [layer, head, key], the
// weight of a key in the last row or, with --sink-rows all, its mean over the rows that can attend
// to it; sink_share [layer, key], the share of heads whose weight exceeds --sink-epsilon;
// sink_share_of_all [key], over all layers.
ProbeType SinkShareProbe();

// The last prompt token's attention to the prompt's named passages, and whether a head's attention
// follows the gold passage when it moves.

// Makes record span_attention: span_attention_sum, span_attention_mean [layer, head, span] (gold
// first, then the others in text order), span_first_token [span]; attention_centre,
// attention_centre_after_sink, attention_entropy, sink_mass [layer, head]; with a span `gold`,
// gold_attention, gold_over_uniform [layer, head]. Over several prompts, record gold_following
// (below).
ProbeType SpanAttentionProbe();

// Returns record gold_following of a stacked span_attention with gold: mean_gold_attention,
// mean_gold_attention_half_width (half of its 95 % interval), mean_gold_over_uniform,
// mean_attention_centre [place, layer, head], over samples; least_gold_over_uniform,
// centre_place_correlation [layer, head]; if all prompts have the same number of passages,
// mean_passage_attention [place, layer, head, passage], in text order.
Record GoldFollowing(const Record& stacked);

}  // namespace midscope
