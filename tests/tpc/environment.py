"""The TPC's data and texts, made on demand in an environment of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.environments import BUILD, digest, lock_of, once, python_of

PROGRAMS = Path(__file__).parent
FOLDER = BUILD / "tpc"
LOCK = lock_of("tpc")


def generated(scale: str) -> Path:
    """The folder of generated data: a Parquet file a table, and `texts.json`."""
    place = FOLDER / f"data-{scale}-{digest(LOCK, PROGRAMS / 'generate.py')}"
    with once(place) as missing:
        if missing:
            subprocess.run(
                [python_of("tpc"), PROGRAMS / "generate.py", place, scale],
                check=True,
                stdout=subprocess.PIPE,
            )
    return place
