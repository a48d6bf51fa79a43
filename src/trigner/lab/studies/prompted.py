"""Language models compared with the trained systems of a study on the sentences they were given.

The answers in a folder of `trigner prompt --out` are scored together with the predictions of the
study's systems for the same sentences: scores on a sample cannot be compared with any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora import document_of
from trigner.errors import InputError
from trigner.evaluation import SLICES, compare, score
from trigner.lab.prompting import SENTENCES, read_sentences, words_sha256
from trigner.lab.studies.corpus import CorpusSplits
from trigner.lab.studies.results import CHOSEN_BY
from trigner.lab.studies.summary import RATES, Spread, SystemResults
from trigner.mentions import Document, Mention, Sentence
from trigner.rendering import systems_page
from trigner.text import segment

_SentenceId = tuple[str, int]
"""A document's id and the number of a sentence in it, from 0."""

_Found = dict[_SentenceId, tuple[Mention, ...]]


@dataclass(frozen=True)
class PromptedComparison:
    """Systems on the same sentences, each a document of its own; `total` are those of the part.

    Mentions are those of the `types` that were asked for. `prompted` are by name, `trained` by name
    and seed, the models that overall F1 chose.
    """

    corpus: str
    total: int
    types: tuple[str, ...]
    gold: tuple[Document, ...]
    prompted: Mapping[str, tuple[Document, ...]]
    trained: Mapping[str, Mapping[int, tuple[Document, ...]]]

    def spreads(self) -> Iterator[tuple[str, int, list[Spread]]]:
        """Name, seeds (0 of a language model) and rates on gold, by slice, then by rate."""
        for name, by_seed in self.trained.items():
            yield name, len(by_seed), self._rates(list(by_seed.values()))
        for name, found in self.prompted.items():
            yield name, 0, self._rates([found])

    def page(self) -> str:
        """Gold and all systems sentence by sentence, trained ones as of their first seed."""
        systems = {name: next(iter(seeds.values())) for name, seeds in self.trained.items()}
        shown = {**systems, **self.prompted}
        title = f"Trained systems and language models on {self.corpus}"
        compared = {name: compare(self.gold, found) for name, found in shown.items()}
        return systems_page(compared, title=title)

    def _rates(self, found: Sequence[Sequence[Document]]) -> list[Spread]:
        scores = [score(self.gold, documents) for documents in found]
        return [
            Spread(tuple(100 * getattr(getattr(s, slice_), rate) for s in scores))
            for slice_ in SLICES
            for rate in RATES
        ]


def compare_prompted(
    corpus: CorpusSplits, systems: Sequence[SystemResults], folders: Sequence[Path]
) -> list[PromptedComparison]:
    """The variants in folders of `trigner prompt`, those with equal sentences and types together.

    Raises InputError for a folder without any, for two folders of the same name, and for sentences
    that are not in the test part.
    """
    sentences = _sentences(corpus.test)
    asked: dict[tuple[tuple[str, ...], tuple[_SentenceId, ...]], dict[str, _Found]] = {}
    for number, folder in enumerate(folders):
        if folder.name in {other.name for other in folders[:number]}:
            raise InputError("has the same name as another of the folders: rename one", path=folder)
        variants = sorted(folder.glob(f"*/{SENTENCES}"))
        if not variants:
            raise InputError(f"contains no */{SENTENCES} written by `trigner prompt`", path=folder)
        for path in variants:
            types, found = _read(path, sentences)
            name = f"{folder.name}, {path.parent.name}"
            asked.setdefault((types, tuple(sorted(found))), {})[name] = found
    trained = {system.name: _of_seeds(corpus, system) for system in systems}
    return [
        _group(corpus.name, sentences, types, ids, variants_found, trained)
        for (types, ids), variants_found in asked.items()
    ]


def _group(
    corpus: str,
    sentences: Mapping[_SentenceId, Sentence],
    types: tuple[str, ...],
    ids: tuple[_SentenceId, ...],
    prompted: Mapping[str, _Found],
    trained: Mapping[str, Mapping[int, _Found]],
) -> PromptedComparison:
    def on(found: Callable[[_SentenceId], Sequence[Mention]]) -> tuple[Document, ...]:
        return tuple(
            document_of(
                f"{at[0]}:{at[1] + 1}",
                sentences[at].words,
                [mention for mention in found(at) if mention.label in types],
            )
            for at in ids
        )

    return PromptedComparison(
        corpus,
        len(sentences),
        types,
        on(lambda at: sentences[at].mentions),
        {name: on(found.__getitem__) for name, found in prompted.items()},
        {
            name: {seed: on(found.__getitem__) for seed, found in by_seed.items()}
            for name, by_seed in trained.items()
            if by_seed
        },
    )


def _of_seeds(corpus: CorpusSplits, system: SystemResults) -> dict[int, _Found]:
    """What each seed's model found, by sentence."""
    return {
        seed: {at: sentence.mentions for at, sentence in _sentences(found.on(corpus.test)).items()}
        for seed, found in system.predictions(CHOSEN_BY[0]).items()
    }


def _sentences(documents: Iterable[Document]) -> dict[_SentenceId, Sentence]:
    return {
        (document.id, number): sentence
        for document in documents
        for number, sentence in enumerate(segment(document).sentences)
    }


def _read(path: Path, sentences: Mapping[_SentenceId, Sentence]) -> tuple[tuple[str, ...], _Found]:
    """The types asked for, in order, and what was found in each sentence."""
    types: tuple[str, ...] = ()
    found = {}
    for predicted in read_sentences(path):
        at = _sentence_id(predicted.document, predicted.sentence, sentences)
        if at is None or words_sha256(sentences[at].words) != predicted.words:
            message = f"the test part has no such sentence in {predicted.document!r}"
            raise InputError(message, path=path, line=predicted.line)
        types = tuple(sorted(predicted.types))
        found[at] = predicted.mentions
    return types, found


def _sentence_id(
    document: str, sentence: int, sentences: Mapping[_SentenceId, Sentence]
) -> _SentenceId | None:
    """The sentence that is meant; one of a sample is a document called `document:number`."""
    name, _, number = document.rpartition(":")
    for at in ((document, sentence), (name, int(number) - 1 if number.isdecimal() else -1)):
        if at in sentences:
            return at
    return None
