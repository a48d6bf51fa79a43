"""A model's folder: its description, how it is saved, fetched, checked, uploaded and described."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
