"""What the command line does not load, and how it begins and ends: most of a short run is that."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_MANY = 100_000


class _Without:
    """A module that cannot be found, even where it is installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        del path, target
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)


def begin() -> None:
    """Before anything heavy is imported: modules are no garbage that is worth looking for."""
    gc.set_threshold(_MANY)
    leave_out_pandas()


def leave_out_pandas() -> None:
    """PyArrow imports pandas wherever it is installed: half a second, and nobody here uses it."""
    sys.meta_path.insert(0, _Without("pandas"))


def let_pandas_in() -> None:
    """Spark asks for it wherever it meets Arrow."""
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _Without)]


def start_duckdb(places: Iterable[str]) -> None:
    """DuckDB reads the log of a Delta table, and starts beside all that is imported before."""
    if any(Path(place, "_delta_log").is_dir() for place in places):
        from whyscan.tables import duckdb_engine

        duckdb_engine.start()


def load_arrow() -> None:
    """Import NumPy and Arrow without their documentation, a tenth of a second."""
    if "numpy" not in sys.modules:
        _load_numpy()
    if "pyarrow.compute" not in sys.modules:
        _load_kernels()


def _load_numpy() -> None:
    """Two modules give NumPy its docstrings, one names types for annotations that nobody reads."""
    types = ModuleType("numpy._typing")
    types.__dict__["NDArray"] = list
    documents = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
    from whyscan.tables.environment import in_force

    # Nothing here multiplies matrices: threads for it would only be waited for.
    with _standing_in(types, *map(ModuleType, documents)), in_force({"OPENBLAS_NUM_THREADS": "1"}):
        import numpy as np
    # Arrow asks of every array whether it is a masked one, and would import them all for it.
    masked = ModuleType("numpy.ma")
    vars(masked).update(MaskedArray=_Masked, __getattr__=_of_masked_arrays)
    vars(np)["ma"] = masked


class _Masked:
    """What no array is an instance of."""


def _of_masked_arrays(name: str) -> Any:
    """Whoever wants more of them gets the real ones."""
    return getattr(import_module("numpy.ma"), name)


@contextmanager
def _standing_in(*modules: ModuleType) -> Iterator[None]:
    """Modules in place of others of their names; who asks for those later gets the real ones."""
    names = [module.__name__ for module in modules]
    sys.modules.update(zip(names, modules, strict=True))
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
            parent, _, child = name.rpartition(".")
            vars(sys.modules.get(parent, ModuleType(parent))).pop(child, None)


@contextmanager
def loading_the_parser(places: Iterable[str]) -> Iterator[None]:
    """Import the parser while a table's first objects are on their way, if it is not here.

    Nothing of it is imported elsewhere meanwhile: two threads in one package would wait for
    each other.
    """
    parser = Thread(target=import_module, args=("sqlglot.dialects.spark",))
    remote = any("://" in place for place in places)
    if remote:
        parser.start()
    try:
        yield
    finally:
        if remote:
            parser.join()


class _Kernels:
    """Arrow's registry as `pyarrow.compute` sees it when imported: with the one that it names."""

    def __init__(self, registry: Any) -> None:
        self.get_function = registry.get_function

    def list_functions(self) -> list[str]:
        return ["utf8_zero_fill"]


def _load_kernels() -> None:
    """`pyarrow.compute` wraps and documents three hundred kernels: here each when it is called."""
    from pyarrow import _compute

    every: Callable[[], Any] = _compute.function_registry
    documents = ModuleType("pyarrow.vendored.docscrape")
    documents.__dict__["NumpyDocString"] = lambda _: {"Parameters": []}
    _compute.function_registry = lambda: _Kernels(every())
    try:
        with _standing_in(documents):
            import pyarrow.compute as pc
    finally:
        _compute.function_registry = every

    def kernel(name: str) -> Any:
        try:
            found = every().get_function({"and_": "and", "or_": "or"}.get(name, name))
        except KeyError:
            raise AttributeError(f"pyarrow.compute has no {name}", name=name) from None
        options = pc._get_options_class(found)  # noqa: SLF001 - as it wraps them itself
        made = pc._make_generic_wrapper(name, found, options, found.arity)  # noqa: SLF001 - same
        vars(pc)[name] = made
        return made

    vars(pc).update(function_registry=every, __getattr__=kernel)


def end(code: int) -> NoReturn:
    """End at once: taking an interpreter with all its modules apart takes a tenth of a second."""
    atexit._run_exitfuncs()  # noqa: SLF001 - temporary folders are removed there
    for stream in (sys.stdout, sys.stderr):
        # Whoever wrote has flushed, and complained if that failed; a closed stream is None.
        with suppress(OSError, AttributeError):
            stream.flush()
    os._exit(code)
