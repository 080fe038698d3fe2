// SPDX-License-Identifier: MIT
// Families of the GPT-2 era: values read from their config.json, rejected values, and learned
// positions. The numbers are tested in families_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/decoder/decoder.h"
#include "core/model/folder_model.h"
#include "core/plan/attention_plan.h"
#include "core/run/generate.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/safetensors_parts.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using test::ConfigWith;
using test::Difference;
using test::ErrorMessage;
using test::ErrorWith;
using test::Largest;
using test::OpenErrorWith;
using test::SafetensorsParts;
using test::TemporaryFolder;
using test::TinyModelFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::shared_ptr<Decoder> Open(const std::string& model, bool beyond_context = false) {
  DecoderOptions options;
  options.threads = 1;
  options.beyond_context = beyond_context;
  return Decoder::Open(TinyModelFolder(model), options);
}

std::string RunError(const Decoder& decoder, int64_t tokens, const std::string& setting = "none") {
  const std::vector<int32_t> ids = test::SomeTinyIds(tokens);
  RunRequest request;
  request.ids = ids;
  return ErrorMessage([&] {
    request.intervention = ParseIntervention(setting);
    decoder.RunOne(request);
  });
}

TEST(FolderModel, Gpt2HasDefaultsAndNamesOfItsOwn) {
  const ModelConfig plain = ConfigWith("gpt2", {{"n_inner", nullptr},
                                                {"activation_function", nullptr},
                                                {"tie_word_embeddings", nullptr},
                                                {"n_positions", nullptr}});
  EXPECT_EQ(plain.feed_forward, 120);
  EXPECT_EQ(plain.activation, Activation::kGeluTanh);
  EXPECT_TRUE(plain.tied_embeddings);
  EXPECT_EQ(plain.trained_context, 1024);
  EXPECT_EQ(plain.positions, PositionKind::kLearned);
  EXPECT_EQ(plain.logit_scale, 0);
  EXPECT_EQ(ConfigWith("gpt2", {{"scale_attn_weights", false}}).logit_scale, 1.0);
  EXPECT_EQ(ConfigWith("gpt2", {{"n_head", nullptr}, {"num_attention_heads", 5}}).heads, 5);
  EXPECT_THAT(ErrorWith("gpt2", {{"num_attention_heads", 5}}),
              HasSubstr("n_head and num_attention_heads differ"));
}

TEST(FolderModel, RefusesWhatItDoesNotFollowOfGpt2) {
  const ModelConfig by_layer = ConfigWith("gpt2", {{"scale_attn_by_inverse_layer_idx", true}});
  EXPECT_EQ(by_layer.attention[0].logit_divisor, 1.0);
  EXPECT_EQ(by_layer.attention[1].logit_divisor, 2.0);
  EXPECT_THAT(ErrorWith("gpt2", {{"add_cross_attention", true}}),
              HasSubstr("add_cross_attention is true"));
  EXPECT_THAT(ErrorWith("gpt2", {{"n_head", 10}}), HasSubstr("heads of 3 dimensions"));
  EXPECT_THAT(OpenErrorWith("gpt2", {{"n_positions", 130}}),
              HasSubstr("wpe.weight has shape [131, 30]; the model needs [130, 30]"));
  // As the file has it: [inputs, outputs].
  EXPECT_THAT(OpenErrorWith("gpt2", {{"n_inner", 45}}),
              HasSubstr("has shape [30, 44]; the model needs [30, 45]"));
}

// As the published files are: without "transformer.", with masks.
TEST(FolderModel, Gpt2IsReadWithoutPrefixAndWithMasks) {
  const TemporaryFolder folder(TinyModelFolder("gpt2"));
  SafetensorsParts published;
  for (const auto& [name, part] : test::ReadSafetensors(folder.Read("model.safetensors"))) {
    published[name.substr(std::string("transformer.").size())] = part;
  }
  published["h.0.attn.bias"] = {"U8", {1, 1, 2, 2}, std::string(4, '\1')};
  published["h.1.attn.masked_bias"] = {"F32", {}, std::string(4, '\0')};
  folder.Write("model.safetensors", test::WriteSafetensors(published));
  const auto bare = OpenFolderModel(folder.path());
  const auto expected = OpenFolderModel(TinyModelFolder("gpt2"));
  for (const char* name : {"position_embedding", "1.value", "0.down", "1.query.bias"}) {
    const TensorRef* a = bare->Find(name);
    const TensorRef* b = expected->Find(name);
    ASSERT_TRUE(a != nullptr && b != nullptr) << name;
    ASSERT_EQ(a->rows * a->row_bytes, b->rows * b->row_bytes) << name;
    EXPECT_EQ(std::memcmp(a->data, b->data, static_cast<size_t>(a->rows * a->row_bytes)), 0)
        << name;
  }
}

