"""Where reports go: a whole one or nothing, to a stream that may be closed, or to a file."""

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


def write(text: str) -> None:
    """To standard output. A reader that has gone away (`| head`) is no error."""
    try:
        _send(text, sys.stdout)
    except BrokenPipeError:
        silence()
    except OSError as error:
        raise StorageError(f"cannot write to standard output: {error.strerror}") from error


def complain(text: str) -> None:
    """To standard error, as far as anybody listens, without credentials."""
    try:
        _send(mask_credentials(text), sys.stderr)
    except OSError:
        return


def _send(text: str, stream: TextIO) -> None:
    """What the stream's encoding has no letters for is written as escapes."""
    stream.flush()
    stream.buffer.write(text.encode(stream.encoding or "utf-8", "backslashreplace"))
    stream.buffer.flush()


def silence() -> None:
    """Let the interpreter's last flush go nowhere: the pipe is closed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def write_file(text: str, path: Path) -> None:
    """To a file that is whole from the moment it has its name."""
    with atomic_file(path) as file:
        file.write(text.encode())


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that gets its name when all is written; what ends before leaves nothing behind."""
    try:
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
    """What a file made by `open` would be denied; temporary files are for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def terminal_page() -> Page:
    """The page that standard output is: as wide as the terminal, or 80 columns for a pipe."""
    from whyscan.reports.text_layout import NARROWEST, Page

    shown = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if shown else Page().width
    return Page(
        width=max(width, NARROWEST),
        colour=shown and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        unicode=_can_show(DRAWN, sys.stdout.encoding),
        folder=str(Path.cwd()),
    )


def file_page() -> Page:
    """The page that a file is: no colours, and every letter."""
    from whyscan.reports.text_layout import Page

    return Page(folder=str(Path.cwd()))


def _can_show(text: str, encoding: str | None) -> bool:
    try:
        text.encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
