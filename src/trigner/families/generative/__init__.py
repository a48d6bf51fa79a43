"""Mentions written as text by a language model that is tuned for it, constrained to the words."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