TEST(FolderModel, GptNeoNamesItsLayers) {
  const ModelConfig plain = ConfigWith("gpt-neo", {{"intermediate_size", nullptr},
                                                   {"max_position_embeddings", nullptr},
                                                   {"window_size", nullptr},
                                                   {"tie_word_embeddings", nullptr}});
  EXPECT_EQ(plain.feed_forward, 120);
  EXPECT_EQ(plain.trained_context, 2048);
  EXPECT_TRUE(plain.tied_embeddings);
  EXPECT_EQ(plain.logit_scale, 1.0);
  EXPECT_EQ(plain.positions, PositionKind::kLearned);
  EXPECT_EQ(plain.attention[0].window, 0);
  EXPECT_EQ(plain.attention[1].window, 256);
  EXPECT_EQ(plain.attention[2].window, 256);
  const ModelConfig old = ConfigWith(
      "gpt-neo", {{"attention_layers", nullptr}, {"attention_types", nullptr}, {"num_layers", 24}});
  EXPECT_EQ(old.attention[22].window, 0);
  EXPECT_EQ(old.attention[23].window, 11);
  EXPECT_THAT(ErrorWith("gpt-neo", {{"attention_layers", nullptr}}),
              HasSubstr("attention_types is given without attention_layers"));
  EXPECT_THAT(ErrorWith("gpt-neo", {{"num_layers", 2}}),
              HasSubstr("attention_layers names 3 layers; the model has 2"));
  EXPECT_THAT(ErrorWith("gpt-neo", {{"attention_layers", {"global", "sparse", "local"}}}),
              HasSubstr("attention_layers holds 'sparse'"));
  EXPECT_THAT(ErrorWith("gpt-neo", {{"num_attention_heads", 5}}),
              HasSubstr("num_heads and num_attention_heads differ"));
}

TEST(FolderModel, GptBigCodeHasOneKeyValueHeadOrAll) {
  const ModelConfig plain = ConfigWith("gpt-bigcode", {{"n_inner", nullptr},
                                                       {"multi_query", nullptr},
                                                       {"activation_function", nullptr},
                                                       {"n_positions", nullptr}});
  EXPECT_EQ(plain.key_value_heads, 1);
  EXPECT_EQ(plain.feed_forward, 120);
  EXPECT_EQ(plain.activation, Activation::kGeluTanh);
  EXPECT_EQ(plain.trained_context, 1024);
  EXPECT_EQ(plain.logit_scale, 0);
  EXPECT_EQ(ConfigWith("gpt-bigcode", {{"scale_attn_weights", false}}).logit_scale, 1.0);
  EXPECT_EQ(ConfigWith("gpt-bigcode", {{"multi_query", false}}).key_value_heads, 3);
  EXPECT_THAT(OpenErrorWith("gpt-bigcode", {{"multi_query", false}}),
              HasSubstr("c_attn.weight has shape [50, 30]; the model needs [90, 30]"));
  EXPECT_THAT(ErrorWith("gpt-bigcode", {{"add_cross_attention", true}}),
              HasSubstr("add_cross_attention is true"));
}

