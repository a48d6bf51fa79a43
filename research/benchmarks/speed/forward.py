"""Inference: our forward pass, the straightforward one and the bare encoder on the same batches."""

from __future__ import annotations

from pathlib import Path

import torch

from speed import made_up
from speed.figures import Section, Tell, at_most, ratios, seconds, spread, told_ratio
from speed.straightforward import Straightforward

LIMITS = {"minilm": 1.5, made_up.MPNET: 1.15}


def measure(
    encoders: list[str], corpus: Path | None, *, sentences: int, rounds: int, tell: Tell
) -> Section:
    """Ratios for each encoder; the straightforward side with the first encoder only."""
    chosen, source = made_up.sample_sentences(corpus, sentences)
    section = Section(
        "Inference, forward pass",
        notes=[
            f"float32, {source}; batches as extraction makes them.",
            "Each batch runs through both sides in turns; a ratio is that of the sums of a round, "
            "and quartiles are over rounds.",
        ],
    )
    for number, encoder in enumerate(encoders):
        tell(f"forward, {encoder}")
        kept = chosen if encoder != made_up.MPNET else chosen[:: max(1, len(chosen) // 200)]
        _one(section, encoder, kept, rounds if encoder != made_up.MPNET else max(3, rounds // 2))
        if number == 0:
            tell("forward, straightforward")
            _plain(section, encoder, chosen)
    if made_up.MPNET in encoders:
        section.notes.append(
            "mpnet: MPNet's shape (12 layers of 768) with random weights and MiniLM's subwords, on "
            "every n-th of these sentences, 200 in all; its time does not depend on its weights."
        )
    return section


@torch.inference_mode()
def _one(section: Section, encoder: str, chosen: list, rounds: int) -> None:
    model = made_up.model(encoder)
    tagger, bare = model.tagger, model.tagger.encoder.model
    batches = [made_up.inputs(b) for b in made_up.extraction_batches(model, chosen)]
    ours, floor = [], []
    for turn in range(rounds + 1):
        own = base = 0.0
        for batch in batches:
            own += seconds(lambda: tagger(**batch))  # noqa: B023
            base += seconds(lambda: run_bare(bare, batch))  # noqa: B023
        if turn:
            ours.append(own)
            floor.append(base)
    ratio = ratios(ours, floor)
    limit = LIMITS.get(encoder, 1.5)
    section.figures.append(
        at_most(
            f"{encoder}: ours to the bare encoder",
            limit,
            ratio,
            f"{spread(ours).median:.2f} s to {spread(floor).median:.2f} s, "
            f"{len(chosen)} sentences in {len(batches)} batches",
        )
    )


@torch.inference_mode()
def _plain(section: Section, encoder: str, chosen: list) -> None:
    model = made_up.model(encoder, "full")
    tagger, bare = model.tagger, model.tagger.encoder.model
    plain = Straightforward(tagger).eval()
    batches = [made_up.inputs(b) for b in made_up.extraction_batches(model, chosen)]
    # The longest sentences' batches alone would take gigabytes and minutes.
    batches = [b for b in batches if b["word_subwords"].shape[1] <= 40][
        :: max(1, len(batches) // 4)
    ]
    ours, others, floor = [], [], []
    largest = 0.0
    for batch in batches:
        logits = tagger(**batch).logits
        largest = max(largest, difference(logits, plain(**batch)[0], batch["lengths"]))
        ours.append(seconds(lambda: tagger(**batch)))  # noqa: B023
        others.append(seconds(lambda: plain(**batch)))  # noqa: B023
        floor.append(seconds(lambda: run_bare(bare, batch)))  # noqa: B023
    check_equal(largest)
    note = f"full pair map on both sides, {len(batches)} batches of up to 40 words; "
    note += f"largest difference of a score {largest:.1e} of the largest"
    section.figures.append(
        told_ratio(f"{encoder}: straightforward to ours", ratios(others, ours), note)
    )
    section.figures.append(
        told_ratio(f"{encoder}: straightforward to the bare encoder", ratios(others, floor))
    )


def run_bare(encoder: torch.nn.Module, batch: dict[str, torch.Tensor]) -> object:
    return encoder(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])


def difference(one: torch.Tensor, other: torch.Tensor, lengths: torch.Tensor) -> float:
    """Largest difference of scores `[B, L, L, C]` at valid cells, as share of the largest score."""
    inside = torch.arange(one.shape[1]) < lengths[:, None]
    valid = inside[:, :, None] & inside[:, None]
    return float((one - other)[valid].abs().max() / other[valid].abs().max())


def check_equal(largest: float, tolerance: float = 1e-4) -> None:
    """Both sides must give the same scores, or their times say nothing."""
    if not largest <= tolerance:
        raise SystemExit(f"ours and the straightforward network differ by {largest}")
