// SPDX-License-Identifier: GPL-3.0-or-later
// Reads numbers and texts of records for drawing. No function here throws: missing values are empty
// or NaN, because a record may come from another program's file.
#pragma once

#include <QString>
#include <QStringList>
#include <QVector>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// Number of indices along an axis; 0 if the record has no such axis.
int64_t AxisSize(const Record& record, const std::string& axis);
// The values of the axis, or 0, 1, ... if it has none.
QVector<double> AxisValues(const Record& record, const std::string& axis);
// The labels of the axis, or its values as text if it has none.
QStringList AxisLabels(const Record& record, const std::string& axis);
// Index along `axis` of the given value; -1 if not found.
int64_t AxisIndexOf(const Record& record, const std::string& axis, double value);

// Whether the array exists, has exactly these axes, and has as many elements as they require.
bool HasArray(const Record& record, const std::string& array, const std::vector<std::string>& axes);
// The row along the array's last axis at the leading indices; empty if the array is missing or an
// index is out of range.
QVector<double> LastAxisRow(const Record& record, const std::string& array,
                            const std::vector<int64_t>& leading);
// One element; NaN if it is missing.
double ValueAt(const Record& record, const std::string& array, const std::vector<int64_t>& indices);
// The part of the record at one index of an axis, which then has size 1; the whole record if it has
// no such axis or index.
Record AtIndex(const Record& record, const std::string& axis, int64_t index);
// All elements of an array of strings; empty if it is missing.
QStringList Texts(const Record& record, const std::string& array);

QString TextAttribute(const Record& record, const std::string& name);
int64_t IntegerAttribute(const Record& record, const std::string& name, int64_t otherwise);
double NumberAttribute(const Record& record, const std::string& name, double otherwise);

// A token as a label, in quotes; line ends and tabs are written as \n and \t.
QString ShownToken(const QString& token);

}  // namespace midscope
