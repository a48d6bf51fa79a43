"""What families over the words of a sentence share: network, system, predictor, folder."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
