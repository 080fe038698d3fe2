// SPDX-License-Identifier: MIT
// Chat templates made to exhaust the stack, the memory or the time. Contract: each ends within a
// second, in an Error that contains "chat template" and the limit, or in the correct text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "core/chat/chat_template.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr double kSeconds = 20;
#else
constexpr double kSeconds = 1;
#endif

std::string Repeat(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// The text, or the error, in no more time of this process than allowed.
std::string Render(const std::string& text, const std::string& content = "hi") {
  const std::clock_t begin = std::clock();
  std::string rendered;
  const std::string error = ErrorMessage([&] {
    rendered = RenderChat(text, {{"user", content}}, true);
  });
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, kSeconds)
      << text.substr(0, 200);
  return error.empty() ? rendered : error;
}

testing::Matcher<std::string> Limit(const std::string& what) {
  return AllOf(StartsWith("chat template, line "), HasSubstr("goes beyond the limit of " + what));
}

// The five of an attack on the program as it was: it crashed, or went on for many seconds and
// gigabytes.
TEST(ChatLimits, ManyLoopsInAMacro) {
  EXPECT_THAT(Render("{% macro m() %}" + Repeat("{% for a in [1] %}", 400) +
                     Repeat("{% endfor %}", 400) + "{% endmacro %}{{ m() }}"),
              Limit("150 parts nested"));
  const std::string loops =
      Repeat("{% for a in [1] %}", 140) + "{{ m() }}" + Repeat("{% endfor %}", 140);
  EXPECT_THAT(Render("{% macro m() %}" + loops + "{% endmacro %}{{ m() }}"),
              Limit("500 parts evaluated"));
  // Each macro calls the one before it.
  std::string chain = "{% macro m0() %}x{% endmacro %}";
  for (int i = 1; i < 1000; ++i)
    chain += "{% macro m" + std::to_string(i) + "() %}{{ m" + std::to_string(i - 1) +
             "() }}{% endmacro %}";
  EXPECT_THAT(Render(chain + "{{ m999() }}"), Limit("500 parts evaluated"));
  EXPECT_EQ(Render(chain + "{{ m40() }}"), "x");
}

TEST(ChatLimits, TextThatDoubles) {
  const std::string doubled = "{% set s = 'aaaaaaaa' %}" + Repeat("{% set s = s ~ s %}", 30);
  EXPECT_THAT(Render(doubled), Limit("16 MiB in one text"));
  const std::string large = "{% set s = 'aaaaaaaa' %}" + Repeat("{% set s = s ~ s %}", 20);
  EXPECT_EQ(Render(large + "{{ s | length }}"), "8388608");
  EXPECT_THAT(Render(large + "{{ s.split('a') }}"), Limit("1000000 items"));
  EXPECT_THAT(Render(large + "{{ s | list | length }}"), Limit("1000000 items"));
  EXPECT_THAT(Render(large + "{% set s = [s,s,s,s,s] | join %}"), Limit("16 MiB in one text"));
  EXPECT_THAT(Render(large + "{{ s.replace('aaaaaaaa', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') }}"),
              Limit("16 MiB in one text"));
  EXPECT_THAT(Render(large + "{{ 'ab' * 9000000 }}"), Limit("16 MiB in one text"));
  EXPECT_THAT(Render(large + "{{ s }}{{ s }}{{ s }}"), Limit("16 MiB of text written"));
  EXPECT_THAT(Render(large + "{% for i in range(1000) %}{% set t = s ~ 'b' %}{% endfor %}"),
              Limit("256 MiB of values made"));
  // Looking through a long text costs steps; the search itself takes linear time.
  EXPECT_THAT(Render(large + "{% for i in range(1000) %}{{ 'b' in s }}{% endfor %}"),
              Limit("5000000 steps"));
  EXPECT_EQ(Render(large + "{% set half = s[:4000000] ~ 'b' %}{{ half in s }}"), "False");
}

