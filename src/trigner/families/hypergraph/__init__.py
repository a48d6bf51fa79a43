"""The mention hypergraph: a structured model that sums over all sets of mentions exactly.

Modules that need PyTorch are imported by those who need them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