TEST(FolderModel, FalconHasThreeForms) {
  const ModelConfig first = ConfigWith("falcon", {{"ffn_hidden_size", nullptr},
                                                  {"max_position_embeddings", nullptr},
                                                  {"rope_parameters", nullptr}});
  EXPECT_EQ(first.key_value_heads, 1);  // whatever num_kv_heads is
  EXPECT_EQ(first.feed_forward, 240);
  EXPECT_EQ(first.trained_context, 2048);
  EXPECT_EQ(first.rope_base, 10000.0);
  EXPECT_EQ(first.activation, Activation::kGelu);
  EXPECT_TRUE(first.parallel_residual && first.shared_norm && first.tied_embeddings);
  const ModelConfig grouped = ConfigWith("falcon-new", {{"num_ln_in_parallel_attn", nullptr}});
  EXPECT_EQ(grouped.key_value_heads, 3);
  EXPECT_TRUE(grouped.parallel_residual && !grouped.shared_norm);
  EXPECT_TRUE(ConfigWith("falcon-new-one-norm", {}).shared_norm);
  const ModelConfig serial = ConfigWith("falcon-alibi", {{"num_kv_heads", nullptr}});
  EXPECT_EQ(serial.key_value_heads, 6);
  EXPECT_EQ(serial.positions, PositionKind::kAlibi);
  EXPECT_TRUE(!serial.parallel_residual && !serial.shared_norm);
  EXPECT_EQ(ConfigWith("falcon", {{"hidden_size", nullptr}, {"n_embed", 60}}).hidden, 60);
}

// 2^-0.5 of sixteen heads is 0.70703125 in bfloat16.
TEST(FolderModel, SlopesOfFalconAreRoundedAndScaled) {
  const ModelConfig config =
      ConfigWith("falcon-alibi",
                 {{"num_attention_heads", 16}, {"hidden_size", 64}, {"num_kv_heads", nullptr}});
  const std::vector<float> slopes = CompilePlans({}, config, 9)[0].alibi_slopes;
  ASSERT_EQ(slopes.size(), 16u);
  EXPECT_EQ(slopes[0], 0.70703125f / 2);
  EXPECT_EQ(slopes[1], 0.25f);
}

TEST(FolderModel, RefusesWhatItDoesNotFollowOfFalcon) {
  EXPECT_THAT(ErrorWith("falcon-new", {{"parallel_attn", false}}),
              HasSubstr("parallel_attn is false with new_decoder_architecture"));
  EXPECT_THAT(ErrorWith("falcon", {{"num_ln_in_parallel_attn", 2}}),
              HasSubstr("num_ln_in_parallel_attn is 2 without new_decoder_architecture"));
  EXPECT_THAT(ErrorWith("falcon", {{"num_ln_in_parallel_attn", 3}}),
              HasSubstr("num_ln_in_parallel_attn is 3"));
  EXPECT_THAT(ErrorWith("falcon-alibi", {{"num_kv_heads", 2}}),
              HasSubstr("num_kv_heads differs from num_attention_heads"));
  EXPECT_THAT(OpenErrorWith("falcon", {{"multi_query", false}}), HasSubstr("has shape [84, 60]"));
  EXPECT_THAT(OpenErrorWith("falcon-new", {{"bias", false}}), HasSubstr("has no place"));
}

TEST(FolderModel, BloomHasOldAndNewNames) {
  const ModelConfig bloom = ConfigWith("bloom", {});
  EXPECT_TRUE(bloom.embedding_norm && bloom.tied_embeddings);
  EXPECT_EQ(bloom.feed_forward, 120);
  EXPECT_EQ(bloom.trained_context, 2048);
  EXPECT_EQ(bloom.positions, PositionKind::kAlibi);
  EXPECT_EQ(bloom.alibi_scale, 1.0);
  // As in published files.
  const ModelConfig published = ConfigWith("bloom", {{"hidden_size", nullptr},
                                                     {"n_embed", 30},
                                                     {"n_head", nullptr},
                                                     {"num_attention_heads", 5},
                                                     {"seq_length", 1024},
                                                     {"slow_but_exact", false},
                                                     {"pretraining_tp", 4}});
  EXPECT_EQ(published.hidden, 30);
  EXPECT_EQ(published.heads, 5);
  EXPECT_EQ(published.trained_context, 1024);
}

