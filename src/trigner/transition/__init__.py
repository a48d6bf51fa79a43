"""The transition-based system (Dai, Karimi, Hachey and Paris, ACL 2020)."""

from trigner.transition.oracle import Derivation, actions_for, derivation, static_oracle
from trigner.transition.parser import Action, Rules, State, action_names, after, replay
from trigner.transition.settings import TransitionSettings

__all__ = [
    "Action",
    "Derivation",
    "Rules",
    "State",
    "TransitionSettings",
    "action_names",
    "actions_for",
    "after",
    "derivation",
    "replay",
    "static_oracle",
]
