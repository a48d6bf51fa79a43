"""What `speed.memory.fresh` runs in a process of its own.

    python -m speed.tasks '{"work": "step", "side": "low_rank", ...}'

Prints megabytes as JSON: `loaded`, resident before the work, with all models loaded; `peak`, the
most that was resident during it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict

from speed import growth, on_paper, preparation, step, systems
from speed.memory import measured

TASKS: dict[str, Callable[..., Callable[[], object]]] = {
    "step": step.one_step,
    "forward": growth.one_forward,
    "preparation": preparation.one_preparation,
    "training": systems.one_step,
    "inference": systems.one_inference,
    "resume": on_paper.one_resume,
}
"""Name -> what loads everything for a task and gives the work to be measured."""


def main() -> None:
    options = json.loads(sys.argv[1])
    work = TASKS[options.pop("work")](options.pop("encoder"), options.pop("side"), **options)
    print(json.dumps(asdict(measured(work))))


if __name__ == "__main__":
    main()
