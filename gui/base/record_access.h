// SPDX-License-Identifier: GPL-3.0-or-later
// Reads numbers and texts of records for drawing. Nothing here throws: missing values are empty or
// NaN, because a record may come from another program's file.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Number of indices of an axis; 0 where the record has no such axis.
int64_t AxisSize(const Record& record, const std::string& axis);
// The axis' values; 0, 1, ... where it has none.
QVector<double> AxisValues(const Record& record, const std::string& axis);
// The labels of the axis, or its values as text.
QStringList AxisLabels(const Record& record, const std::string& axis);
// Index along `axis` of the given value; -1 for none.
int64_t AxisIndexOf(const Record& record, const std::string& axis, double value);

// Whether the array exists over exactly these axes and its number of elements fits them.
bool HasArray(const Record& record, const std::string& array, const std::vector<std::string>& axes);
// The array's last axis at the leading indices; empty where it is missing or out of range.
QVector<double> LastAxisRow(const Record& record, const std::string& array,
                            const std::vector<int64_t>& leading);
// One element; NaN where it is missing.
double ValueAt(const Record& record, const std::string& array, const std::vector<int64_t>& indices);
// The record at one index of an axis, whose size is then 1; unchanged where it has no such axis or
// index.
Record AtIndex(const Record& record, const std::string& axis, int64_t index);
// All elements of an array of strings.
QStringList Texts(const Record& record, const std::string& array);

QString TextAttribute(const Record& record, const std::string& name);
int64_t IntegerAttribute(const Record& record, const std::string& name, int64_t otherwise);

// A token as a label: line ends and tabs are written as \n and \t, in
// quotes.
QString ShownToken(const QString& token);

}  // namespace midscope