TEST(ChatLimits, ListThatDoubles) {
  const std::string doubled = "{% set x = [1] %}" + Repeat("{% set x = [x, x] %}", 30);
  EXPECT_EQ(Render(doubled + "{{ x | length }}"), "2");
  // Operations that visit every element reach the limit.
  EXPECT_THAT(Render(doubled + "{{ x | tojson }}"), Limit("5000000 steps"));
  EXPECT_THAT(Render(doubled + "{{ x }}"), Limit("5000000 steps"));
  EXPECT_THAT(
      Render(doubled + "{% set y = [1] %}" + Repeat("{% set y = [y, y] %}", 30) + "{{ x == y }}"),
      Limit("5000000 steps"));
  EXPECT_THAT(Render("{% set x = [1] %}" + Repeat("{% set x = x + x %}", 30)),
              Limit("1000000 items"));
  EXPECT_THAT(Render("{{ [1, 2] * 900000000 }}"), Limit("1000000 items"));
  EXPECT_THAT(Render("{{ range(100000000) }}"), Limit("100000 numbers in range()"));
}

TEST(ChatLimits, ListsWithinEachOther) {
  const std::string nested = "{% set x = " + Repeat("[", 40) + "x" + Repeat("]", 40) + " %}";
  EXPECT_THAT(Render(Repeat(nested, 3000)), Limit("100 lists within each other"));
  EXPECT_EQ(Render(nested + nested + "{{ x | length }}"), "1");
  EXPECT_THAT(Render("{% for i in range(99999) %}{% set ns = namespace(a=ns) %}{% endfor %}"),
              Limit("20000 namespaces"));
  // A chain and a circle of namespaces, and loops that hold each other.
  EXPECT_EQ(Render("{% set top = namespace(a=none) %}{% for i in range(15000) %}"
                   "{% set top.a = namespace(a=top.a) %}{% endfor %}{% set top.b = top %}x"),
            "x");
  EXPECT_THAT(Render("{% set ns = namespace(l=[1]) %}{% for i in range(9999) %}"
                     "{% for x in ns.l %}{% set ns.l = [loop] %}{% endfor %}{% endfor %}"),
              Limit("100 lists within each other"));
}

TEST(ChatLimits, ManyNames) {
  std::string names;
  for (int i = 0; i < 60'000; ++i) names += "{% set n" + std::to_string(i) + "=1%}";
  EXPECT_THAT(Render(names), Limit("20000 variables"));
  names.resize(names.find("{% set n19000="));
  EXPECT_EQ(Render(names + "{{ n1 + n18999 }}"), "2");
  EXPECT_THAT(Render("{{ " + std::string(1000, 'a') + " }}"), Limit("200 letters in a name"));
  EXPECT_THAT(Render("{% set ns = namespace() %}" + Repeat("{{ ns.a.b }}", 1)),
              HasSubstr("what is undefined"));
}

TEST(ChatLimits, TimeOfLoops) {
  const std::string loops =
      Repeat("{% for a in range(1000) %}", 8) + "x" + Repeat("{% endfor %}", 8);
  EXPECT_THAT(Render(loops), Limit("5000000 steps"));
  // A name that is far out is looked for in every loop.
  const std::string far =
      Repeat("{% for a in [1, 1] %}", 100) + "{{ missing }}" + Repeat("{% endfor %}", 100);
  EXPECT_THAT(Render(far), Limit("5000000 steps"));
  EXPECT_THAT(Render(Repeat("{{ 'a' | map(", 1) + Repeat("'map',", 1000) + "'trim') }}"),
              HasSubstr("map of map"));
}

TEST(ChatLimits, TheTemplateItself) {
  EXPECT_THAT(Render(std::string((1 << 20) + 1, 'x')), Limit("1048576 bytes of the template"));
  EXPECT_THAT(Render("{{ " + Repeat("(", 500) + "1" + Repeat(")", 500) + " }}"),
              Limit("150 parts nested"));
  EXPECT_THAT(Render("{{ " + Repeat("not ", 500) + "1 }}"), Limit("150 parts nested"));
  EXPECT_THAT(Render("{{ 1" + Repeat(" + 1", 500) + " }}"), Limit("300 parts in one expression"));
  EXPECT_THAT(Render("{{ strftime_now('" + Repeat("%A", 600) + "') }}"),
              Limit("1000 bytes in a date's format"));
  EXPECT_LT(Render("{{ raise_exception('" + std::string(5000, 'x') + "') }}").size(), 700);
}

// Contents are longer than any limit for templates' own texts would be.
TEST(ChatLimits, LongContentsPass) {
  const std::string chatml =
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
      "message['content'] + '<|im_end|>\n' }}{% endfor %}";
  const std::string content(4'000'000, 'x');
  EXPECT_EQ(Render(chatml, content), "<|im_start|>user\n" + content + "<|im_end|>\n");
}

}  // namespace
}  // namespace midscope
