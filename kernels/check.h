// SPDX-License-Identifier: MIT
// Macros for checks that only a bug can fail. They throw std::logic_error that names the source
// line and the values, as in
//
//   MIDSCOPE_CHECK_EQ(update.size(), rows * width);
//   core/decoder/forward_pass.cpp:343: update.size() == rows * width does not hold: 575 and 576
//
// A text after the condition replaces the condition in the message. MIDSCOPE_BUG(text) always
// throws. MIDSCOPE_KERNEL_CHECK... check the contracts of kernels; they are compiled out unless
// MIDSCOPE_CHECK_KERNELS is defined (Debug and sanitizer builds). Do not use them for input from
// outside the program; invalid input throws Error (core/base/error.h).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace midscope::check {

// Returns `file` (__FILE__) relative to the repository's root, which contains kernels/.
inline std::string_view ShownFile(std::string_view file) {
  constexpr std::string_view kSelf = __FILE__;
  constexpr std::string_view kOwn = "kernels/check.h";
  if (!kSelf.ends_with(kOwn)) return file;
  const std::string_view root = kSelf.substr(0, kSelf.size() - kOwn.size());
  return file.starts_with(root) ? file.substr(root.size()) : file;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void Throw(const char* file, int line,
                                                         const std::string& text) {
  throw std::logic_error(std::string(ShownFile(file)) + ":" + std::to_string(line) + ": " + text);
}

template <class T>
std::string Shown(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return "'" + std::string(std::string_view(value)) + "'";
  }
}

template <class T>
inline constexpr bool kIsWhole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Compares integers by value, even if one is signed and the other unsigned.
struct Equal {
  template <class A, class B>
  constexpr bool operator()(const A& a, const B& b) const {
    if constexpr (kIsWhole<A> && kIsWhole<B>) {
      return std::cmp_equal(a, b);
    } else {
      return a == b;
    }
  }
};
struct Less {
  template <class A, class B>
  constexpr bool operator()(const A& a, const B& b) const {
    if constexpr (kIsWhole<A> && kIsWhole<B>) {
      return std::cmp_less(a, b);
    } else {
      return a < b;
    }
  }
};
struct Unequal {
  template <class A, class B>
  constexpr bool operator()(const A& a, const B& b) const {
    return !Equal()(a, b);
  }
};
struct LessEqual {
  template <class A, class B>
  constexpr bool operator()(const A& a, const B& b) const {
    return !Less()(b, a);
  }
};
struct Greater {
  template <class A, class B>
  constexpr bool operator()(const A& a, const B& b) const {
    return Less()(b, a);
  }
};
struct GreaterEqual {
  template <class A, class B>
  constexpr bool operator()(const A& a, const B& b) const {
    return !Less()(a, b);
  }
};

template <class Relation, class A, class B>
void Compare(const A& a, const B& b, const char* file, int line, const char* condition) {
  if (Relation()(a, b)) [[likely]] {
    return;
  }
  Throw(file, line, std::string(condition) + " does not hold: " + Shown(a) + " and " + Shown(b));
}

inline std::string Text(const char* condition) { return std::string(condition) + " does not hold"; }
inline std::string Text(const char* /*condition*/, const std::string& text) { return text; }

}  // namespace midscope::check

#define MIDSCOPE_BUG(text) ::midscope::check::Throw(__FILE__, __LINE__, text)

// MIDSCOPE_CHECK(condition) or MIDSCOPE_CHECK(condition, text).
#define MIDSCOPE_CHECK(condition, ...)                                                          \
  do {                                                                                          \
    if (!(condition)) [[unlikely]] {                                                            \
      ::midscope::check::Throw(__FILE__, __LINE__,                                              \
                               ::midscope::check::Text(#condition __VA_OPT__(, ) __VA_ARGS__)); \
    }                                                                                           \
  } while (false)

#define MIDSCOPE_CHECK_COMPARE_(relation, sign, a, b)                                   \
  ::midscope::check::Compare<::midscope::check::relation>((a), (b), __FILE__, __LINE__, \
                                                          #a " " sign " " #b)
#define MIDSCOPE_CHECK_EQ(a, b) MIDSCOPE_CHECK_COMPARE_(Equal, "==", a, b)
#define MIDSCOPE_CHECK_NE(a, b) MIDSCOPE_CHECK_COMPARE_(Unequal, "!=", a, b)
#define MIDSCOPE_CHECK_LT(a, b) MIDSCOPE_CHECK_COMPARE_(Less, "<", a, b)
#define MIDSCOPE_CHECK_LE(a, b) MIDSCOPE_CHECK_COMPARE_(LessEqual, "<=", a, b)
#define MIDSCOPE_CHECK_GT(a, b) MIDSCOPE_CHECK_COMPARE_(Greater, ">", a, b)
#define MIDSCOPE_CHECK_GE(a, b) MIDSCOPE_CHECK_COMPARE_(GreaterEqual, ">=", a, b)

#ifdef MIDSCOPE_CHECK_KERNELS
#define MIDSCOPE_KERNEL_CHECK_(check) check
#else
// The check is compiled, so that it stays valid code, but never run.
#define MIDSCOPE_KERNEL_CHECK_(check)                                \
  do {                                                               \
    if (false) check; /* NOLINT(bugprone-macro-parentheses): code */ \
  } while (false)
#endif
#define MIDSCOPE_KERNEL_CHECK(condition) MIDSCOPE_KERNEL_CHECK_(MIDSCOPE_CHECK(condition))
#define MIDSCOPE_KERNEL_CHECK_EQ(a, b) MIDSCOPE_KERNEL_CHECK_(MIDSCOPE_CHECK_EQ(a, b))
#define MIDSCOPE_KERNEL_CHECK_LE(a, b) MIDSCOPE_KERNEL_CHECK_(MIDSCOPE_CHECK_LE(a, b))
#define MIDSCOPE_KERNEL_CHECK_GE(a, b) MIDSCOPE_KERNEL_CHECK_(MIDSCOPE_CHECK_GE(a, b))
#define MIDSCOPE_KERNEL_CHECK_GT(a, b) MIDSCOPE_KERNEL_CHECK_(MIDSCOPE_CHECK_GT(a, b))
