"""The transition-based system (Dai, Karimi, Hachey and Paris, ACL 2020)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
