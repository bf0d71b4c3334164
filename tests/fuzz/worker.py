"""A process that judges mutants, so that a crash, a hang or a flood of memory ends it alone.

It reads a case a line, or a table and a predicate, and writes an outcome a line: `ok WORD`, or
`bad` and why.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.damage import Mutant
from fuzz.judge import Judge, answer, check
from fuzz.victims import Case, victims
from whyscan.errors import WhyscanError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOM = 1_500_000_000
"""The most bytes that may be resident at any time."""

ADDRESSES = 8 << 30
"""The most that may be asked for: a wrong length then fails before the machine does."""


class Table:
    """A victim, written down once and damaged in place."""

    def __init__(self, name: str) -> None:
        victim = victims()[name]
        self._scratch = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.folder = Path(self._scratch.name, "t")
        self.folder.mkdir()
        victim.write(self.folder)
        with _decoder(fast=victim.fast):
            self.judge = Judge(self.folder, victim.predicate)
        self.fast = victim.fast

    def outcome(self, case: Case, kept: bytes | None = None) -> str:
        """What becomes of one mutant; `kept` are its bytes where they were kept."""
        place = self.folder / case.aim.path
        whole = place.read_bytes()
        mutant = case.mutant(whole)
        if kept is not None:
            mutant = Mutant(kept, "kept", cut=whole.startswith(kept))
        place.write_bytes(mutant.data)
        try:
            with _decoder(fast=self.fast), little_room():
                return self.judge.judge(case.aim, mutant)
        finally:
            place.write_bytes(whole)


@contextmanager
def little_room() -> Iterator[None]:
    """No more than `ROOM` bytes are resident at any time."""
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far (proc(5))
    yield
    status = Path("/proc/self/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0]) * 1024
    assert peak <= ROOM, f"{peak} bytes were resident"


@contextmanager
def _decoder(*, fast: bool) -> Iterator[None]:
    """Manifests go to DataFusion, however small, or as they would."""
    from whyscan.tables.iceberg import decoding

    usual = decoding.SMALL_FOR_IMPORTED
    if fast:
        import datafusion

        assert datafusion
        decoding.SMALL_FOR_IMPORTED = 0
    try:
        yield
    finally:
        decoding.SMALL_FOR_IMPORTED = usual


def ask(place: str, predicate: str) -> str:
    """What becomes of one question: `answer`, or an error's name and text."""
    with little_room():
        try:
            document = answer(place, predicate)
        except WhyscanError as error:
            return f"{type(error).__name__}: {error}"
    check(document)
    return "answer"


def share_database() -> None:
    """One DuckDB for all mutants, which saves most of the time; a broken one is replaced."""
    import duckdb

    connect = duckdb.connect
    state: dict[str, Any] = {"number": 0, "open": None}

    def shared(*named: str, config: dict[str, str] | None = None) -> Any:
        if named or config is None:
            return connect(*named)
        if state["open"] is not None:
            try:
                state["open"].execute("SELECT 1")
            except duckdb.Error:
                state["open"] = None
                state["number"] += 1
        name = f":memory:fuzz{state['number']}"
        if state["open"] is None:
            state["open"] = connect(name, config=dict(config))
        return connect(name, config=config)

    duckdb.connect = shared


def _outcome(case: Case, tables: dict[str, Table]) -> str:
    if case.victim not in tables:
        tables.clear()
        tables[case.victim] = Table(case.victim)
    return tables[case.victim].outcome(case)


def limit() -> None:
    """Take no more of the machine than a mutant may."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    faulthandler.enable()
    limit()
    share_database()
    tables: dict[str, Table] = {}
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        question = json.loads(line)
        try:
            word = ask(**question) if "place" in question else _outcome(Case(**question), tables)
            print("ok", json.dumps(word), file=answers, flush=True)
        except BaseException:  # noqa: BLE001 - a panic of Rust is no Exception
            print("bad", json.dumps(traceback.format_exc()), file=answers, flush=True)


if __name__ == "__main__":
    main()
