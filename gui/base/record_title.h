// SPDX-License-Identifier: GPL-3.0-or-later
// Words for the identifiers of records and their arrays, wherever people read them. Files keep the
// identifiers.
#pragma once

#include <QString>
#include <string>

#include "core/base/record.h"

namespace midscope {

// "Attention entropy" of attention_entropy; records with a better name than their identifier's
// words are in one list.
QString RecordTitle(const std::string& record);
// "Attention entropy: entropy by layer, head (nats)".
QString ArrayTitle(const std::string& record, const Array& array);
// "entropy" of the array, without its record.
QString ArrayWords(const std::string& array);

}  // namespace midscope
