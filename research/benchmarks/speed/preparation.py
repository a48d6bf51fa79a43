"""Memory of a training's preparation: what stays of a sentence beyond its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from speed import memory
from speed.figures import Figure, Section, Tell
from trigner.corpora import read
from trigner.mentions import Document
from trigner.text.segmentation import segment
from trigner.training.data import EpochBatches
from trigner.training.settings import resolve
from trigner.training.start import begun
from trigner.training.weighting import Collator

PRESETS = ("clean", "best")
SHIPPED = Path(__file__).parents[3] / "data" / "mini-adr" / "train"


def copied(corpus: Path | None, copies: int) -> list[Document]:
    """So many copies of the documents of a folder (None: of the shipped corpus)."""
    documents = read(corpus or SHIPPED).documents
    return [
        replace(document, id=f"{number}-{document.id}", text=(document.text + " ")[:-1])
        for number in range(copies)
        for document in documents
    ]


def one_preparation(
    encoder: str, side: str, *, corpus: str | None, copies: int
) -> Callable[[], object]:
    """From documents to the first batch, with the preset `side`."""
    settings = resolve(
        preset=side, assignments=["optimisation.epochs=12"], options={"encoder": encoder}
    )
    documents = copied(None if corpus is None else Path(corpus), copies)
    begun(settings, documents[:5], None)

    def work() -> object:
        system, data = begun(settings, documents, None)
        batches = EpochBatches(data.lengths, settings.optimisation, settings.seed, 12, data.rates)
        return Collator(system, data.examples, batches, settings.optimisation)

    return work


def measure(encoder: str, corpus: Path | None, *, copies: tuple[int, int], tell: Tell) -> Section:
    """How much more the second number of copies takes than the first."""
    few, many = copies
    sentences = sum(len(segment(document).sentences) for document in copied(corpus, 1))
    name = "mini-adr's training part" if corpus is None else f"{corpus.parent.name}/{corpus.name}"
    section = Section(
        "Memory of a training's preparation",
        notes=[
            f"{few} and {many} copies of {name} ({sentences:,} sentences), documents read before;"
            " the difference of the peaks, in fresh processes, by the difference in sentences. The"
            " preset best trains on sentences that it makes by coordination, too.",
        ],
    )
    for preset in PRESETS:
        tell(f"memory of a training's preparation, {preset}")
        task = {"work": "preparation", "side": preset, "encoder": encoder}
        folder = None if corpus is None else str(corpus)
        first, second = (memory.fresh(**task, corpus=folder, copies=n) for n in copies)
        each = 1024 * (second.growth - first.growth) / ((many - few) * sentences)
        section.figures.append(
            Figure(
                f"{preset}: a sentence beyond its text",
                f"{each:.2f} KB",
                "≤ 2 KB",
                each <= 2,
                each,
                f"{first.growth:.0f} and {second.growth:.0f} MB",
            )
        )
    return section
