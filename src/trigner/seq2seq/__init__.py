"""Mentions written one after the other as pointers into the sentence (Yan et al., ACL 2021)."""

from trigner.seq2seq.automaton import END, FIRST_TYPE, START, OutputAutomaton, State
from trigner.seq2seq.format import Decoded, Encoded, Format
from trigner.seq2seq.pointers import Pointers, point
from trigner.seq2seq.settings import Seq2SeqSettings

__all__ = [
    "END",
    "FIRST_TYPE",
    "START",
    "Decoded",
    "Encoded",
    "Format",
    "OutputAutomaton",
    "Pointers",
    "Seq2SeqSettings",
    "State",
    "point",
]
