"""Growth with the length of a sentence: time, and memory above the loaded model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from speed import made_up, memory
from speed.figures import Figure, Section, Tell, in_turns, ratios, spread
from speed.forward import check_equal, difference, run_bare
from speed.straightforward import Straightforward

LIMIT = 600.0
PLAIN = "straightforward"


def measure(encoder: str, *, lengths: tuple[int, ...], rounds: int, tell: Tell) -> Section:
    """One sentence at a time, words of one subword, special words included."""
    section = Section(
        "Forward pass by sentence length",
        notes=[
            "One sentence of one-subword words, [POS] and [NEG] among them; float32. Memory: "
            "the most that was resident during one forward pass in a fresh process, above the "
            "loaded model (ours with the default pair map, straightforward with the full W). "
            "Scores are compared with the full W on both sides.",
        ],
    )
    model, full = made_up.model(encoder), made_up.model(encoder, "full")
    plain = Straightforward(full.tagger).eval()
    for length in lengths:
        tell(f"forward, {length} words")
        batch = made_up.inputs(made_up.one_subword_words(model, length))
        works = {
            "ours": partial(model.tagger, **batch),
            "bare": partial(run_bare, model.tagger.encoder.model, batch),
        }
        with torch.inference_mode():
            taken = in_turns(works, rounds)
            slow = in_turns({"": partial(plain, **batch)}, max(1, rounds // 3))[""]
            logits = full.tagger(**batch).logits
            apart = difference(logits, plain(**batch)[0], batch["lengths"])
        check_equal(apart)
        peaks = {
            side: memory.fresh(work="forward", side=side, encoder=encoder, length=length)
            for side in ("low_rank", PLAIN)
        }
        own, other = peaks["low_rank"].growth, peaks[PLAIN].growth
        asked = length >= 400
        mine, theirs = spread(taken["ours"]), spread(slow)
        times = theirs.median / mine.median
        section.figures.extend(
            [
                Figure(
                    f"{length} words: time",
                    mine.milliseconds(),
                    value=mine.median,
                    note=f"{ratios(taken['ours'], taken['bare']).times()} the encoder; "
                    f"straightforward {1e3 * theirs.median:,.0f} ms, {times:.0f} x ours; "
                    f"its scores differ by {apart:.1e} of the largest",
                ),
                Figure(
                    f"{length} words: memory",
                    f"{own:,.0f} MB",
                    "≤ 600 MB" if asked else "",
                    own <= LIMIT if asked else None,
                    own,
                    f"straightforward {other:,.0f} MB",
                ),
            ]
        )
    return section


def one_forward(encoder: str, side: str, *, length: int) -> Callable[[], object]:
    """Everything loaded, ready for a forward pass."""
    model = made_up.model(encoder, "full" if side == PLAIN else side)
    batch = made_up.inputs(made_up.one_subword_words(model, length))
    network = Straightforward(model.tagger).eval() if side == PLAIN else model.tagger
    return torch.inference_mode()(lambda: network(**batch))