TEST(FolderModel, RefusesWhatItDoesNotFollowOfBloom) {
  EXPECT_THAT(ErrorWith("bloom", {{"apply_residual_connection_post_layernorm", true}}),
              HasSubstr("apply_residual_connection_post_layernorm is true"));
  EXPECT_THAT(ErrorWith("bloom", {{"slow_but_exact", true}, {"pretraining_tp", 2}}),
              HasSubstr("slow_but_exact is true"));
  EXPECT_EQ(ErrorWith("bloom", {{"slow_but_exact", true}}), "");
  EXPECT_THAT(ErrorWith("bloom", {{"n_embed", 36}}), HasSubstr("hidden_size and n_embed differ"));
}

TEST(FolderModel, GptJRotatesNeighboursOfTheFirstDimensions) {
  const ModelConfig plain = ConfigWith("gptj", {{"n_inner", nullptr}, {"n_positions", nullptr}});
  EXPECT_EQ(plain.rope_dimensions, 6);
  EXPECT_EQ(plain.rope_base, 10000.0);
  EXPECT_EQ(plain.feed_forward, 168);
  EXPECT_EQ(plain.trained_context, 2048);
  EXPECT_TRUE(plain.parallel_residual && plain.shared_norm && !plain.tied_embeddings);
  // Rows 0, 2, 4 of a head, then 1, 3, 5, then the others in order; three heads of 14.
  const std::vector<int64_t> order =
      OpenFolderModel(TinyModelFolder("gptj"))->Find("1.key")->row_order;
  ASSERT_EQ(order.size(), 42u);
  EXPECT_THAT(std::vector(order.begin() + 14, order.begin() + 22),
              ElementsAre(14, 16, 18, 15, 17, 19, 20, 21));
}

TEST(FolderModel, RefusesWhatItDoesNotFollowOfGptJ) {
  EXPECT_THAT(ErrorWith("gptj", {{"rotary_dim", "null"}}), HasSubstr("rotary_dim is null"));
  EXPECT_THAT(ErrorWith("gptj", {{"rotary_dim", nullptr}}),
              HasSubstr("rotating 64 of 14 dimensions"));
  EXPECT_THAT(ErrorWith("gptj", {{"rotary_dim", 5}}), HasSubstr("rotating 5 of 14 dimensions"));
  EXPECT_THAT(ErrorWith("gptj", {{"tie_word_embeddings", true}}),
              HasSubstr("tie_word_embeddings is true"));
}

TEST(FolderModel, OptHasTwoRowsBeforeItsFirstPosition) {
  const ModelConfig opt = ConfigWith("opt", {{"activation_function", nullptr},
                                             {"word_embed_proj_dim", nullptr},
                                             {"tie_word_embeddings", nullptr}});
  EXPECT_EQ(opt.activation, Activation::kRelu);
  EXPECT_EQ(opt.positions, PositionKind::kLearned);
  EXPECT_EQ(opt.position_offset, 2);
  EXPECT_EQ(opt.norm_epsilon, 1e-5);
  EXPECT_TRUE(opt.tied_embeddings && opt.norm_weights);
  EXPECT_EQ(OpenFolderModel(TinyModelFolder("opt"))->Find("position_embedding")->rows, 133);
  EXPECT_FALSE(ConfigWith("opt-plain", {}).norm_weights);
}

TEST(FolderModel, RefusesWhatItDoesNotFollowOfOpt) {
  // Its norms and projections are what decides whether the file's tensors fit.
  EXPECT_THAT(OpenErrorWith("opt", {{"do_layer_norm_before", false}}),
              HasSubstr("'model.decoder.final_layer_norm.bias' has no place"));
  EXPECT_THAT(OpenErrorWith("opt", {{"word_embed_proj_dim", 16}}),
              HasSubstr("has shape [264, 30]; the model needs [264, 16]"));
  EXPECT_THAT(ErrorWith("opt", {{"word_embed_proj_dim", 1}, {"hidden_size", 300}}),
              HasSubstr("less than a 64th of hidden_size"));
  EXPECT_THAT(OpenErrorWith("opt", {{"_remove_final_layer_norm", true}}),
              HasSubstr("'model.decoder.final_layer_norm.bias' has no place"));
  EXPECT_THAT(OpenErrorWith("opt", {{"enable_bias", false}}), HasSubstr("has no place"));
  EXPECT_THAT(OpenErrorWith("opt", {{"max_position_embeddings", 133}}),
              HasSubstr("embed_positions.weight has shape [133, 30]; the model needs [135, 30]"));
}

