// SPDX-License-Identifier: MIT
// Tokens declared only in files other than tokenizer.json, and the tokens that the post-processor
// adds around a text. Expected ids are those of AutoTokenizer of transformers 5.24 for the same
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Ids = std::vector<int32_t>;
using Files = std::map<std::string, std::string>;

// Bytes a, b, space, <, >, s, x have the ids 0 to 6.
std::string TokenizerJson(const std::string& added, const std::string& post_processor = "null") {
  return R"({"version": "1.0", "added_tokens": [)" + added +
         R"(], "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
      "post_processor": )" +
         post_processor + R"(, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE",
      "vocab": {"a": 0, "b": 1, "Ġ": 2, "<": 3, ">": 4, "s": 5, "x": 6}, "merges": []}})";
}

std::string Added(int id, const std::string& text, const std::string& flags = "") {
  return "{\"id\": " + std::to_string(id) + ", \"content\": \"" + text + "\", " + flags +
         R"("special": true, "normalized": false})";
}

std::string Listed(const std::string& id, const std::string& text, const std::string& flags = "") {
  return "\"" + id + "\": {\"content\": \"" + text + "\", " + flags +
         R"("special": true, "normalized": false})";
}

Tokenizer Load(const Files& files) {
  const test::TemporaryFolder folder;
  for (const auto& [name, text] : files) folder.Write(name, text);
  return Tokenizer::FromFolder(folder.path());
}

Ids EncodeWith(const std::string& added, const std::string& config, const std::string& text,
               const Files& others = {}) {
  Files files = others;
  files["tokenizer.json"] = TokenizerJson(added);
  files["tokenizer_config.json"] = config;
  return Load(files).EncodeIds(text);
}

TEST(DeclaredTokens, FlagsOfTheConfigArePreferred) {
  const std::string right = R"("rstrip": true, )";
  EXPECT_EQ(
      EncodeWith(Added(7, "<x>"),
                 R"({"added_tokens_decoder": {)" + Listed("7", "<x>", right) + "}}", "a <x>  b"),
      (Ids{0, 2, 7, 1}));
  EXPECT_EQ(EncodeWith(Added(7, "<x>", right + R"("lstrip": true, )"),
                       R"({"added_tokens_decoder": {)" + Listed("7", "<x>") + "}}", "a <x>  b"),
            (Ids{0, 2, 7, 2, 2, 1}));
  EXPECT_EQ(
      EncodeWith(Added(7, "<x>"),
                 R"({"added_tokens_decoder": {)" + Listed("7", "x", R"("single_word": true, )") +
                     ", " + Listed("9", "<x>", R"("lstrip": true, )") + "}}",
                 "ax x  <x>b"),
      (Ids{0, 6, 2, 6, 7, 1}));
}

TEST(DeclaredTokens, NewTokensGetTheNextIds) {
  const std::string own = Added(7, "<x>");
  EXPECT_EQ(EncodeWith(own,
                       R"({"unk_token": "<u>", "bos_token": "<s>", "image_token": "<i>",
                           "pad_token": "<x>"})",
                       "a<x><u><s><i>"),
            (Ids{0, 7, 9, 8, 10}));
  EXPECT_EQ(EncodeWith(own, R"({"additional_special_tokens": ["<b>", "a"], "eos_token": "<s>"})",
                       "a<x><b><s>b"),
            (Ids{0, 7, 9, 8, 1}));
  EXPECT_EQ(EncodeWith(own,
                       R"({"zeta_token": "<b>", "alpha_token": "<s>",
                           "extra_special_tokens": {"zz": "<a>", "aa": "<bb>"},
                           "additional_special_tokens": ["<xx>"]})",
                       "<b><s><a><bb><xx>"),
            (Ids{8, 9, 10, 11, 12}));
  // transformers does not leave the gaps that a file states.
  EXPECT_EQ(EncodeWith(Added(30, "<x>"),
                       R"({"added_tokens_decoder": {)" + Listed("40", "<b>") +
                           R"(, "35": {"content": "<a>", "special": false, "normalized": true}}})",
                       "<x><a><b>"),
            (Ids{7, 8, 9}));
}

TEST(DeclaredTokens, PythonsNumbersAreReadInTheConfig) {
  EXPECT_EQ(EncodeWith(Added(7, "<x>"), R"({"model_max_length": Infinity, "unk_token": "<u>"})",
                       "a<x><u>"),
            (Ids{0, 7, 8}));
}

