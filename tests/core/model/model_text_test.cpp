// SPDX-License-Identifier: MIT
#include "core/model/model_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/core/support/error_message.h"
#include "tests/core/support/temporary_folder.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;

TEST(ModelText, PrintsWhatItReads) {
  for (const std::string text :
       {"embedded", "org/name@main", "embedded@init:7", "embedded adapter=out/my lora",
        "embedded adapter=lora:0.5", "org/name@main@init:0 adapter=tuned.gguf:-2"}) {
    EXPECT_EQ(PrintModelText(ParseModelText(text)), text);
  }
  EXPECT_EQ(PrintModelText(ParseModelText("embedded@init")), "embedded@init:1");
  const ModelText text = ParseModelText(" embedded@init:7  adapter=a/b:0.25 ");
  EXPECT_EQ(text.name, "embedded");
  EXPECT_EQ(text.init_seed, 7U);
  EXPECT_EQ(text.adapter, "a/b");
  EXPECT_EQ(text.scale, 0.25);
  EXPECT_EQ(ParseModelText("org/name@initial").name, "org/name@initial");
  EXPECT_EQ(ShortModelText("/models/a.gguf adapter=/out/lora/:2"), "a.gguf adapter=lora:2");
  EXPECT_EQ(ShortModelText("models/MODEL/@init:3"), "MODEL@init:3");
}

TEST(ModelText, PathsThatExistAreTakenAsTheyAre) {
  const test::TemporaryFolder folder;
  folder.Write("a adapter=b:2@init", "");
  folder.Write("lora:2", "");
  const std::string whole = (folder.path() / "a adapter=b:2@init").string();
  EXPECT_EQ(ParseModelText(whole).name, whole);
  EXPECT_TRUE(ParseModelText(whole).plain());
  const std::string lora = (folder.path() / "lora:2").string();
  EXPECT_EQ(ParseModelText("embedded adapter=" + lora).adapter, lora);
  EXPECT_EQ(ParseModelText("embedded adapter=" + lora + ":3").scale, 3);
}

TEST(ModelText, NamesFaults) {
  const auto error = [](const std::string& text) {
    return ErrorMessage(ErrorKind::kUsage, [&] { ParseModelText(text); });
  };
  EXPECT_THAT(error("embedded adapter="), HasSubstr("must have one adapter"));
  EXPECT_THAT(error("embedded adapter=a adapter=b"), HasSubstr("must have one adapter"));
  EXPECT_THAT(error("embedded adapter=a:b"), HasSubstr("scale 'b' must be a finite number"));
  EXPECT_THAT(error("embedded adapter=a:nan"), HasSubstr("a:0.5"));
  EXPECT_THAT(error("embedded adapter=a:"), HasSubstr("finite number"));
  EXPECT_THAT(error("embedded@init:-1"), HasSubstr("MODEL@init:SEED"));
  EXPECT_EQ(WithAdapterText("embedded", ""), "embedded");
  EXPECT_EQ(WithAdapterText("embedded", "a:2"), "embedded adapter=a:2");
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [] { WithAdapterText("embedded adapter=a", "b"); }),
              HasSubstr("has one already"));
}

}  // namespace
}  // namespace midscope
