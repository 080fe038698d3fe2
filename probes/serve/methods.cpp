// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include "probes/model/provenance.h"
#include "probes/serve/frames.h"
#include "probes/serve/method.h"

namespace midscope {
namespace {

Message Hello(EngineSession& /*session*/, const Call& /*call*/) {
  Message methods = Message::array();
  for (const Method& method : Methods()) methods.push_back(method.name);
  return {{"protocol", kProtocolVersion},
          {"version", ProgramVersion()},
          {"libraries", LibraryVersions()},
          {"frame_bytes", kLargestFrame},
          {"methods", std::move(methods)}};
}

}  // namespace

const std::vector<Method>& Methods() {
  static const std::vector<Method> methods = [] {
    std::vector<Method> all = {{"hello",
                                "Tells who the engine is.",
                                {},
                                "protocol, version, libraries, frame_bytes, methods",
                                "",
                                true,
                                Hello}};
    std::vector<Method> engine = EngineMethods();
    std::move(engine.begin(), engine.end(), std::back_inserter(all));
    for (const std::vector<Method>& more : {FileMethods(), ResultMethods()}) {
      std::copy(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }();
  return methods;
}

const Method* FindMethod(const std::string& name) {
  const std::vector<Method>& methods = Methods();
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const Method& method) { return method.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace midscope
