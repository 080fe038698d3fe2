#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes channel_search_golden.json: what numpy and scipy make of small averages of hidden states, by the rule of the channel
paper (arXiv 2406.02536, section 3 and appendix A.2) and its ablations, for channel_search_test.

    make_channel_search_golden.py OUT.json        (numpy, scipy)

Values [layer, position, channel]; for smoothing windows 11 and 0 the trend, the number of monotone layers and the smoothness of
each channel under every ranking (null: no candidate), and the ranked channels.
"""
import json
import sys

import numpy
import scipy.signal

LAYERS, POSITIONS, CHANNELS = 5, 60, 9
TREND_SKIP, SMOOTHNESS_SKIP, THRESHOLD, TOP = 10, 15, 1, 4


def states():
    random = numpy.random.default_rng(7)
    x = numpy.arange(POSITIONS) / POSITIONS
    values = numpy.zeros((LAYERS, POSITIONS, CHANNELS))
    for channel in range(CHANNELS):
        for layer in range(LAYERS):
            # Channels of higher number have a trend in fewer layers, and more noise.
            slope = (-1) ** channel * (1.0 if layer < LAYERS - channel // 2 else 0.0)
            values[layer, :, channel] = slope * (x + 0.2 * x * x) + random.normal(0, 0.02 * (1 + channel * 7 % 5), POSITIONS)
    return values.round(5)


def trend(series):
    t = numpy.linspace(-1, 1, series.size)
    steps = numpy.diff(numpy.polynomial.Polynomial.fit(t, series, 3, domain=[-1, 1])(t))
    return int((steps >= 0).all()) - int((steps <= 0).all())


def roughness(series, window):
    scaled = (series - series.min()) / (series.max() - series.min())
    smoothed = scipy.signal.savgol_filter(scaled, window, 3) if window else scaled
    return float(numpy.square(numpy.diff(smoothed, 2)).sum())


def search(values, window, ranking):
    layers, monotone, smoothness = [], [], []
    for channel in range(CHANNELS):
        trends = [trend(values[layer, TREND_SKIP:, channel]) for layer in range(LAYERS)]
        rising = [layer for layer in range(LAYERS) if trends[layer] > 0]
        falling = [layer for layer in range(LAYERS) if trends[layer] < 0]
        found = rising if len(rising) > len(falling) else falling
        monotone.append(len(found))
        layers.append(0 if not found else 1 if found is rising else -1)
        looked_at = range(LAYERS) if ranking == "no-monotonicity" else found
        candidate = len(found) > THRESHOLD if ranking == "full" else len(looked_at) > 0
        least = [roughness(values[layer, SMOOTHNESS_SKIP:, channel], window) for layer in looked_at]
        smoothness.append(min(least) if candidate else None)
    ranked = [channel for channel in range(CHANNELS) if smoothness[channel] is not None]
    if ranking in ("no-smoothness", "no-validation"):
        ranked.sort(key=lambda channel: -monotone[channel])
    if ranking == "no-validation":
        ranked = ranked[:TOP]
    if ranking != "no-smoothness":
        ranked.sort(key=lambda channel: (smoothness[channel], channel))
    return {"window": window, "ranking": ranking, "trend": layers, "monotone_layers": monotone, "smoothness": smoothness,
            "ranked": ranked}


def main():
    values = states()
    cases = [search(values, window, ranking) for window in (11, 0)
             for ranking in ("full", "no-monotonicity", "no-smoothness", "no-validation")]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"trend_skip": TREND_SKIP, "smoothness_skip": SMOOTHNESS_SKIP, "threshold": THRESHOLD, "top": TOP,
                   "values": values.tolist(), "cases": cases}, file, separators=(",", ":"))
        file.write("\n")


main()
