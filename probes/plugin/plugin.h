// SPDX-License-Identifier: MIT
// Plugins: libraries with additional probes, which `--plugin FILE.so` or MIDSCOPE_PLUGIN_PATH
// names. To write one, include this header, write a ProbeType (probe.h), and register it:
//
//   void Register(midscope::ProbeRegistry& probes) { probes.Add(MyProbe()); }
//   MIDSCOPE_PLUGIN(Register)
//
// See the manual, PLUGINS.md beside this header, and the example in
// tests/probes/plugin/plugin_example. Plugins do not need LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>  // for the library's macros

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/decoder/hooks.h"
#include "probes/base/probe.h"
#include "probes/plugin/probe_registry.h"

#define MIDSCOPE_TEXT_OF(value) #value
#define MIDSCOPE_TEXT(value) MIDSCOPE_TEXT_OF(value)

#if defined(__GXX_ABI_VERSION) && __GXX_ABI_VERSION >= 1000 && __GXX_ABI_VERSION < 2000
#define MIDSCOPE_ABI_COMPILER "Itanium C++ ABI 1"  // GCC since 3.4, Clang
#else
#define MIDSCOPE_ABI_COMPILER "an unknown C++ ABI"
#endif
#if defined(_GLIBCXX_DEBUG)
#define MIDSCOPE_ABI_LIBRARY "libstdc++ with debug containers"
#elif defined(__GLIBCXX__)
#define MIDSCOPE_ABI_LIBRARY "libstdc++ with cxx11 strings " MIDSCOPE_TEXT(_GLIBCXX_USE_CXX11_ABI)
#elif defined(_LIBCPP_VERSION)
#define MIDSCOPE_ABI_LIBRARY "libc++ " MIDSCOPE_TEXT(_LIBCPP_ABI_VERSION)
#else
#define MIDSCOPE_ABI_LIBRARY "an unknown C++ library"
#endif

namespace midscope {

// Increment this after every change to these headers that affects compiled plugins and that
// PluginLayout() does not detect: the order of virtual functions or of members, the meaning of a
// field.
inline constexpr int32_t kPluginVersion = 1;

// Must be equal in Midscope and the plugin, because classes and strings are passed between them.
inline constexpr char kPluginAbi[] = MIDSCOPE_ABI_COMPILER ", " MIDSCOPE_ABI_LIBRARY;

// Hash of the sizes of all types that are passed between Midscope and a plugin: detects different
// headers even if kPluginVersion was not incremented.
constexpr uint64_t PluginLayout() {
  constexpr size_t kSizes[] = {sizeof(Axis),        sizeof(Array),         sizeof(Record),
                               sizeof(Parameter),   sizeof(OptionSet),     sizeof(HookView),
                               sizeof(HookRequest), sizeof(HookPoint),     sizeof(SequenceInfo),
                               sizeof(Prompt),      sizeof(PromptSpan),    sizeof(Intervention),
                               sizeof(ModelConfig), sizeof(RunResult),     sizeof(ProbeInput),
                               sizeof(ProbeType),   sizeof(ProbeRegistry), sizeof(std::string)};
  uint64_t hash = 14695981039346656037u;  // FNV-1a, one size at a time
  for (const size_t size : kSizes) hash = (hash ^ size) * 1099511628211u;
  return hash;
}

// Exported by a plugin under the name kPluginSymbol. The first two members must never move, because
// they are checked before the others are read.
struct PluginManifest {
  int32_t version;
  const char* abi;
  uint64_t layout;
  // Adds the plugin's probes to an empty registry. May throw.
  void (*register_probes)(ProbeRegistry& probes);
};

inline constexpr char kPluginSymbol[] = "midscope_plugin_manifest";

}  // namespace midscope

// Defines the manifest. Use it exactly once in a library, outside any namespace.
#define MIDSCOPE_PLUGIN(register_function)                                                    \
  extern "C" {                                                                                \
  __attribute__((                                                                             \
      visibility("default"))) extern const midscope::PluginManifest midscope_plugin_manifest; \
  const midscope::PluginManifest midscope_plugin_manifest = {                                 \
      midscope::kPluginVersion, midscope::kPluginAbi, midscope::PluginLayout(),               \
      register_function};                                                                     \
  }