TEST(FamiliesWithLearnedPositions, EndWithTheTableEvenBeyondTheContext) {
  for (const auto& [name, beyond] :
       {std::pair{"gpt2", false}, {"gpt2", true}, {"opt", false}, {"opt", true}}) {
    const auto decoder = Open(name, beyond);
    EXPECT_EQ(RunError(*decoder, 131), "");
    EXPECT_THAT(RunError(*decoder, 132),
                AllOf(HasSubstr("it has 132 tokens, the model's context holds 131: its positions "
                                "are learned"),
                      HasSubstr("Shorten it")));
    GenerateOptions options;
    options.new_tokens = 10;
    options.stop_at_end = false;
    const std::vector<int32_t> prompt = test::SomeTinyIds(128);
    EXPECT_EQ(Generate(*decoder, prompt, {}, options, nullptr).ids.size(), 4u);
  }
}

TEST(FamiliesWithLearnedPositions, RefuseWhatChangesRotaryPositions) {
  const auto decoder = Open("gpt2");
  for (const char* setting :
       {"pi(1.5)", "ntk(2)", "self-extend(group=2, window=8)", "move(span=2:5, to=shift:1)",
        "positions(sampler=pose, factor=1.5, rows=last)"}) {
    EXPECT_THAT(RunError(*decoder, 40, setting), HasSubstr("learned")) << setting;
  }
}

// That the numbers are right is the work of positions_test.cpp.
TEST(FamiliesWithLearnedPositions, TakeGivenIdsUpToTheTable) {
  const auto decoder = Open("gpt2");
  EXPECT_EQ(RunError(*decoder, 40, "positions(sampler=pose, factor=1.5)"), "");
  EXPECT_THAT(RunError(*decoder, 60, "positions(sampler=randpos, factor=4)"),
              AllOf(HasSubstr("its positions are learned"), HasSubstr("Give smaller ids"),
                    Not(HasSubstr("--beyond-context"))));
}

// On a trace, only rows from the first with another id on are run again.
TEST(FamiliesWithLearnedPositions, WhatIfOfGivenIdsEqualsAFullRun) {
  const auto decoder = Open("opt");
  Prompt prompt;
  prompt.ids = test::SomeTinyIds(40);
  WhatIf what_if(decoder, {prompt});
  const Intervention setting = ParseIntervention("positions(sampler=pose, factor=2)");
  const std::vector<float> clean = what_if.Evaluate({}).outcomes[0].last_logits;
  const std::vector<float> changed = what_if.Evaluate(setting).outcomes[0].last_logits;
  RunRequest request;
  request.ids = prompt.ids;
  request.intervention = setting;
  const std::vector<float> full = decoder->RunOne(request).logits;
  EXPECT_LE(Difference(changed, full), 1e-5 * Largest(full));
  EXPECT_GT(Difference(changed, clean), 1e-2 * Largest(full));
}

// Rows of a batch, and rows that follow on a trace, get the positions that they have alone.
TEST(FamiliesWithLearnedPositions, AreThoseOfEachSequenceOfABatch) {
  for (const char* name : {"gpt2", "gpt2-unscaled", "opt", "opt-plain"}) {
    const auto decoder = Open(name);
    const std::vector<int32_t> ids = test::SomeTinyIds(57);
    std::vector<RunRequest> requests;
    for (const size_t count : {size_t{57}, size_t{9}, size_t{31}}) {
      requests.emplace_back().ids = std::span(ids).first(count);
    }
    const auto trace = decoder->MakeTrace(57);
    RunRequest half = requests[0];
    half.ids = std::span(ids).first(30);
    half.trace = trace.get();
    decoder->RunOne(half);
    requests[0].trace = trace.get();
    const std::vector<RunResult> together = decoder->Run(requests);
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].trace = nullptr;
      const std::vector<float> alone = decoder->RunOne(requests[i]).logits;
      EXPECT_LE(Difference(together[i].logits, alone), 1e-5 * Largest(alone)) << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace midscope
