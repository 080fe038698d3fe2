// SPDX-License-Identifier: MIT
// Contract: the Jinja features that published chat templates use give the same text as jinja2 in
// transformers' environment (its output is the expectation), and what jinja2 rejects is rejected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/chat/chat_template.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

std::string Rendered(const std::string& text) { return RenderChat(text, {{"user", "hi"}}, true); }

TEST(JinjaFeatures, RenderAsInJinja2) {
  const std::pair<std::string, std::string> cases[] = {
      // clang-format off
      {"{% macro f(a, b='-', c='.') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{% set l = ['x', 'y'] %}{{ f(*l) }}{{ f(*['p'], c='q') }}{{ f(c='1', *l) }}",
       "xy.p-qxy1"},
      {"{% macro f(a, b='-') %}{{ a }}{{ b }}{% endmacro %}{% set d = {'b': 2, 'a': 1} %}{{ f(**d) }}{{ f('z', **{'b': 'y'}) }}",
       "12zy"},
      {"{% macro f(a) %}{{ a }}|{{ varargs }}|{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, x=4) }} {{ f(1) }}",
       "1|(2, 3)|{'x': 4} 1|()|{}"},
      {"{{ none | selectattr('role') | list }}{{ false | select | list }}{{ nothing | reject('none') | list }}{{ none | map('upper') | list }}{{ none | rejectattr('a', 'equalto', 1) | list }}",
       "[][][][][]"},
      {"{% if messages | selectattr('role', 'equalto', 'nobody') %}generators are true{% endif %}",
       "generators are true"},
      {"{{ 'a{}b{}'.format(1, 'x') }} {{ '{0}-{1}-{0}'.format('p', 'q') }} {{ '{a.content}{m[0]}{n[role]}'.format(a=messages[0], m=['e'], n=messages[0]) }} {{ '{{}}{!r}'.format('q') }}",
       "a1bx p-q-p hieuser {}'q'"},
      {"{{ '{:>6}|{:<6}|{:^7}|{:*^7}|{:.2}|{:06.2f}|{:,<4}|{:+d}|{:05d}|{:x}|{:e}|{:é>4}'.format('a', 'b', 'c', 'd', 'efg', 3.14159, 7, 5, -42, 255, 12345.678, 'ü') }}",
       "     a|b     |   c   |***d***|ef|003.14|7,,,|+5|-0042|ff|1.234568e+04|éééü"},
      {"{{ ('x',) }} {{ ('a', 1) }} {{ () }} {{ [('a', [1, (2,)])] }} {{ {'k': (1, 2)} }} {{ ('a', 'b')[0:1] }} {{ ('a',) + ('b',) }} {{ ('a',) * 2 }} {{ ('a',) == ['a'] }} {{ (1, 2) | list }} {{ ('a', (1, 2)) | tojson }}",
       R"(('x',) ('a', 1) () [('a', [1, (2,)])] {'k': (1, 2)} ('a',) ('a', 'b') ('a', 'a') False [1, 2] ["a", [1, 2]])"},
      {"{{ messages[0].items() }} {{ messages[0].keys() }} {{ messages[0].values() }} {{ messages[0].items() | list }} {{ messages[0] | dictsort }} {{ messages[0] | items | list }} {{ {}.keys() }}",
       "dict_items([('role', 'user'), ('content', 'hi')]) dict_keys(['role', 'content']) dict_values(['user', 'hi']) [('role', 'user'), ('content', 'hi')] [('content', 'hi'), ('role', 'user')] [('role', 'user'), ('content', 'hi')] dict_keys([])"},
      {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 'x', %}{{ c }}{{ a, b }}",
       "12('x',)(1, 2)"},
      {"{% for a, (b, c) in [(1, (2, 3)), (4, 'xy')] %}{{ a }}{{ b }}{{ c }} {% endfor %}{% for x in 1, 2, 3 %}{{ x }}{% endfor %}",
       "123 4xy 123"},
      {"{% filter upper %}abc {{ messages[0].content }}{% endfilter %}{% filter trim | replace('b', 'c') %}  ab  {% endfilter %}",
       "ABC HIac"},
      {"{% set x | upper | trim %}  ab {% endset %}[{{ x }}]{% set ns = namespace(a=1) %}{% set ns.a %}in{% endset %}{{ ns.a }}",
       "[AB]in"},
      {"{% macro box(title) %}<{{ title }}:{{ caller() }}>{% endmacro %}{% for i in [1, 2] %}{% call box('t') %}{{ i }}{{ loop.index }}{% endcall %}{% endfor %}",
       "<t:11><t:22>"},
      {"{% macro each(l) %}{% for x in l %}{{ caller(x, y='!') }}{% endfor %}{% endmacro %}{% call(v, y='?', z='~') each(['a', 'b']) %}({{ v }}{{ y }}{{ z }}){% endcall %}",
       "(a!~)(b!~)"},
      {"{% with a = 1, b = 'x' %}{{ a }}{{ b }}{% with a = 2 %}{{ a }}{% endwith %}{{ a }}{% endwith %}{{ a is defined }}",
       "1x21False"},
      {"{% for i in [1, 2, 3] %}{% with j = i %}{% if j == 2 %}{% continue %}{% endif %}{{ j }}{% endwith %}{% endfor %}",
       "13"},
      {"{% raw %}{{ x }} {% if %}{% endraw %}|{%- raw -%}  {{ a }}  {%- endraw -%}  |",
       "{{ x }} {% if %}|{{ a }}|"},
      {"{{ 'a,b,c'.rsplit(',', 1) }}{{ 'aaa'.rsplit('aa', 1) }}{{ 'a b  c'.rsplit() }}{{ 'x'.rsplit(',') }}{{ 'a--b--c'.rsplit('--', maxsplit=1) }}",
       "['a,b', 'c']['a', '']['a', 'b', 'c']['x']['a--b', 'c']"},
      {R"({{ 'a,b,c'.partition(',') }}{{ 'a,b,c'.rpartition(',') }}{{ 'abc'.partition(',') }}{{ 'abc'.rpartition(',') }}{{ 'a\nb\r\nc\n'.splitlines() }})",
       "('a', ',', 'b,c')('a,b', ',', 'c')('abc', '', '')('', '', 'abc')['a', 'b', 'c']"},
      {"{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }} {{ loop.cycle('a', 'b') }} {% endfor %}{% for x in ['a', 'A'] %}{{ loop.changed(x, 1) }}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}",
       "True a False b True a False b True a True10True10"},
      {"{{ '%s is %d, %5.1f|%-4s|%04d|%x|%%' | format('a', 3, 2.25, 'b', 7, 255) }} {{ '%(a)s%(b)r' | format(a='x', b='y') }} {{ 'x %s' % 'y' }} {{ '%s %s' % ('a', [1]) }} {{ '%(role)s' % messages[0] }}",
       "a is 3,   2.2|b   |0007|ff|% x'y' x y a [1] user"},
      {"{{ [3, 1, 2] | sort }}{{ ['b', 'A', 'c'] | sort }}{{ ['b', 'A', 'c'] | sort(case_sensitive=true) }}{{ [1, 3, 2] | sort(reverse=true) }}{{ [{'n': 2, 'm': 'x'}, {'n': 1, 'm': 'y'}] | sort(attribute='n') }}{{ [(2, 'a'), (1, 'b')] | sort }}{{ [{'a': 1, 'b': 2}, {'a': 1, 'b': 1}] | sort(attribute='a,b') }}",
       "[1, 2, 3]['A', 'b', 'c']['A', 'b', 'c'][3, 2, 1][{'n': 1, 'm': 'y'}, {'n': 2, 'm': 'x'}][(1, 'b'), (2, 'a')][{'a': 1, 'b': 1}, {'a': 1, 'b': 2}]"},
      {"{{ 1 < 2 < 3 }}{{ 1 < 3 < 2 }}{{ 3 > 2 >= 2 == 2 }}{{ 'a' in 'abc' in ['abc'] }}{{ 1 < 2 == true }}",
       "TrueFalseTrueTrueFalse"},
      {"{{ -1 | abs }}{{ -2.5 | abs }}{{ - 3 }}{{ +4 }}{{ 2 ** 3 ** 1 }}{{ 2 ** 10 }}{{ -2 ** 2 }}{{ 2 ** -1 }}",
       "12.5-348102440.5"},
      {"{{ [1, 2, 3] | sum }}{{ [{'a': 1}, {'a': 2}] | sum(attribute='a') }}{{ [[1], [2]] | sum(start=[]) }}{{ [3, 1] | min }}{{ ['b', 'A'] | max }}{{ [] | max }}{{ ['a', 'A', 'b'] | unique | list }}{{ '1.5' | float }}{{ 3 | float }}{{ 'x' | float(2.5) }}",
       "63[1, 2]1b['a', 'b']1.53.02.5"},
      {R"({{ 'a\nb\n\nc' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent('> ', blank=true) }}|{{ 'a\n' | indent }}|)",
       R"(a
    b

    c|  a
  b|a
> 
> b|a
|)"},
      {"{{ [{'a': 'x'}, {'a': 'y'}] | join(', ', attribute='a') }}{{ [['p', 'q']] | map(attribute=1) | list }}{{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }}{{ [{'a': ['z']}] | map(attribute='a.0') | list }}",
       "x, y['q'][1]['z']"},
      {"{{ 5 is divisibleby 5 }}{{ 'a' is in ['a'] }}{{ 4 is divisibleby(2) }}{{ messages is sequence }}{{ messages[0].keys() is sequence }}{{ 3 is eq 3 }}{% set n = 3 %}{{ 3 is eq n }}{{ n is not none and true }}",
       "TrueTrueTrueTrueFalseTrueTrueTrue"},
      {"{{ [1, 2].index(2) }}{{ ['a', 'a'].count('a') }}{{ range(3)[1] }}{{ range(3) | list }}{{ range(3) | length }}",
       "121[0, 1, 2]3"},
      {"{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith(('c',)) }}",
       "TrueTrue"},
      {"{{ messages | map(attribute='role') | first }}{{ messages | map(attribute='role') | join }}{{ [1, 2] | reverse | list }}{{ 'ab' | reverse }}",
       "useruser[2, 1]ba"},
      {"{{ {'a': 1} == {'a': 1} }}{{ (1, 2) < (1, 3) }}{{ [1] < [1, 2] }}",
       "TrueTrueTrue"},
      {"{% macro f(x) %}{{ x }}{% endmacro %}{{ f(x=(1, 2)) }}{{ f(*('t',)) }}{{ dict(**{'a': 1}) }}{{ dict(b=2, **{'a': 1}) }}",
       "(1, 2)t{'a': 1}{'b': 2, 'a': 1}"},
      {"{{ 'x' ~ (1,) ~ [2] }}{{ ['a', ('b',)] | string }}{{ ('a', 'b') | join('-') }}{{ ('a' , 'b') | length }}",
       "x(1,)[2]['a', ('b',)]a-b2"},
      // Text that + adds to a text marked safe is escaped.
      {R"x({{ '<x>' + 'a<' | safe }} {{ ('a<' | safe) + '<x>"\'&' }} {{ 'a<' | safe ~ '<b>' }} {{ (('a' | safe) | upper) + '<' }} {{ ('ab' | safe)[0] + '<' }} {{ ('a b' | safe).split()[1] + '<' }} {{ ('a' | safe) * 2 + '<' }} {{ [('x' | safe)] ~ '<' }} {{ ('<' | safe) | tojson }} {{ ('<' | safe) + ('<' | safe) }} {{ ('a<' | safe).strip()[0:1] + '<' }} {{ [1] | safe + '<' }})x",
       R"x(&lt;x&gt;a< a<&lt;x&gt;&#34;&#39;&amp; a<<b> A&lt; a&lt; b&lt; aa&lt; [Markup('x')]< "<" << a&lt; [1]&lt;)x"},
      // clang-format on
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Rendered(text), expected) << text;
}