TEST(DeclaredTokens, OlderFilesCountWithoutAddedTokensDecoder) {
  const Files others = {{"special_tokens_map.json",
                         R"({"bos_token": {"content": "<b>", "rstrip": true, "normalized": false},
           "additional_special_tokens": ["<a>"]})"},
                        {"added_tokens.json", R"({"<xx>": 9, "<bb>": 8})"}};
  EXPECT_EQ(EncodeWith(Added(7, "<x>"), R"({"bos_token": "<s>"})", "<s><b> <a><bb><xx>", others),
            (Ids{3, 5, 4, 10, 11, 8, 9}));
  EXPECT_EQ(
      EncodeWith(Added(7, "<x>"),
                 R"({"bos_token": "<s>", "added_tokens_decoder": {)" + Listed("7", "<x>") + "}}",
                 "<s><b><xx>", others),
      (Ids{8, 3, 1, 4, 3, 6, 6, 4}));
}

// A role token of another family was an error; it changes no id of other texts.
TEST(DeclaredTokens, ARoleTokenOutsideTheVocabularyIsANote) {
  Tokenizer tokenizer = Load({{"tokenizer.json", TokenizerJson("")},
                              {"tokenizer_config.json", R"({"unk_token": "<unk>"})"}});
  EXPECT_THAT(tokenizer.EncodeIds("ab"), ElementsAre(0, 1));
  EXPECT_THAT(tokenizer.notes(), ElementsAre(HasSubstr("'unk_token' names '<unk>', which is not")));
  EXPECT_FALSE(tokenizer.add_bos());
  // Its id is beyond the embeddings: only a text that has it cannot be run.
  tokenizer.SetRows(7);
  EXPECT_THAT(tokenizer.EncodeIds("ab"), ElementsAre(0, 1));
  EXPECT_THAT(test::ErrorMessage([&] { tokenizer.EncodeIds("a<unk>"); }),
              HasSubstr("token '<unk>': its id 7 exceeds those of the model's 7 embedding rows"));
  EXPECT_EQ(tokenizer.SingleToken("<unk>"), std::nullopt);
}

constexpr const char* kAround = R"(, "pair": [], "special_tokens": {
    "<A>": {"id": "<A>", "ids": [7], "tokens": ["<A>"]},
    "<B>": {"id": "<B>", "ids": [8, 9], "tokens": ["<B>", "<b>"]},
    "<C>": {"id": "<C>", "ids": [10], "tokens": ["<C>"]}}})";

Tokenizer WithPostProcessor(const std::string& post_processor, const std::string& config = "{}") {
  const std::string own =
      Added(7, "<A>") + "," + Added(8, "<B>") + "," + Added(9, "<b>") + "," + Added(10, "<C>");
  return Load(
      {{"tokenizer.json", TokenizerJson(own, post_processor)}, {"tokenizer_config.json", config}});
}

std::string Template(const std::vector<std::string>& pieces) {
  nlohmann::json single = nlohmann::json::array();
  for (const std::string& piece : pieces) {
    const char* kind = piece == "$A" ? "Sequence" : "SpecialToken";
    single.push_back({{kind, {{"id", piece == "$A" ? "A" : piece}, {"type_id", 0}}}});
  }
  return R"({"type": "TemplateProcessing", "single": )" + single.dump() + kAround;
}

TEST(PostProcessor, PutsAllItsTokensInFront) {
  const Tokenizer tokenizer = WithPostProcessor(Template({"<A>", "<B>", "$A", "<C>"}));
  EXPECT_THAT(tokenizer.begin_ids(), ElementsAre(7, 8, 9));
  EXPECT_THAT(BuildPrompt(tokenizer, "a", {{"it", 0, 1}}, "", true).ids, ElementsAre(7, 8, 9, 0));
  EXPECT_EQ(BuildPrompt(tokenizer, "a", {{"it", 0, 1}}, "", true).spans[0].token_begin, 3);
  // transformers sends <C>, too.
  EXPECT_THAT(tokenizer.notes(), Contains(HasSubstr("puts '<C>' behind every text")));
  EXPECT_THAT(WithPostProcessor(Template({"<A>", "$A"})).notes(), IsEmpty());
}

TEST(PostProcessor, KindsAndTheirIds) {
  // The id counts, not the text.
  EXPECT_THAT(WithPostProcessor(R"({"type": "RobertaProcessing", "sep": ["<C>", 10],
                                    "cls": ["<q>", 9]})")
                  .begin_ids(),
              ElementsAre(9));
  EXPECT_THAT(WithPostProcessor(R"({"type": "Sequence", "processors": [{"type": "ByteLevel"},
      {"type": "BertProcessing", "sep": ["<C>", 10], "cls": ["<A>", 7]}]})")
                  .begin_ids(),
              ElementsAre(7));
  // Beside a tokenizer.json transformers does not read the flag.
  const Tokenizer flag =
      WithPostProcessor("null", R"({"add_bos_token": true, "bos_token": "<A>"})");
  EXPECT_FALSE(flag.add_bos());
  EXPECT_THAT(flag.begin_ids(), ElementsAre(7));
}

