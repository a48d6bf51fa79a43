"""What exported models share, whatever their family: checked files, 8 bits."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