TEST(JinjaFeatures, AreRefusedWhereJinja2RefusesThem) {
  for (const char* text : {
           // clang-format off
           R"({{ [1, 2] | map('abs') }})",
           R"({{ range(3) }})",
           R"({{ 'abc'.startswith(['a']) }})",
           R"({{ (messages | map(attribute='role')) | length }})",
           R"({{ [1] + (2,) }})",
           R"({% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, 2) }})",
           R"({% macro f(a) %}{{ a }}{% endmacro %}{{ f(1, a=2) }})",
           R"({% macro f(a) %}{{ a }}{% endmacro %}{% call f(1) %}x{% endcall %})",
           R"({{ 'a%s' % (1, 2) }})",
           R"({{ '%s %s' % 'a' }})",
           R"({{ '{} {}'.format(1) }})",
           R"({{ '{x}'.format(1) }})",
           R"({{ '%d' % 'x' }})",
           R"({{ [1, 'a'] | sort }})",
           R"({{ {}.keys()[0].x }})",
           R"({{ {'a': (1,)} | map('tojson') | tojson }})",
           R"({{ messages[0].keys() | tojson }})",
           // clang-format on
       })
    EXPECT_NE(test::ErrorMessage([&] { Rendered(text); }), "") << text;
}

// A generator can be gone through once, and one that was is an error rather than empty.
TEST(JinjaFeatures, GeneratorsAreGoneThroughOnce) {
  const std::string once = "{% set g = messages | map(attribute='role') %}{{ g | first }}";
  EXPECT_EQ(Rendered(once), "user");
  EXPECT_THAT(test::ErrorMessage([&] { Rendered(once + "{{ g | first }}"); }),
              ::testing::HasSubstr("put | list after it"));
}

