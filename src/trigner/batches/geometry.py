"""Where a cell lies in the word-pair grid: log-bucketed distance and region (W2NER, section 3)."""

from __future__ import annotations

import numpy as np

from trigner.arrays import Integers

DISTANCES, REGIONS = 20, 3
"""Sizes of the two embedding tables; id 0 is padding in both."""

ON_DIAGONAL = 19
REACH = 256
"""From this distance on all are alike."""

PADDING_REGION, UPPER_REGION, LOWER_REGION = 0, 1, 2


def distance_of_offset() -> Integers:
    """Distance ids `[2 * REACH + 1]` of row minus column, from -REACH to REACH.

    |d| = 1 -> 1, 2-3 -> 2, 4-7 -> 3 ... from 256 on 9; 9 more where the column lies behind the
    row; 19 on the diagonal. What is farther has the id of the farthest: there is no longest
    sentence.
    """
    offset = np.arange(-REACH, REACH + 1)
    with np.errstate(divide="ignore"):
        bucket = np.floor(np.log2(np.abs(offset))) + 1
    ids = np.where(offset > 0, bucket, bucket + 9)
    ids[REACH] = ON_DIAGONAL
    return np.asarray(ids, dtype=np.int64)


def region_of_distance() -> Integers:
    """Region id of each distance id `[20]`: a cell's distance settles its region."""
    table = np.full(DISTANCES, LOWER_REGION, dtype=np.int64)
    table[0] = PADDING_REGION
    table[10:ON_DIAGONAL] = UPPER_REGION
    return table
