"""`lower` and `upper`: only the ASCII prefix that the two bounds share survives them.

'app' with a dotless i lies in ['apple', 'apricot'], and `upper` gives 'APPI' < 'APPLE'. Behind
the shared prefix anything may follow. The prefix itself maps letter by letter: no rule of
Unicode's SpecialCasing changes an ASCII letter by what stands next to it, but for Turkish,
Azeri and Lithuanian, which Spark does not use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from whyscan.predicate.types import STRING, StringType, Type
from whyscan.pruning.functions.rules import strict
from whyscan.pruning.functions.utf8 import ABOVE, ascii_only, joined, shared_prefix
from whyscan.pruning.interval import Interval, anything
from whyscan.pruning.mask import both, choose, keep, surely

if TYPE_CHECKING:
    from whyscan.pruning.functions.rules import Kernel
    from whyscan.pruning.mask import Vector


def lowered(x: Interval) -> Interval:
    """lower(x)."""
    return cased(STRING, x, pc.ascii_lower)


def cased(kind: Type, x: Interval, kernel: Kernel) -> Interval:
    """From the mapped prefix to everything that starts with it; ASCII points are exact."""
    if not isinstance(x.type, StringType):
        return anything(kind, raises=True)
    if x.lower is None or x.upper is None:
        return strict(kind, [x])
    prefix = _mapped(shared_prefix(x.lower, x.upper), kernel)
    exact = both(x.point(), surely(ascii_only, x.lower))
    point = None if exact is False else _mapped(keep(exact, x.lower), kernel)
    return strict(
        kind, [x], (choose(exact, point, prefix), choose(exact, point, joined(prefix, ABOVE)))
    )


def _mapped(values: Vector, kernel: Kernel) -> Vector:
    return kernel(values.cast(pa.string())).cast(pa.binary())
