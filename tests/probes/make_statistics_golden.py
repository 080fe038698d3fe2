#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes statistics_golden.json: p values and intervals of fixed data by scipy.

    make_statistics_golden.py > statistics_golden.json        (needs numpy, scipy)
"""
import json
import sys

import numpy
from scipy import stats

DIFFERENCES = [0.31, -0.12, 0.58, 0.07, 0.44, -0.35, 0.90, 0.22, 0.13, -0.05, 0.41]
MANY = [round(0.05 + 0.6 * float(numpy.sin(7.1 * i)), 6) for i in range(60)]
ROWS = [[round(2 + 0.3 * column + 0.8 * float(numpy.sin(3.7 * row + 11.3 * column)), 6) for column in range(4)]
        for row in range(15)]


def sign_flip(values, resamples):
    return float(stats.permutation_test((numpy.array(values),), lambda x, axis: numpy.mean(x, axis=axis),
                                        permutation_type="samples", n_resamples=resamples, vectorized=True,
                                        rng=numpy.random.default_rng(1)).pvalue)


def column_effect(rows):
    """Within-row permutations; the statistic is the sum of squared column means, for which larger is more extreme."""
    columns = [numpy.array(c) for c in zip(*rows)]

    def statistic(*samples, axis):
        return sum(numpy.mean(s, axis=axis) ** 2 for s in samples)

    return float(stats.permutation_test(columns, statistic, permutation_type="samples", alternative="greater",
                                        n_resamples=100000, vectorized=True,
                                        rng=numpy.random.default_rng(2)).pvalue)


def bootstrap(values):
    interval = stats.bootstrap((numpy.array(values),), numpy.mean, method="percentile", n_resamples=100000,
                               rng=numpy.random.default_rng(3)).confidence_interval
    return [float(interval.low), float(interval.high)]


def gap(rows):
    """Best less worst column mean, whole rows drawn."""
    def statistic(*columns, axis):
        means = numpy.stack([numpy.mean(c, axis=axis) for c in columns])
        return means.max(axis=0) - means.min(axis=0)

    columns = [numpy.array(c) for c in zip(*rows)]
    interval = stats.bootstrap(columns, statistic, paired=True, vectorized=True, method="percentile",
                               n_resamples=50000, rng=numpy.random.default_rng(4)).confidence_interval
    return [float(interval.low), float(interval.high)]


json.dump({
    "differences": DIFFERENCES,
    "differences_p": sign_flip(DIFFERENCES, 1 << 12),
    "many": MANY,
    "many_p": sign_flip(MANY, 200000),
    "many_interval": bootstrap(MANY),
    "rows": ROWS,
    "rows_p": column_effect(ROWS),
    "gap_interval": gap(ROWS),
    "power_samples": float(((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * 0.5 / 0.04) ** 2),
}, sys.stdout, indent=1)
print()
