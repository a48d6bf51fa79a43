"""Tagging schemes: mentions <-> tags."""

from trigner.schemes.automaton import Arc, Automaton
from trigner.schemes.bio import Bio
from trigner.schemes.biohd import Biohd
from trigner.schemes.cliques import Effort, maximal_cliques, members, sets_of
from trigner.schemes.correspondence import TypedName, arc_names, origins, typed_names
from trigner.schemes.corro import Corro
from trigner.schemes.gap_grid import GapGrid
from trigner.schemes.grammar import Grammar, SequenceScheme
from trigner.schemes.mac import Mac
from trigner.schemes.scheme import (
    Cell,
    Decoding,
    Encoding,
    Explaining,
    Scheme,
    TagGroup,
    TagSpace,
    Triangle,
    best_of,
    check,
    decoded_tags,
    log_probability,
    round_trip,
)
from trigner.schemes.span_grid import SpanGrid
from trigner.schemes.toe import Toe
from trigner.schemes.w2ner import W2ner

__all__ = [
    "Arc",
    "Automaton",
    "Bio",
    "Biohd",
    "Cell",
    "Corro",
    "Decoding",
    "Effort",
    "Encoding",
    "Explaining",
    "GapGrid",
    "Grammar",
    "Mac",
    "Scheme",
    "SequenceScheme",
    "SpanGrid",
    "TagGroup",
    "TagSpace",
    "Toe",
    "Triangle",
    "TypedName",
    "W2ner",
    "arc_names",
    "best_of",
    "check",
    "decoded_tags",
    "log_probability",
    "maximal_cliques",
    "members",
    "origins",
    "round_trip",
    "sets_of",
    "typed_names",
]
