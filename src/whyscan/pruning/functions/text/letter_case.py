"""`lower` and `upper`: only the ASCII prefix that both bounds share can be mapped.

'app' with a dotless i lies in ['apple', 'apricot'], and `upper` gives 'APPI' < 'APPLE'. After the
shared prefix any text may follow. The prefix itself maps letter by letter: in Unicode's
SpecialCasing no neighbour changes an ASCII letter, except in Turkish, Azeri and Lithuanian, which
Spark does not use. In a point the letters of Western Europe map as well, each to one letter in
every version of Unicode, except ß, which has two capitals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.pruning.functions.rules import strict
from whyscan.pruning.functions.text.utf8 import ABOVE, joined, shared_prefix
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import both, choose, has_value, keep, surely
from whyscan.tree.types import StringType, Type

if TYPE_CHECKING:
    from whyscan.pruning.functions.rules import Kernel
    from whyscan.pruning.mask import Vector


def uppered(kind: Type, x: Interval) -> Interval:
    """upper(x)."""
    return _cased(kind, x, pc.utf8_upper)


def lowered(kind: Type, x: Interval) -> Interval:
    """lower(x)."""
    return _cased(kind, x, pc.utf8_lower)


def _cased(kind: Type, x: Interval, kernel: Kernel) -> Interval:
    """The texts that start with the mapped common prefix; one text if x is one plain text."""
    if not isinstance(x.type, StringType):
        return anything(kind, raises=True)
    if x.lower is None or x.upper is None:
        return strict(kind, [x])
    exact = both(x.point(), surely(_is_plain, x.lower))
    point = None if exact is False else _mapped(keep(exact, x.lower), kernel)
    if exact is True:
        return strict(kind, [x], (point, point))
    prefix = _mapped(shared_prefix(x.lower, x.upper), kernel)
    # If a bound is unknown, the prefix is empty, and any text begins with an empty prefix.
    bounded = both(has_value(x.lower), has_value(x.upper))
    ends = (choose(exact, point, prefix), choose(exact, point, joined(prefix, ABOVE)))
    return strict(kind, [x], (keep(bounded, ends[0]), keep(bounded, ends[1])))


def _is_plain(values: Vector) -> Vector:
    """ASCII, and the letters U+00C0 to U+00FE except ß, in UTF-8."""
    plain = r"^(?:[\x00-\x7f]|\xc3[\x80-\x96\x98-\x9e\xa0-\xb6\xb8-\xbe])*$"
    return pc.match_substring_regex(values, pattern=plain)


def _mapped(values: Vector, kernel: Kernel) -> Vector:
    return kernel(values.cast(pa.string())).cast(pa.binary())
