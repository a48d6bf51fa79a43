"""Tag schemes as systems: what training minimises, what predicts, ONNX export.

Modules that need PyTorch are imported by those who need them: prediction itself runs without.
"""

from trigner.tagging.predictor import TagPredictor

__all__ = ["TagPredictor"]
