"""Draws the pictures of docs/concepts.md; WHYSCAN_GOLDEN=write writes them to docs/images/.

Colours are those of the reports' pages. A picture has both themes: the reader's setting chooses.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

STYLE = """
svg { color-scheme: light dark; }
.ink { fill: light-dark(#1d1f23, #e7e5e0); } .soft { fill: light-dark(#5b5f66, #a3a7af); }
.line { stroke: light-dark(#8b8f97, #747a85); fill: none; }
.read { fill: light-dark(#b8590b, #f0a04b); } .all { fill: light-dark(#00795c, #41c796); }
.skipped { fill: light-dark(#4f7cb8, #6d9bdc); } .faint { fill: light-dark(#d9d5cc, #3a3f48); }
.band { fill: light-dark(#5b3fb0, #b7a4ff); opacity: 0.2; }
.paper { fill: light-dark(#fdfcfa, #15171b); }
text { font: 13px system-ui, sans-serif; } .code { font-family: ui-monospace, monospace; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
"""


def text(x: float, y: float, words: str, kind: str = "ink") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="2"/>'


def line(*points: tuple[float, float]) -> str:
    path = "M" + "L".join(f"{x} {y}" for x, y in points)
    return f'<path class="line" d="{path}"/>'


def picture(title: str, width: int, height: int, parts: list[str]) -> str:
    body = "\n".join([box(0, 0, width, height, "paper"), *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def pyramid() -> str:
    """Each level is asked only below what the level above left."""
    levels = [
        ("manifests", 4_000, 10, "summaries of partitions"),
        ("files", 400, 50, "partition values, bounds of columns"),
        ("row groups", 400, 80, "the footers of those files"),
        ("pages", 6_400, 600, "the page indexes of those row groups"),
    ]
    parts = []
    for at, (name, total, kept, source) in enumerate(levels):
        y, wide = 24 + 62 * at, 420 - 70 * at
        left = 330 - wide / 2
        parts += [
            box(left, y, wide, 30, "faint"),
            box(left, y, max(wide * kept / total, 10), 30, "read"),
            text(12, y + 20, name),
            text(556, y + 13, f"{kept:,} of {total:,}"),
            text(556, y + 30, source, "soft"),
        ]
        if at:
            parts.append(line((330, y - 30), (330, y - 3)))
    return picture("The pruning pyramid: each level is asked below what is left", 800, 262, parts)


def intervals() -> str:
    """Bounds of files against a range: outside, across, inside."""
    files = [(18, 29), (22, 38), (35, 47), (42, 58), (51, 60), (66, 80)]
    low, high, scale = 41, 60, 6.6

    def at(value: float) -> float:
        return 150 + (value - 15) * scale

    parts = [
        box(at(low), 24, (high - low) * scale, 176, "band"),
        text(at(low), 16, "age BETWEEN 41 AND 60", "ink code"),
    ]
    for row, (start, end) in enumerate(files):
        y = 34 + 28 * row
        inside, outside = low <= start and end <= high, end < low or start > high
        kind = "all" if inside else "skipped" if outside else "read"
        verdict = {"all": "all", "skipped": "none", "read": "some"}[kind]
        parts += [
            text(12, y + 13, f"file {row + 1}", "soft"),
            box(at(start), y, (end - start) * scale, 18, kind),
            text(at(end) + 6, y + 13, f"[{start}, {end}]", "soft"),
            text(700, y + 13, verdict),
        ]
    parts.append(text(700, 16, "verdict", "soft"))
    return picture("Bounds of six files against a range, and the verdict on each", 800, 212, parts)


def truth_sets() -> str:
    """Which truth values a condition can have, for three kinds of bounds."""
    rows = [
        ("age in [18, 29], no NULL", "F", "none: skipped"),
        ("age in [18, 29], NULL possible", "FN", "none: NULL is not TRUE"),
        ("age in [35, 47], no NULL", "TF", "some: read"),
        ("age in [41, 65], no NULL", "T", "all: every row matches"),
        ("age in [41, 65], NULL possible", "TN", "some: a NULL does not match"),
        ("no bounds", "TFN", "some: nothing is proved"),
    ]
    names = {"T": "TRUE", "F": "FALSE", "N": "NULL"}
    head = text(12, 20, "age > 40, over a file with", "ink code")
    parts = [head, text(560, 20, "verdict", "soft")]
    for at, (bounds, values, verdict) in enumerate(rows):
        y = 34 + 32 * at
        parts.append(text(12, y + 16, bounds))
        for column, value in enumerate("TFN"):
            x = 300 + 80 * column
            is_possible = value in values
            kind = ("all" if value == "T" else "skipped") if is_possible else "faint"
            ink = "paper" if is_possible else "soft"
            parts.append(box(x, y, 70, 24, kind))
            parts.append(text(x + 35, y + 17, names[value], f"middle {ink}"))
        parts.append(text(560, y + 16, verdict))
    return picture("Sets of possible truth values, and the verdict", 800, 236, parts)


def overlap() -> str:
    """The same rows in files as they arrived, and sorted."""
    parts = [text(12, 20, "as it was written"), text(412, 20, "sorted by user_id")]
    for row in range(6):
        y = 34 + 22 * row
        parts += [box(12, y, 340 - 8 * (row % 3), 14, "read")]
        x = 412 + 58 * row
        parts += [box(x, y, 54, 14, "read" if row == 2 else "skipped")]
    for x in (150, 550):
        parts += [box(x, 28, 3, 140, "band"), text(x, 186, "user_id = 48151", "ink code middle")]
    parts += [
        text(12, 210, "every file may hold the user: 6 of 6 are read", "soft"),
        text(412, 210, "one file may hold the user: 1 of 6 is read", "soft"),
    ]
    return picture("Why bounds overlap: rows as they arrive, and sorted", 800, 222, parts)


def joins() -> str:
    """What one side of a join supplies to the other."""
    parts = [
        text(12, 22, "campaigns c, WHERE c.name = 'spring'", "ink code"),
        *(box(12 + 64 * n, 36, 56, 26, "read" if n == 0 else "skipped") for n in range(2)),
        text(160, 54, "its month lies in [3, 5]", "soft"),
        line((40, 66), (40, 96), (190, 96), (190, 118)),
        text(202, 104, "m.month = c.month: so m.month lies in [3, 5], too"),
        text(12, 142, "months m", "ink code"),
        *(
            box(12 + 64 * n, 156, 56, 26, "read" if 3 <= n + 1 <= 5 else "skipped")
            for n in range(12)
        ),
        *(text(40 + 64 * n, 174, str(n + 1), "paper middle") for n in range(12)),
        text(12, 208, "static: 12 files are read; bounded, by metadata alone: 3", "soft"),
    ]
    title = "What a join supplies: bounds travel from one table to the other"
    return picture(title, 800, 220, parts)


PICTURES = {
    "pyramid": pyramid,
    "intervals": intervals,
    "truth-sets": truth_sets,
    "overlap": overlap,
    "joins": joins,
}
