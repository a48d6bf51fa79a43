"""Tag schemes as systems: what training minimises, what predicts, ONNX export.

Modules that need PyTorch are imported by those who need them: prediction itself runs without.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