// Each would take memory or time without end, or hold itself.
TEST(JinjaFeatures, KeepToTheLimits) {
  for (const char* text :
       {"{{ '{:99999999999}'.format(1) }}", "{{ '%99999999999d' | format(1) }}",
        "{{ '{0:9999}{0:9999}' * 9999 }}{{ ('{0:9999}' * 9999).format('a') }}",
        "{% macro m() %}{{ m(*range(9999), **{'a': 1}) }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ "
        "m() }}",
        "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}",
        "{% set ns = namespace() %}{% for x in [1] %}{% set ns.l = loop %}{% endfor %}"
        "{{ ns.l.changed(ns.l) }}",
        "{% set ns = namespace() %}{% macro m() %}{% set ns.c = caller %}{% endmacro %}"
        "{% call m() %}x{% endcall %}{{ ns.c() }}",
        "{% raw %}", "{% raw %}{% endraw", "{% filter %}x{% endfilter %}",
        "{% call 1 %}{% endcall %}", "{% for a, (b, c) in [(1, 2)] %}{% endfor %}",
        "{{ 2 ** 99999 }}"})
    EXPECT_NE(test::ErrorMessage([&] { Rendered(text); }), "") << text;
  // A loop that holds itself is released.
  EXPECT_EQ(Rendered("{% for x in [1] %}{{ loop.changed(loop) }}{% endfor %}"), "True");
  std::string deep;
  for (int i = 0; i < 400; ++i) deep += "{% filter upper %}";
  EXPECT_THAT(test::ErrorMessage([&] { Rendered(deep); }), ::testing::HasSubstr("limit"));
}

}  // namespace
}  // namespace midscope
