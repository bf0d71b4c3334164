"""Output: a report is written completely or not at all, to a stream or a file."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, TextIO

from whyscan.errors import StorageError
from whyscan.masking import mask_credentials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whyscan.reports.text_layout import Page

DRAWN = "█░…"


def require_standard_output() -> None:
    """Raise an error if the program was started with its standard output closed (`>&-`)."""
    if sys.stdout is None:
        raise StorageError("standard output is closed", hint="-o FILE writes to a file")


def write(text: str) -> None:
    """Write to standard output. It is no error if the reader has closed the pipe (`| head`)."""
    require_standard_output()
    try:
        _send(text, sys.stdout)
    except BrokenPipeError:
        silence()
    except OSError as error:
        raise StorageError(f"cannot write to standard output: {error.strerror}") from error


def complain(text: str) -> None:
    """Write to standard error without credentials; errors while writing are ignored."""
    try:
        _send(mask_credentials(text), sys.stderr)
    except OSError:
        return


def _send(text: str, stream: TextIO) -> None:
    """Write text; characters that the stream's encoding does not have are escaped."""
    stream.flush()
    stream.buffer.write(text.encode(stream.encoding or "utf-8", "backslashreplace"))
    stream.buffer.flush()


def silence() -> None:
    """Redirect standard output to nowhere, because its pipe is closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def write_file(text: str, path: Path) -> None:
    """Write a text file that gets its name when it is complete."""
    with atomic_file(path) as file:
        file.write(text.encode())


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is complete; after an error nothing is left.

    A link keeps its place, and a pipe or a device such as /dev/stdout is written to as it is.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                yield stream
            return
        path = path.resolve()
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as scratch:
            try:
                yield scratch.file
                scratch.close()
                Path(scratch.name).chmod(0o666 & ~_umask())
                Path(scratch.name).replace(path)
            except BaseException:
                Path(scratch.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror}", hint="is its folder there, and yours?"
        ) from error


def _umask() -> int:
    """Return the process's umask, because temporary files are readable only by their owner."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def terminal_page() -> Page:
    """Return the page of standard output: as wide as the terminal, or 80 columns for a pipe."""
    from whyscan.reports.text_layout import NARROWEST, Page

    require_standard_output()
    shown = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if shown else Page().width
    return Page(
        width=max(width, NARROWEST),
        colour=shown and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        unicode=_can_show(DRAWN, sys.stdout.encoding),
        folder=str(Path.cwd()),
    )


def file_page() -> Page:
    """Return the page of a file: no colours, and every character."""
    from whyscan.reports.text_layout import Page

    return Page(folder=str(Path.cwd()))


def _can_show(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
