# SPDX-License-Identifier: MIT
"""How often every program repeats what it measures, of which the least time counts: as run_bench does."""
import time

FEWEST, MOST, SECONDS = 2, 20, 3


def passes():
    """Counts from 0: for SECONDS, at least FEWEST times and at most MOST."""
    begin = time.perf_counter()
    count = 0
    while count < FEWEST or (count < MOST and time.perf_counter() - begin < SECONDS):
        yield count
        count += 1
