#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes statistics_golden.json: p values and intervals of fixed data by scipy.

    make_statistics_golden.py > statistics_golden.json        (needs numpy, scipy)
"""
import json
import sys

import numpy
from scipy import optimize, stats

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


def t_interval(values):
    interval = stats.t.interval(0.95, len(values) - 1, loc=numpy.mean(values), scale=stats.sem(values))
    return [float(end) for end in interval]


def wilson(right, samples):
    interval = stats.binomtest(right, samples).proportion_ci(0.95, method="wilson")
    return [float(interval.low), float(interval.high)]


def tango(gained, lost, samples):
    """Tango (1998) by its definition: the likelihood of the table with one cell lost = q and the other q + delta is
    maximised numerically, and the score test of every delta is inverted."""
    same = samples - gained - lost

    def score(delta):
        def minus_log_likelihood(q):
            cells = [(gained, q + delta), (lost, q), (same, 1 - 2 * q - delta)]
            return -sum(n * numpy.log(max(p, 1e-300)) for n, p in cells if n > 0)

        q = optimize.minimize_scalar(minus_log_likelihood, method="bounded", options={"xatol": 1e-13},
                                     bounds=(max(0.0, -delta), (1 - delta) / 2)).x
        return (gained - lost - samples * delta) / numpy.sqrt(samples * (2 * q + delta - delta * delta))

    z = float(stats.norm.ppf(0.975))
    observed = (gained - lost) / samples
    inner = 1 - 1e-9
    low = -1.0 if observed <= -1 else optimize.brentq(lambda d: score(d) - z, -inner, min(observed, inner))
    high = 1.0 if observed >= 1 else optimize.brentq(lambda d: score(d) + z, max(observed, -inner), inner)
    return [float(low), float(high)]


json.dump({
    "differences": DIFFERENCES,
    "differences_p": sign_flip(DIFFERENCES, 1 << 12),
    "many": MANY,
    "many_p": sign_flip(MANY, 200000),
    "many_interval": bootstrap(MANY),
    "rows": ROWS,
    "rows_p": column_effect(ROWS),
    "gap_interval": gap(ROWS),
    "t_quantiles": [[n, float(stats.t.ppf(0.975, n))] for n in (1, 2, 3, 4, 10, 19, 39, 500, 5000)],
    "t_interval": t_interval(DIFFERENCES),
    "wilson": [[right, n, *wilson(right, n)] for right, n in ((0, 8), (0, 40), (3, 3), (7, 10), (25, 100))],
    "tango": [[g, l, n, *tango(g, l, n)] for g, l, n in ((12, 2, 50), (5, 3, 8), (1, 4, 20), (2, 0, 3), (30, 20, 200))],
    "power_samples": float(((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * 0.5 / 0.04) ** 2),
}, sys.stdout, indent=1)
print()
