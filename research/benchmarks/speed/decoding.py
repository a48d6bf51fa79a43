"""Decoding by density, from no link to all words linked, against enumeration by recursion."""

from __future__ import annotations

import numpy as np

from oracles import w2ner_naive
from speed import made_up
from speed.figures import Figure, Section, Tell, ratios, seconds, spread
from trigner.schemes.w2ner import W2ner

DENSITIES = (0.0, 0.01, 0.1, 0.3, 1.0)
LIMIT = 0.050
LABELS = (made_up.LABEL,)


def scores(length: int, density: float, seed: int) -> np.ndarray:
    """Logits `[L, L, 3]` whose best class is a link above the diagonal, a corner below, in a share
    `density` of the cells, with some doubt."""
    random = np.random.default_rng(seed)
    found = random.normal(0, 1, (length, length, 3)).astype(np.float32)
    chosen = np.triu(np.full((length, length), 1), 1) + 2 * np.tri(length, dtype=int)
    chosen[random.random((length, length)) >= density] = 0
    np.put_along_axis(found, chosen[:, :, None], 6.0, axis=2)
    return found


def layers(length: int, width: int = 4) -> np.ndarray:
    """Tags `[L, L]`: each word linked to all of the next layer's, one corner around everything.

    Exponentially many paths, all long and all equally good.
    """
    layer = np.arange(length) // width
    tags = (layer[None] - layer[:, None] == 1).astype(np.int64)
    tags[-1, 0] = 2
    return tags


def measure(
    *, lengths: tuple[int, ...], recursive: tuple[int, ...], rounds: int, tell: Tell
) -> Section:
    """Milliseconds a sentence, and what the bound did."""
    ours = W2ner(LABELS)
    section = Section(
        "Decoding",
        notes=[
            "Density: share of the cells above the diagonal that are links, and of the others that "
            "are corners. One sentence at a time, best of its repeats; the largest is the slowest "
            f"of {rounds} random sentences. Bounded at {ours.max_mentions} mentions.",
        ],
    )
    slowest, cut = 0.0, 0
    for length in lengths:
        tell(f"decoding, {length} words")
        for density in DENSITIES:
            made = [scores(length, density, seed) for seed in range(rounds)]
            taken = [min(seconds(lambda s=s: ours.decode(s)) for _ in range(3)) for s in made]
            decoded = ours.decode(made[0])
            slowest = max(slowest, *taken)
            cut += not decoded.complete
            section.figures.append(
                Figure(
                    f"{length} words, density {density:g}",
                    f"{1e3 * spread(taken).median:.2f} ms, at most {1e3 * max(taken):.2f} ms",
                    value=max(taken),
                    note=f"{len(decoded.mentions)} mentions"
                    + ("" if decoded.complete else ", the bound was hit and reported"),
                )
            )
    tags = layers(max(lengths))
    taken = [seconds(lambda: ours.decode_tags(tags)) for _ in range(3)]
    slowest = max(slowest, min(taken))
    section.figures.append(
        Figure(
            f"{max(lengths)} words in layers of 4, all paths equal",
            f"{1e3 * min(taken):.2f} ms",
            value=min(taken),
            note=f"{len(ours.decode_tags(tags).mentions)} mentions of about 4 to the power of "
            f"{max(lengths) // 4 - 2}",
        )
    )
    asked = Figure(
        f"slowest sentence of up to {max(lengths)} words",
        f"{1e3 * slowest:.1f} ms",
        "≤ 50 ms",
        slowest <= LIMIT,
        slowest,
        f"output bounded, and reported, in {cut} of the set-ups",
    )
    section.figures.insert(0, asked)
    for length in recursive:
        tell(f"decoding by recursion, {length} words")
        section.figures.append(_recursion(length))
    section.notes.append(
        "Recursion finds 2 to the power of the words between head and tail: 22 fully linked words "
        "are over a million mentions, beyond that it does not end."
    )
    return section


def _recursion(length: int) -> Figure:
    """All words linked, one corner around them: both find all paths, ours without its bound."""
    tags = np.triu(np.ones((length, length), dtype=np.int64), 1)
    tags[-1, 0] = 2
    unbounded = W2ner(LABELS, max_mentions=None)
    slow, taken, all_of_them = [], [], []
    for _ in range(3):
        slow.append(seconds(lambda: w2ner_naive.decode(tags, LABELS)))
        taken.append(seconds(lambda: W2ner(LABELS).decode_tags(tags)))
        all_of_them.append(seconds(lambda: unbounded.decode_tags(tags)))
    enumerated = w2ner_naive.decode(tags, LABELS)
    found = {(m.mention.words, m.mention.label) for m in unbounded.decode_tags(tags).mentions}
    if found != enumerated:
        raise SystemExit(f"decoding {length} linked words differs from enumeration")
    return Figure(
        f"{length} words fully linked: recursion to ours",
        ratios(slow, taken).times(),
        value=ratios(slow, taken).median,
        note=f"recursion {1e3 * spread(slow).median:.0f} ms for {len(found)} mentions, ours bounded"
        f" {1e3 * spread(taken).median:.1f} ms, ours unbounded {spread(all_of_them).milliseconds()}"
        "; equal sets",
    )
