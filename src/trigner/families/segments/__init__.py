"""Segments, then which combinations of them are mentions (Wang and Lu, EMNLP 2019).

Modules that need PyTorch are imported by those who need them: the format runs without.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
