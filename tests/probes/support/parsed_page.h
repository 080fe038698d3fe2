// SPDX-License-Identifier: MIT
// Parses a page of `midscope report` strictly: every element is closed and known.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace midscope::testing {

struct ParsedPage {
  std::map<std::string, int> elements;                      // number of elements by name
  std::map<std::string, std::set<std::string>> attributes;  // values by name of the attribute
  std::string text;                                         // outside of tags, still escaped
};

// Elements that a page may have; none of them runs code or loads anything but an image.
inline const std::set<std::string>& KnownElements() {
  static const std::set<std::string> known = {
      "html", "head", "meta",   "title", "style", "body",  "h1",    "h2",      "h3",
      "h4",   "p",    "ul",     "li",    "nav",   "a",     "div",   "table",   "tr",
      "th",   "td",   "figure", "img",   "pre",   "thead", "tbody", "caption", "figcaption"};
  return known;
}

// Adds the attributes of `tag`, NAME="VALUE" each.
inline void AddAttributes(const std::string& tag, ParsedPage& page) {
  size_t at = tag.find(' ');
  while (at != std::string::npos) {
    const size_t equals = tag.find("=\"", at);
    ASSERT_NE(equals, std::string::npos) << tag.substr(0, 200);
    const size_t end = tag.find('"', equals + 2);
    ASSERT_NE(end, std::string::npos) << tag.substr(0, 200);
    page.attributes[tag.substr(at + 1, equals - at - 1)].insert(
        tag.substr(equals + 2, end - equals - 2));
    at = tag.find(' ', end);
  }
}

inline ParsedPage ParsePage(const std::string& html) {
  constexpr const char* kDoctype = "<!DOCTYPE html>";
  ParsedPage page;
  std::vector<std::string> open;
  EXPECT_TRUE(html.starts_with(kDoctype));
  size_t at = std::string(kDoctype).size();
  while (at < html.size()) {
    const size_t begin = std::min(html.find('<', at), html.size());
    page.text += html.substr(at, begin - at);
    if (begin == html.size()) break;
    const size_t end = html.find('>', begin);
    EXPECT_NE(end, std::string::npos);
    if (end == std::string::npos) break;
    std::string tag = html.substr(begin + 1, end - begin - 1);
    at = end + 1;
    if (tag.starts_with('/')) {
      const bool closes = !open.empty() && open.back() == tag.substr(1);
      EXPECT_TRUE(closes) << tag << " closes " << (open.empty() ? "nothing" : open.back());
      if (!closes) break;
      open.pop_back();
      continue;
    }
    const bool empty = tag.ends_with('/');
    if (empty) tag.pop_back();
    const std::string name = tag.substr(0, tag.find(' '));
    EXPECT_TRUE(KnownElements().contains(name)) << tag.substr(0, 200);
    ++page.elements[name];
    AddAttributes(tag, page);
    if (!empty) open.push_back(name);
  }
  EXPECT_TRUE(open.empty());
  return page;
}

}  // namespace midscope::testing
