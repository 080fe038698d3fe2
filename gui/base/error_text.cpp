// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/error_text.h"

#include <exception>

#include "core/base/file_access.h"

namespace midscope {

QString ErrorText(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::filesystem::filesystem_error& error) {
    return QString::fromStdString(FileSystemProblem(error));
  } catch (const std::exception& error) {
    return QString::fromUtf8(error.what());
  }
  return {};
}

}  // namespace midscope
