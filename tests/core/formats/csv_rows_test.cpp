// SPDX-License-Identifier: MIT
// Contract: fields are parsed exactly as in RFC 4180; a faulty row is reported separately from the
// rows around it, with its line and the reason.
#include "core/formats/csv_rows.h"

#include <gmock/gmock.h>

#include "core/base/error.h"

namespace midscope {
namespace {

using testing::ElementsAre;

TEST(CsvRows, FieldsMayHoldCommasQuotesAndLineEnds) {
  EXPECT_THAT(
      ParseCsv("a.csv", "a,\"b,c\"\r\n\n\"d\ne\",\"f \"\"g\"\"\"\n,\n"),
      ElementsAre(ElementsAre("a", "b,c"), ElementsAre("d\ne", "f \"g\""), ElementsAre("", "")));
  EXPECT_TRUE(ParseCsv("a.csv", "").empty());
}

TEST(CsvRows, AByteOrderMarkIsNoField) {
  EXPECT_THAT(ParseCsv("a.csv",
                       "\xEF\xBB\xBF"
                       "a,b\n"),
              ElementsAre(ElementsAre("a", "b")));
  EXPECT_THAT(ParseCsv("a.csv", "\xEF\xBB\xBF\"a\",b\r\n"), ElementsAre(ElementsAre("a", "b")));
  EXPECT_TRUE(ParseCsv("a.csv", "\xEF\xBB\xBF").empty());
}

TEST(CsvRows, ErrorsNameTheLine) {
  const auto error_of = [](const char* text) -> std::string {
    try {
      ParseCsv("a.csv", text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("a,b\n\"c\nd\",e\"f\n"),
            "a.csv, line 3: a quote is inside a field that does not begin with one");
  EXPECT_EQ(error_of("a,b\n\"c\nd"), "a.csv, line 3: a quoted field does not end");
  EXPECT_EQ(error_of("\"a\"b\n"), "a.csv, line 1: a comma is missing after a quoted field");
}

TEST(CsvRows, GoesOnBehindARowWithAFault) {
  CsvReader reader("a,b\nc,\"d\ne\n\"f\",g\n");
  const auto first = reader.Next();
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->fault || first->quoted);
  const auto second = reader.Next();
  ASSERT_TRUE(second && second->fault);
  EXPECT_EQ(second->line, 2);
  EXPECT_EQ(second->text, "c,\"d");
  EXPECT_THAT(second->fields, ElementsAre("c", "d\ne\n"));
  const auto third = reader.Next();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->line, 3);
  EXPECT_THAT(third->fields, ElementsAre("e"));
  const auto last = reader.Next();
  ASSERT_TRUE(last && last->quoted);
  EXPECT_EQ(last->line, 4);
  EXPECT_THAT(last->fields, ElementsAre("f", "g"));
  EXPECT_FALSE(reader.Next());
}

}  // namespace
}  // namespace midscope
