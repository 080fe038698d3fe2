// SPDX-License-Identifier: MIT
// Contract: a page is well-formed, escapes every text, and loads nothing.
#include "probes/cli/text/html_page.h"

#include <gmock/gmock.h>

#include "tests/probes/support/parsed_page.h"

namespace midscope::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "\"><script>alert('x')</script>&amp;<img src=x onerror=y>\x1b[2J";

TextTable SmallTable() {
  TextTable table({"setting", "mean [95 %]"});
  table.Add({"none", "1.50 [1.20, 1.80]"});
  table.Add({"pi(1.5)", "2.00"});
  return table;
}

TEST(HtmlPage, TextIsEscaped) {
  EXPECT_EQ(HtmlText("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_THAT(HtmlText(std::string("\x1b\xff", 2)), Not(HasSubstr("\x1b")));
  EXPECT_EQ(HtmlText("two\nlines\tand \\"), "two\nlines\tand \\");
}

TEST(HtmlPage, HostileTextAddsNoElement) {
  TextTable table({kHostile, "b"});
  table.Add({kHostile, kHostile});
  HtmlPage page(kHostile);
  page.Contents({{kHostile, kHostile}});
  page.Heading(2, kHostile, kHostile);
  page.Lines(kHostile);
  page.Answers(kHostile);
  page.Facts(kHostile, {{kHostile, kHostile}});
  page.Table(kHostile, table);
  page.Add(Printout(std::string("  ") + kHostile + "\nb\n"));
  page.Preformatted(kHostile);
  page.Picture(kHostile, kHostile);
  const testing::ParsedPage parsed = testing::ParsePage(page.Text());
  EXPECT_FALSE(parsed.elements.contains("script"));
  EXPECT_EQ(parsed.elements.at("img"), 1);
  EXPECT_EQ(parsed.attributes.count("onerror"), 0U);
  EXPECT_THAT(parsed.text, Not(HasSubstr("\x1b")));
}

TEST(HtmlPage, TablesHaveCaptionsAndScopes) {
  HtmlPage page("page");
  page.Table("Outcome", SmallTable());
  EXPECT_THAT(
      page.Text(),
      AllOf(HasSubstr("<caption>Outcome</caption>"),
            HasSubstr("<th scope=\"col\">setting</th>"
                      "<th scope=\"col\" class=\"n\">mean [95 %]</th>"),
            HasSubstr("<th scope=\"row\">none</th><td class=\"n\">1.50 [1.20, 1.80]</td>")));
}

TEST(HtmlPage, PicturesAreWithinThePage) {
  // The test vectors of RFC 4648.
  for (const auto& [bytes, coded] : std::vector<std::pair<std::string, std::string>>{
           {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}}) {
    HtmlPage page("page");
    page.Picture("Outcome", bytes);
    EXPECT_THAT(page.Text(),
                HasSubstr("alt=\"Outcome\" src=\"data:image/svg+xml;base64," + coded + "\"/>"));
  }
}

TEST(HtmlPage, APrintoutHasTheSameTextAndTablesApart) {
  Printout text("verdict\n");
  text += "\n";
  text.Add("Outcome", SmallTable());
  text += "  indented\nnote\n";
  text.AddTitled("Titled", SmallTable());
  EXPECT_EQ(text.Text(), "verdict\n\n" + SmallTable().Text() + "  indented\nnote\n\nTitled\n" +
                             SmallTable().Text());
  HtmlPage page("page");
  page.Add(text);
  const std::string html = page.Text();
  EXPECT_THAT(html, AllOf(HasSubstr("<p>verdict</p>"), HasSubstr("<caption>Outcome</caption>"),
                          HasSubstr("<ul>\n<li>indented</li>\n</ul>\n<p>note</p>"),
                          HasSubstr("<caption>Titled</caption>"), Not(HasSubstr("<p>Titled"))));
  EXPECT_EQ(testing::ParsePage(html).elements.at("table"), 2);
}

}  // namespace
}  // namespace midscope::cli
