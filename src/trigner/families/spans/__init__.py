"""Fragments of mentions and the relations between them (SODNER, Li et al., ACL 2021).

Modules that need PyTorch are imported by those who need them: the format runs without.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
