"""What a run reports besides entities."""

from __future__ import annotations

from dataclasses import dataclass, fields

from trigner.batches import Prepared
from trigner.machine import counted


@dataclass
class RunStatistics:
    """Counts of a run, which grow while documents are drawn from it.

    `bounded`: sentences of which decoding hit a bound; `on_special_words`: decoded mentions
    that touch special words such as [POS] and were left out; `windowed`: sentences over the
    encoder's limit, read through windows; `truncated`: words represented by their first subwords
    only.
    """

    sentences: int = 0
    bounded: int = 0
    on_special_words: int = 0
    windowed: int = 0
    truncated: int = 0

    def add(self, other: RunStatistics) -> None:
        """Count what another run met."""
        for own in fields(self):
            setattr(self, own.name, getattr(self, own.name) + getattr(other, own.name))

    def add_prepared(self, sentences: int, prepared: Prepared) -> None:
        """Count sentences that are about to be predicted on."""
        self.sentences += sentences
        self.windowed += prepared.windowed
        self.truncated += prepared.truncated

    def notices(self) -> list[str]:
        """A sentence for each thing worth reporting."""
        reported = [
            (self.bounded, "hit a bound of decoding: the result may be incomplete"),
            (
                self.windowed,
                "exceeded the encoder's maximum length: read through overlapping windows",
            ),
        ]
        sentences = counted(self.sentences, "sentence")
        notices = [f"{n:,} of {sentences} {what}" for n, what in reported if n]
        if self.on_special_words:
            notices.append(
                f"{counted(self.on_special_words, 'prediction')} on [POS] or [NEG] left out"
            )
        if self.truncated:
            notices.append(
                f"{counted(self.truncated, 'very long word')} truncated to the first subwords"
            )
        return notices
