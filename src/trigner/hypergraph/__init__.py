"""The mention hypergraph: a structured model that sums over all sets of mentions exactly.

Modules that need PyTorch are imported by those who need them.
"""

from trigner.hypergraph.graph import Graph, encode, structure
from trigner.hypergraph.reading import read, round_trip
from trigner.hypergraph.settings import HypergraphSettings

__all__ = ["Graph", "HypergraphSettings", "encode", "read", "round_trip", "structure"]
