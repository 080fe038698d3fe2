#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes position_trend_golden.json: what numpy and scipy make of a few series, for position_trend_test.

    make_position_trend_golden.py OUT.json        (numpy, scipy 1.12 or later: even windows)

Per series: the values, numpy's cubic fit, its trend (1 rising, -1 falling, 0 neither), and for windows 11 and 10
scipy.signal.savgol_filter(values, window, 3) and the roughness as the public code of PositionalHidden defines it;
window 0 is plain second differences, as the paper states them.
"""
import json
import sys

import numpy
import scipy.signal


def series():
    random = numpy.random.default_rng(20240604)
    x = numpy.arange(57)
    yield "rising with noise", 0.3 * x + random.normal(0, 1.5, x.size)
    yield "falling, far from zero", -1e4 - 2 * numpy.sqrt(x) + random.normal(0, 0.1, x.size)
    yield "noise", random.normal(0, 1, x.size)
    yield "step", (x >= 28).astype(float)
    yield "hill", -((x - 25.0) ** 2)
    yield "long", numpy.log1p(numpy.arange(701)) + random.normal(0, 0.05, 701)
    yield "short", random.normal(0, 1, 13)


def trend(values):
    t = numpy.linspace(-1, 1, values.size)
    fit = numpy.polynomial.Polynomial.fit(t, values, 3, domain=[-1, 1])(t)
    steps = numpy.diff(fit)
    return fit, int((steps >= 0).all()) - int((steps <= 0).all())


def roughness(values, window):
    scaled = (values - values.min()) / (values.max() - values.min())
    return float(numpy.square(numpy.diff(smoothed(scaled, window), 2)).sum())


def smoothed(values, window):
    return scipy.signal.savgol_filter(values, window, 3) if window else values


def digits(values):
    return [float(f"{v:.12g}") for v in values]


def main():
    cases = []
    for name, values in series():
        values = numpy.array(digits(values))
        fit, direction = trend(values)
        cases.append({"name": name, "values": values.tolist(), "fit": digits(fit), "trend": direction, "windows": [
            {"window": window, "smoothed": digits(smoothed(values, window)), "roughness": roughness(values, window)}
            for window in (11, 10, 0)]})
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(cases, file, separators=(",", ":"))
        file.write("\n")


main()
