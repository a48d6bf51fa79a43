"""Inference by precision (float32 PyTorch, float32 and int8 ONNX) and the cold start.

The rows stand in the table with their targets; what measures them comes with the export.
"""

from __future__ import annotations

from speed.figures import Figure, Section, Tell


def measure(encoder: str, *, rounds: int, tell: Tell) -> Section:
    """Sentences a second, int8's cost in F1, and seconds until the first entity."""
    return Section(
        "Inference by precision, cold start",
        figures=[
            Figure("int8 ONNX to float32 PyTorch, sentences a second", "not measured", "≥ 2 x"),
            Figure("int8 ONNX, loss of F1", "not measured", "≤ 0.3"),
            Figure("cold start of `trigner extract`, torch-free", "not measured", "≤ 1.5 s"),
        ],
    )
