"""How well rules tell what is negated, hypothetical, historical or somebody else's.

    python research/benchmarks/qualifiers.py FILE [FILE ...] [--errors]
    python research/benchmarks/qualifiers.py chia/test --negation Has_negation \
        --types Condition,Observation

The files are documents whose entities have the fields of `trigner.qualifiers.QUALIFIERS` where they
hold, such as data/qualifiers/dev.jsonl; in a brat folder, entities from which a relation called
--negation leads are negated. Libraries that are not installed are named and left out.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from trigner.corpora import read, with_types
from trigner.evaluation.counts import Score
from trigner.mentions import Document, Entity
from trigner.qualifiers.rules import QUALIFIERS, english
from trigner.text.segmentation import sentence_at, sentences_in

_LINE = re.compile(r"[\r\n]\s*(?=[A-Z0-9*•-])")

Found = list[set[str]]
Rules = Callable[[Document], Found]
"""The qualifiers of each entity of a document."""


def ours() -> Rules:
    rules = english()

    def found(document: Document) -> Found:
        sentences = list(sentences_in(document))
        starts = [sentence.offsets[0][0] for sentence in sentences]
        return [
            {*rules(document, sentences[sentence_at(starts, e.fragments[0][0])], e)}
            for e in document.entities
        ]

    return found


def _of_fragments(document: Document, inside: Callable[[Entity, int], set[str]]) -> Found:
    """An entity is what all its fragments are."""
    return [
        set.intersection(*(inside(e, n) for n in range(len(e.fragments))))
        for e in document.entities
    ]


def _in_sentences(doc: Any, document: Document) -> Any:
    """A spaCy Doc with our sentences, also ended where one of our scopes ends at a line break."""
    starts = {sentence.offsets[0][0] for sentence in sentences_in(document)}
    starts |= {match.end() for match in _LINE.finditer(document.text)}
    for token in doc:
        token.is_sent_start = token.i == 0 or token.idx in starts
    return doc


def medspacy() -> Rules:
    import spacy
    from medspacy.context import ConText

    names = {
        "NEGATED_EXISTENCE": "negated",
        "POSSIBLE_EXISTENCE": "hypothetical",
        "HYPOTHETICAL": "hypothetical",
        "HISTORICAL": "historical",
        "FAMILY": "other_person",
    }
    nlp = spacy.blank("en")
    context = ConText(nlp, input_span_type="group")

    def found(document: Document) -> Found:
        doc = _in_sentences(nlp(document.text), document)
        spans = {
            f: doc.char_span(*f, label="Finding", alignment_mode="expand")
            for e in document.entities
            for f in e.fragments
        }
        doc.spans["medspacy_spans"] = list(spans.values())
        context(doc)
        said = {
            f: {names[m.category] for m in span._.modifiers if m.category in names}
            for f, span in spans.items()
        }
        return _of_fragments(document, lambda e, n: said[e.fragments[n]])

    return found


def negspacy() -> Rules:
    import spacy
    from negspacy.negation import Negex  # noqa: F401, registers the pipe

    nlp = spacy.blank("en")
    negex = nlp.create_pipe("negex", config={"span_keys": ["findings"]})

    def found(document: Document) -> Found:
        doc = _in_sentences(nlp(document.text), document)
        fragments = [f for e in document.entities for f in e.fragments]
        spans = [doc.char_span(*f, label="Finding", alignment_mode="expand") for f in fragments]
        doc.spans["findings"] = spans
        negex(doc)
        said = {
            f: {"negated"} if s._.negex else set()
            for f, s in zip(fragments, doc.spans["findings"], strict=True)
        }
        return _of_fragments(document, lambda e, n: said[e.fragments[n]])

    return found


RULES: dict[str, Callable[[], Rules]] = {
    "trigner": ours,
    "medspacy": medspacy,
    "negspacy": negspacy,
}


def compared(documents: Iterable[Document], rules: Rules) -> tuple[dict[str, Score], list[str]]:
    """Scores by qualifier and over all, the share of entities that are right as a whole, errors."""
    counts: Counter[tuple[str, str]] = Counter()
    errors = []
    for document in documents:
        for entity, found in zip(document.entities, rules(document), strict=True):
            gold = {name for name in QUALIFIERS if entity.fields.get(name)}
            for name in QUALIFIERS:
                for kind, has in (("gold", gold), ("found", found), ("right", gold & found)):
                    counts[name, kind] += name in has
            counts["whole", "gold"] += 1
            counts["whole", "right"] += gold == found
            if gold != found:
                told = f"gold {sorted(gold) or '-'}, found {sorted(found) or '-'}"
                errors.append(f"{document.id}: {document.text} [{entity.text}] {told}")
    scores = {
        name: Score(
            correct=counts[name, "right"],
            predicted=counts[name, "found"],
            gold=counts[name, "gold"],
        )
        for name in QUALIFIERS
    }
    scores["all"] = Score(
        correct=sum(s.correct for s in scores.values()),
        predicted=sum(s.predicted for s in scores.values()),
        gold=sum(s.gold for s in scores.values()),
    )
    whole = counts["whole", "gold"]
    scores["whole"] = Score(correct=counts["whole", "right"], predicted=whole, gold=whole)
    return scores, errors


def with_negation(document: Document, relation: str) -> Document:
    """A document of brat whose entities have the field `negated` where such a relation begins."""
    lines = [e.content.split("\t")[1].split() for e in document.extras if "\t" in e.content]
    negated = {line[1].removeprefix("Arg1:") for line in lines if line[:1] == [relation]}
    return replace(
        document,
        entities=tuple(
            replace(e, fields={"negated": True} if e.id in negated else {})
            for e in document.entities
        ),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--errors", action="store_true", help="list what ours gets wrong")
    parser.add_argument("--negation", metavar="RELATION")
    parser.add_argument("--types", metavar="A,B")
    options = parser.parse_args(arguments)
    console = Console(width=120)
    for file in options.files:
        documents = read(file, skip_bad=True).documents
        if options.negation:
            documents = tuple(with_negation(d, options.negation) for d in documents)
        documents = with_types(documents, options.types and options.types.split(","))
        table = Table(title=f"{file}: P / R / F1", box=None)
        for column in ("rules", *QUALIFIERS, "all", "entities right"):
            table.add_column(column, justify="right")
        for name, make in RULES.items():
            try:
                rules = make()
            except ImportError as error:
                console.print(f"{name} is left out: {error}", highlight=False)
                continue
            scores, errors = compared(documents, rules)
            whole = scores.pop("whole")
            cells = [
                f"{100 * s.precision:.0f} / {100 * s.recall:.0f} / {100 * s.f1:.0f}"
                for s in scores.values()
            ]
            table.add_row(name, *cells, f"{whole.correct} of {whole.gold}")
            if options.errors and name == "trigner":
                for mistake in errors:
                    console.print(mistake, markup=False, highlight=False)
        console.print(table)


if __name__ == "__main__":
    main()
