"""`make fuzz`: other mutants every time, for as long as there is time.

Each failure is kept as a folder: the damaged table, and what went wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.victims import Case, victims
from fuzz.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fuzz.watch import Outcome

KEPT = Path(__file__).resolve().parents[2] / "build" / "fuzz"
AT_ONCE = 20
"""Mutants of one table before the next one's turn: it is written once for all of them."""

OF_THE_ZOO = 5


def cases(seed: str, only: str) -> Iterator[Case]:
    """Every table of our own in turn and some of the zoo, without end; their files by chance."""
    names = [name for name in victims() if only in name]
    if not names:
        sys.exit(f"no table has {only!r} in its name: {', '.join(victims())}")
    dice = random.Random(seed)
    for number in count(step=AT_ONCE):
        own = [name for name in names if not name.startswith("zoo:")]
        zoo = [name for name in names if name.startswith("zoo:")]
        for name in [*own, *dice.sample(zoo, min(len(zoo), OF_THE_ZOO))]:
            for at in range(number, number + AT_ONCE):
                yield Case(name, dice.randrange(len(victims()[name].targets)), seed, at)


def save(outcome: Outcome) -> Path:
    """The damaged table as it was, and why it is here."""
    case = outcome.case
    folder = KEPT / str(case).replace("/", "_")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "t").mkdir(parents=True)
    victims()[case.victim].write(folder / "t")
    place = folder / "t" / case.aim.path
    place.write_bytes(case.mutant(place.read_bytes()).data)
    (folder / "case.json").write_text(json.dumps(asdict(case)))
    (folder / "why.txt").write_text(outcome.why or "")
    return folder


def replay(folder: Path) -> int:
    """Judge one kept mutant in this process, where a debugger can be."""
    from fuzz.worker import Table

    case = Case(**json.loads((folder / "case.json").read_text()))
    kept = (folder / "t" / case.aim.path).read_bytes()
    try:
        print(f"{case}: {Table(case.victim).outcome(case, kept)}")
    except BaseException:  # noqa: BLE001 - a panic of Rust is no Exception
        traceback.print_exc()
        return 1
    return 0


def fuzz(seconds: float, seed: str, only: str) -> int:
    """Run until the time is over; the number of failures."""
    print(f"fuzzing for {seconds:g} s with seed {seed}", flush=True)
    watch, words, failures = Watch(), Counter[str](), Counter[str]()
    begin = printed_at = time.monotonic()
    for outcome in watch.run(cases(seed, only)):
        words[outcome.word] += 1
        if outcome.why is not None:
            tell(outcome, failures)
        now = time.monotonic()
        if now - printed_at > 15:
            printed_at = now
            print(f"{now - begin:6.0f} s  {words.total()} mutants  {dict(words)}", flush=True)
        if now - begin > seconds:
            break
    watch.close()
    print(f"{words.total()} mutants: {dict(words.most_common())}")
    for trouble, times in failures.most_common():
        print(f"{times} times: {trouble}")
    return failures.total()


def tell(outcome: Outcome, failures: Counter[str]) -> None:
    """Keep and print the first failure of its kind; the others are counted."""
    trouble = signature(outcome.why or "")
    failures[trouble] += 1
    if failures[trouble] == 1:
        print(f"FAILED {outcome.case}: {trouble}\n  make fuzz REPLAY={save(outcome)}", flush=True)


def signature(why: str) -> str:
    """The error, and where it was raised."""
    lines = why.strip().splitlines()
    places = [line.strip() for line in lines if line.strip().startswith("File ")]
    return f"{lines[-1][:200]} ({places[-1] if places else 'nowhere'})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default=f"{time.time_ns() // 1_000_000}")
    parser.add_argument("--only", default="", help="tables whose name has this in it")
    parser.add_argument("--replay", type=Path)
    arguments = parser.parse_args()
    if arguments.replay is not None:
        sys.exit(replay(arguments.replay))
    sys.exit(1 if fuzz(arguments.seconds, arguments.seed, arguments.only) else 0)


if __name__ == "__main__":
    main()
