"""Decoders of every system: any finite scores give well-formed mentions, in bounded time.

An input is the length of the sentence, the kind of scores, and what these are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiny_models import make_scheme
from trials.targets import Target
from trials.writer_targets import choices
from trigner.mentions import Mention, ScoredMention
from trigner.schemes.scheme import TagSpace

LABELS = ("ADR", "Drug")
SCALES = (1.0, 0.0, 1e-6, 8.0, 100.0, 1e4, 1e30, -1.0)
ROUNDING = 1e-9
MOST = 1000
"""Mentions of a sentence that any system gives at most."""


class Numbers:
    """Scores of any shape out of an input's bytes, over and over."""

    def __init__(self, data: bytes) -> None:
        head = (*data[:2], 0, 0)
        self.seed, self.kind = head[0], head[1]
        self.values = np.frombuffer(data[2:] or b"\x01", dtype=np.int8).astype(np.float32) / 16
        self.used = 0

    def length(self, most: int) -> int:
        return 1 + self.seed % most

    def below(self, bound: int) -> int:
        """A number out of the next byte."""
        self.used += 1
        return int(self.values[self.used % len(self.values)] * 16) % bound

    def draw(self, shape: Sequence[int]) -> NDArray[np.float32]:
        size = int(np.prod(shape))
        found = np.resize(np.roll(self.values, -self.used), size).reshape(shape)
        self.used += size
        scaled: NDArray[np.float32] = found * np.float32(SCALES[self.kind % len(SCALES)])
        return scaled

    def mentions(self, length: int) -> list[Mention]:
        """Mentions as dense as the bytes make them."""
        found = set()
        for _ in range(self.below(24)):
            words = {self.below(length) for _ in range(1 + self.below(6))}
            found.add(Mention(tuple(sorted(words)), LABELS[self.below(2)]))
        return sorted(found)