TEST(PostProcessor, RefusesOtherTemplates) {
  const auto error = [](const std::string& post_processor) {
    return test::ErrorMessage([&] { WithPostProcessor(post_processor); });
  };
  EXPECT_THAT(error(Template({"<A>", "$A", "$A"})), HasSubstr("does not have the text once"));
  EXPECT_THAT(error(Template({"<A>"})), HasSubstr("does not have the text once"));
  EXPECT_THAT(error(Template({"<Q>", "$A"})), HasSubstr("'<Q>'"));
  EXPECT_THAT(error(R"({"type": "RobertaProcessing", "sep": ["x", 1], "cls": ["x", 11]})"),
              HasSubstr("puts the token 11 first"));
  EXPECT_THAT(error(R"({"type": "Sequence", "processors": [)" + Template({"<A>", "$A"}) + ", " +
                    Template({"<B>", "$A"}) + "]}"),
              HasSubstr("which is not supported"));
}

// Beside a tokenizer.model; the class that the file names has defaults of its own.
TEST(TokenizerModel, FlagsOfItsConfig) {
  std::ifstream file(MIDSCOPE_TESTS
                     "/core/golden/tokenizers"
                     "/llama2_model/tokenizer.model",
                     std::ios::binary);
  const std::string model{std::istreambuf_iterator<char>(file), {}};
  const auto load = [&](const std::string& config) {
    return Load({{"tokenizer.model", model},
                 {"config.json", R"({"model_type": "llama"})"},
                 {"tokenizer_config.json", config}});
  };
  const Tokenizer named = load(R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": true,
                                   "add_eos_token": true, "pad_token": "<pad>"})");
  EXPECT_THAT(named.EncodeIds("a <s>b</s> c<pad>d"),
              ElementsAre(293, 421, 1, 460, 2, 326, 600, 430));
  EXPECT_THAT(named.begin_ids(), ElementsAre(1));
  EXPECT_THAT(named.notes(), ElementsAre(HasSubstr("'pad_token' names '<pad>'"),
                                         HasSubstr("puts '</s>' behind every text")));
  const Tokenizer unnamed = load("{}");
  EXPECT_THAT(unnamed.EncodeIds("a <s>b</s> c"), ElementsAre(293, 421, 1, 387, 2, 259, 442));
  EXPECT_TRUE(unnamed.add_bos());
  EXPECT_THAT(unnamed.notes(), ElementsAre(HasSubstr("transformers 5 puts none")));
  EXPECT_FALSE(load(R"({"add_bos_token": false})").add_bos());
  EXPECT_THAT(load(R"({"add_bos_token": true})").notes(), IsEmpty());
}

// transformers repairs the pattern of Mistral's tokenizers, or warns, where they have more than
// 100,000 tokens and an older version wrote the folder.
TEST(MistralRegex, IsReadWhereTransformersReadsIt) {
  nlohmann::json vocabulary = {{"1", 0}, {"2", 1}, {"12", 2}};
  for (int id = 3; id < 100'001; ++id) vocabulary["t" + std::to_string(id)] = id;
  const nlohmann::json split = {{"type", "Split"},
                                {"pattern", {{"Regex", "\\p{N}{1,3}"}}},
                                {"behavior", "Isolated"},
                                {"invert", false}};
  const nlohmann::json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const nlohmann::json file = {
      {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}}},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"1 2"}}}}};
  const std::string text = file.dump();
  const auto load = [&](const std::string& model, const std::string& config) {
    return Load(
        {{"tokenizer.json", text}, {"config.json", model}, {"tokenizer_config.json", config}});
  };
  const std::string mistral = R"({"model_type": "mistral", "transformers_version": "4.50.0"})";
  const Tokenizer mended = load(mistral, R"({"fix_mistral_regex": true})");
  EXPECT_THAT(mended.EncodeIds("12"), ElementsAre(0, 1));
  EXPECT_THAT(mended.notes(), IsEmpty());
  const Tokenizer absent = load(mistral, "{}");
  EXPECT_THAT(absent.EncodeIds("12"), ElementsAre(2));
  EXPECT_THAT(absent.notes(), ElementsAre(HasSubstr("transformers warns about this tokenizer")));
  EXPECT_THAT(load(mistral, R"({"fix_mistral_regex": false})").notes(), IsEmpty());
  for (const char* model : {R"({"model_type": "mistral", "transformers_version": "5.1.0"})",
                            R"({"model_type": "llama"})"}) {
    const Tokenizer other = load(model, R"({"fix_mistral_regex": true})");
    EXPECT_THAT(other.EncodeIds("12"), ElementsAre(2)) << model;
    EXPECT_THAT(other.notes(), IsEmpty()) << model;
  }
}

}  // namespace
}  // namespace midscope
