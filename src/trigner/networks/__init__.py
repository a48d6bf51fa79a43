"""Arrays -> scores. Needs torch and transformers (extra `train`)."""

from trigner.networks.convolutions import DepthwiseConvolution, PointwiseConvolution
from trigner.networks.dropout import Dropout
from trigner.networks.pair_products import pair_products
from trigner.networks.pooling import WordPooling
from trigner.networks.recurrent import BiLstm, WordByWord

__all__ = [
    "BiLstm",
    "DepthwiseConvolution",
    "Dropout",
    "PointwiseConvolution",
    "WordByWord",
    "WordPooling",
    "pair_products",
]
