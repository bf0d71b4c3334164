"""The layout of text: width, colour, bars, tables and wrapped lines."""

from __future__ import annotations

import textwrap
import unicodedata
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EIGHTHS = " ▏▎▍▌▋▊▉"
NARROWEST = 60
GAP = "  "


class Ink(Enum):
    """The meanings of colours, as SGR codes."""

    TITLE = "1"
    GOOD = "32"
    WARN = "33"
    BAD = "31"
    FAINT = "2"


class Page(Struct, frozen=True):
    """The properties of the output: width, colours, and whether it can show more than ASCII.

    `folder` is the reader's working folder: paths below it are shown relative to it. `files` is the
    number of files that a listing shows.
    """

    width: int = 80
    colour: bool = False
    unicode: bool = True
    folder: str | None = None
    files: int = 1_000

    def indented(self) -> Page:
        """Return the page that is left beside an indent of one `GAP`."""
        return replace(self, width=self.width - len(GAP))

    def place(self, uri: str) -> str:
        """Return a location as the reader would type it."""
        return uri if self.folder is None else uri.removeprefix(f"{self.folder}/")

    def near(self, sentence: str) -> str:
        """Return a sentence with its locations as the reader would type them."""
        return sentence if self.folder is None else sentence.replace(f"{self.folder}/", "")

    def paint(self, text: str, ink: Ink) -> str:
        return f"\x1b[{ink.value}m{text}\x1b[0m" if self.colour else text

    def bar(self, part: int, whole: int, length: int) -> str:
        """Draw `part` of `whole` in `length` characters.

        A bar is empty only for nothing, and full only for everything.
        """
        share = part / whole if whole else 0.0
        filled = self._blocks(share, length) if self.unicode else self._hashes(share, length)
        rest = ("░" if self.unicode else ".") * (length - len(filled))
        return self.paint(filled, Ink.GOOD) + self.paint(rest, Ink.FAINT)

    def _blocks(self, share: float, length: int) -> str:
        eighths = _between(share, length * 8)
        whole, part = divmod(eighths, 8)
        return "█" * whole + (EIGHTHS[part] if part else "")

    def _hashes(self, share: float, length: int) -> str:
        return "#" * _between(share, length)

    def cut(self, text: str, width: int) -> str:
        """Cut the text to `width` columns."""
        if columns(text) <= width:
            return text
        dots = "…" if self.unicode else "..."
        kept = ""
        for character in text:
            if columns(kept + character) > width - len(dots):
                break
            kept += character
        return kept + dots

    def wrap(self, text: str, *, indent: str = "", hanging: str | None = None) -> str:
        """Break the text into lines of the page's width."""
        return textwrap.fill(
            text,
            self.width,
            initial_indent=indent,
            subsequent_indent=indent if hanging is None else hanging,
            break_on_hyphens=False,
        )


def _between(share: float, steps: int) -> int:
    """Return the number of steps for a share; 0 means nothing, and all steps mean everything."""
    if share in {0.0, 1.0}:
        return int(share * steps)
    return min(max(round(share * steps), 1), steps - 1)


def title_lines(title: str, page: Page) -> Iterator[str]:
    """Write the first line of a report: the answer."""
    yield from (page.paint(line, Ink.TITLE) for line in page.wrap(title).splitlines())


def in_paragraphs(sections: Iterable[Iterable[str]]) -> str:
    """Join sections with an empty line between them; empty sections are left out."""
    paragraphs = ("\n".join(lines) for section in sections if (lines := list(section)))
    return "\n\n".join(paragraphs) + "\n"


def columns(text: str) -> int:
    """Return how many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def table(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> Iterator[str]:
    """Write rows as aligned lines; the columns in `right` are aligned to the right."""
    widths = [max(columns(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            _padded(cell, width, left=i in right)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield GAP.join(cells).rstrip()


def _padded(cell: str, width: int, *, left: bool) -> str:
    space = " " * (width - columns(cell))
    return space + cell if left else cell + space
