// SPDX-License-Identifier: MIT
// The logits after each block: the last prompt row through the final norm and output matrix.
#pragma once

#include "probes/base/probe.h"

namespace midscope {

// Record logit_lens: lens_token_ids, lens_token_text, lens_logit, lens_probability [layer, rank]
// (--lens-top of them); where the prompt has an answer, of its first token: answer_rank (0: the
// likeliest), answer_logit, answer_log_probability (nats) [layer]. Over several prompts, record
// logit_lens_by_place (below).
ProbeType LogitLensProbe();

// Record logit_lens_by_place, of a stacked logit_lens with an answer: mean_answer_log_probability,
// mean_answer_rank, answer_first_share [place, layer], over samples.
Record LogitLensByPlace(const Record& stacked);

}  // namespace midscope