def seeds(most: int) -> list[bytes]:
    """Sentences of few and of many words, with scores of every scale, mixed and equal."""
    rng = np.random.default_rng(5)
    patterns = (rng.bytes(997), b"\x40")
    lengths = (0, most // 3, most - 1)
    return [bytes([n, kind]) + p for n in lengths for kind in range(16) for p in patterns]


def check_mentions(found: Sequence[ScoredMention], length: int, labels: Sequence[str]) -> None:
    """Different mentions of the sentence's words, best first, each with a probability."""
    assert len(found) <= MOST, len(found)
    assert len({own.mention for own in found}) == len(found), "a mention twice"
    scores = [own.score for own in found]
    assert all(0 <= score <= 1 for score in scores), scores
    # Equal ones may differ in the last digit: they are products in different orders.
    assert all(b <= a + ROUNDING for a, b in pairwise(scores)), "not best first"
    for own in found:
        words = own.mention.words
        assert own.mention.label in labels, own
        assert list(words) == sorted(set(words)), own
        assert words[0] >= 0, own
        assert words[-1] < length, own


def tagger(name: str, _: Path) -> Target:
    """A tag scheme. Every other kind of scores is that of the tags of real mentions, disturbed."""
    scheme = make_scheme(name, LABELS)
    is_sequence = scheme.tag_space is TagSpace.SEQUENCE
    most = 120 if is_sequence else 40
    arcs = len(scheme.grammar.automaton.arcs) if is_sequence else 0

    def check(data: bytes) -> None:
        numbers = Numbers(data)
        length = numbers.length(most)
        width = arcs if arcs and numbers.kind & 16 else len(scheme.tags)
        shape = (length,) * scheme.tag_space.word_axes + (width,)
        if numbers.kind & 8 and width == len(scheme.tags):
            tags = scheme.encode(numbers.mentions(length), length).tags
            several = scheme.tag_space is TagSpace.MULTI_LABEL_GRID
            scores = (tags if several else np.eye(width)[tags]).astype(np.float32) - np.float32(0.5)
            scores = scores * 8 + numbers.draw(shape).clip(-8, 8)
        else:
            scores = numbers.draw(shape)
        check_mentions(scheme.decode(scores).mentions, length, LABELS)

    return Target(seeds(most), check, choices)


def spans(_: Path) -> tuple[int, Callable[[Numbers, int], Sequence[ScoredMention]]]:
    from trigner.families.spans.fragments import FragmentFormat, SpanScores

    formats = [
        FragmentFormat(LABELS, 4, reading, roles)
        for roles in (True, False)
        for reading in ("cliques", "stars")
    ]

    def decoded(numbers: Numbers, length: int) -> Sequence[ScoredMention]:
        format = formats[numbers.kind >> 4 & 3]
        every = [(a, b) for a in range(length) for b in range(a, min(length, a + 4))]
        kept = np.arange(len(every))[:: 1 + numbers.below(3)][:40]
        found = SpanScores(
            np.array(every),
            numbers.draw((len(every), format.classes)),
            kept,
            numbers.draw((len(kept), len(kept), 2)),
        )
        return format.decode(found).mentions

    return 30, decoded


def hypergraph(_: Path) -> tuple[int, Callable[[Numbers, int], Sequence[ScoredMention]]]:
    from trigner.families.hypergraph.decoding import Chart, best, marginals
    from trigner.families.hypergraph.graph import Graph
    from trigner.families.hypergraph.predictor import HypergraphPredictor

    graphs = [
        Graph(kind, 3, extent) for kind in ("start", "shared", "split") for extent in (8, None)
    ]
    scored = partial(HypergraphPredictor._scored, SimpleNamespace(labels=LABELS))

    def decoded(numbers: Numbers, length: int) -> Sequence[ScoredMention]:
        graph = graphs[numbers.kind % len(graphs)]
        chart = Chart(graph, *_edges(numbers, graph, length))
        match numbers.kind >> 4 & 3:
            case 0:
                found = marginals(chart, 0.5)
            case 1:
                found = marginals(chart, 1e-6)
            case 2:
                found = best(chart, "all")
            case _:
                found = best(chart, "enough")
        result: Sequence[ScoredMention] = scored(found)
        return result

    return 10, decoded


def _edges(numbers: Numbers, graph: Any, length: int) -> tuple[Any, Any]:
    """Scores of starts and edges of a sentence, NEVER where there is no edge."""
    from trigner.families.hypergraph.graph import Edge
    from trigner.families.hypergraph.inside import NEVER

    count, places = graph.size(length)
    edges = numbers.draw((count, places, 2, len(graph.rows), len(Edge))).astype(np.float64)
    number, place = np.ogrid[:count, :places]
    word = number + place if graph.remembers_start else place + 0 * number
    ends = (place + 1 == places) | (word + 1 >= length)
    there = graph.allowed & (~ends[..., None, None] | (np.arange(len(Edge)) == Edge.END))
    edges[~np.broadcast_to(there[:, :, None], edges.shape)] = NEVER
    starts = numbers.draw((length, 2, graph.families)).astype(np.float64)
    return starts.clip(-1e4, 1e4), edges.clip(NEVER, 1e4)


def segments(_: Path) -> tuple[int, Callable[[Numbers, int], Sequence[ScoredMention]]]:
    from trigner.families.hypergraph.graph import Graph
    from trigner.families.segments.decoding import GAPS, SegmentScores, decode
    from trigner.families.segments.format import SegmentFormat

    graph = Graph("start", 1, 4)
    formats = [
        SegmentFormat(LABELS, 4, most, max_candidates=bound)
        for most in (1, 3)
        for bound in (9, 500)
    ]

    def decoded(numbers: Numbers, length: int) -> Sequence[ScoredMention]:
        starts, edges = _edges(numbers, graph, length)
        shapes = ((*edges.shape[:2], 4, 3), (GAPS, 3), (4, 2))
        scores = SegmentScores(graph, starts, edges, *(numbers.draw(shape) for shape in shapes))
        return decode(formats[numbers.kind >> 4 & 3], scores).mentions

    return 30, decoded


def transition(folder: Path) -> tuple[int, Callable[[Numbers, int], Sequence[ScoredMention]]]:
    import torch

    from tiny_encoders import tiny_encoder
    from tiny_parsers import tiny_parser
    from trigner.families.transition.decoding import parses
    from trigner.families.transition.predictor import TransitionPredictor

    encoder = tiny_encoder(folder / "encoder", "bert", head=False)
    systems = [
        tiny_parser(encoder, seed, sharp=30.0, actions=actions)
        for seed in range(2)
        for actions in ("extended", "paper")
    ]

    def decoded(numbers: Numbers, length: int) -> Sequence[ScoredMention]:
        system = systems[numbers.kind % len(systems)]
        size = system.network.no_word.shape[-1]
        words = torch.from_numpy(numbers.draw((1, length, size)).clip(-1e3, 1e3))
        inside = torch.ones(1, length, dtype=torch.bool)
        beam = (1, 1, 3, 8)[numbers.kind >> 4 & 3]
        with torch.no_grad():
            (parse,) = parses(system.network.eval(), words, inside, system.rules, beam)
        predictor = system.predictor("cpu")
        assert isinstance(predictor, TransitionPredictor)
        return predictor.prediction(_example(length), parse, 1.0).mentions

    return 16, decoded


def _example(length: int) -> Any:
    """A window that is a whole sentence of so many words."""
    return SimpleNamespace(length=length, in_sentence=lambda mention: mention)


def seq2seq(folder: Path) -> tuple[int, Callable[[Numbers, int], Sequence[ScoredMention]]]:
    import torch

    from trigner.families.seq2seq.format import Format
    from trigner.families.seq2seq.network import EncodedSource
    from trigner.families.seq2seq.search import search

    kinds = [
        Format(LABELS, representation, order)
        for representation in ("word", "span", "bpe")
        for order in ("sorted", "shuffled")
    ]

    def decoded(numbers: Numbers, length: int) -> Sequence[ScoredMention]:
        form = kinds[numbers.kind % len(kinds)]
        pointers = form.point([1 + numbers.below(3) for _ in range(length)])
        automaton = form.automaton(pointers)
        empty = torch.zeros(1, automaton.tokens, 1)
        source = EncodedSource(
            torch.zeros(1, 1, 1), torch.ones(1, 1, dtype=torch.bool), empty, empty
        )

        def next_scores(source: EncodedSource, tokens: Any, cache: object) -> Any:
            return torch.from_numpy(numbers.draw((*tokens.shape, automaton.tokens)))

        (output,) = search(
            SimpleNamespace(next_scores=next_scores),
            source,
            [automaton],
            [form.limit(pointers)],
            beam_size=(1, 1, 3, 4)[numbers.kind >> 4 & 3],
            length_penalty=(1.0, 0.0)[numbers.kind >> 6 & 1],
        )
        assert len(output.tokens) <= form.limit(pointers)
        assert not output.complete or automaton.accepts(output.tokens), output
        found = form.decode(output.tokens, pointers).mentions
        return [ScoredMention(mention, 1.0) for mention in {mention for mention, _ in found}]

    return 16, decoded


DECODERS = {
    "spans": spans,
    "segments": segments,
    "hypergraph": hypergraph,
    "transition": transition,
    "seq2seq": seq2seq,
}


def system(name: str, folder: Path) -> Target:
    """A system that is no tag scheme."""
    most, decoded = DECODERS[name](folder)

    def check(data: bytes) -> None:
        numbers = Numbers(data)
        length = numbers.length(most)
        check_mentions(decoded(numbers, length), length, LABELS)

    return Target(seeds(most), check, choices)
