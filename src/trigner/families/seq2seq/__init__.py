"""Mentions written one after the other as pointers into the sentence (Yan et al., ACL 2021)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
