"""Send a WhyscanError from executors to the driver with its class, message and hint.

Spark gives the driver the exception of a worker as a long text with a traceback. A WhyscanError
travels in that text as one line of JSON, or in a row of a job's result. The driver reads the JSON
and raises the same error again.

>>> @carried
... def work(batches): ...
>>> with uncarried():
...     frame.mapInArrow(work, schema).collect()
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from whyscan import errors
from whyscan.errors import PredicateError, TextSpan, WhyscanError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
T = TypeVar("T")

DIED = ("Python worker exited unexpectedly", "Python worker failed to connect back")

_NEEDS_CLIENT = (
    "add Hadoop's client of that store to Spark (for s3a:// hadoop-aws in spark.jars.packages), "
    "or name a local folder"
)
_MARK = "whyscan error: "
_RAISED = re.compile(r"^(?:\S+: )?whyscan\.errors\.(\w+): (.*)$(?:\nhint: (.*)$)?", re.MULTILINE)
_CAUSED = "Caused by: "
_NO_SCHEME = re.compile(r'No FileSystem for scheme:? "?([\w+.-]+)"?')
_NO_CLIENT = re.compile(
    r"Class (org\.apache\.hadoop\.fs\.\S+|com\.google\.cloud\.hadoop\.\S+) not found"
)
_CLASS = re.compile(r"^\[[A-Z_.]+\]\s*|^[\w.]+(?:Exception|Error): ")


class CarriedError(Exception):
    """A WhyscanError on its way to the driver; its text is the line that `to_text` writes."""


def to_text(error: WhyscanError) -> str:
    """An error as one line of ASCII JSON, as Spark writes it into its logs."""
    fields: dict[str, Any] = {"class": type(error).__name__} | vars(error)
    if isinstance(error, PredicateError):
        fields["text"], span = error.shown()
        fields["span"] = None if span is None else [span.start, span.end]
    return json.dumps(fields)


def from_text(text: str) -> WhyscanError:
    """The error that `to_text` wrote."""
    fields: dict[str, Any] = json.loads(text)
    kind = getattr(errors, fields.pop("class"), WhyscanError)
    if fields.get("span") is not None:
        fields["span"] = TextSpan(*fields["span"])
    # The constructors differ between the classes; the attributes do not.
    error: WhyscanError = kind.__new__(kind)
    Exception.__init__(error, fields["message"])
    vars(error).update(fields)
    return error


def carried(work: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """Wrap a function that runs on executors, so that the driver can read its WhyscanError."""

    @wraps(work)
    def carrying(*arguments: P.args, **keywords: P.kwargs) -> Iterator[T]:
        try:
            yield from work(*arguments, **keywords)
        except WhyscanError as error:
            raise CarriedError(f"{_MARK}{to_text(error)}") from None

    return carrying


@contextmanager
def uncarried() -> Iterator[None]:
    """Around the start of a job: raise the WhyscanError of an executor on the driver.

    Any other error of Spark becomes a WhyscanError of one line, with Spark's error as its cause.
    """
    try:
        yield
    except WhyscanError:
        raise
    except Exception as error:  # classes of PySpark and Py4J, which must not be imported for this
        if not is_spark_error(error):
            raise
        raise of_spark(error) from error


def is_spark_error(error: BaseException) -> bool:
    """Whether PySpark or Py4J raised an error."""
    return type(error).__module__.startswith(("pyspark.", "py4j."))


def of_spark(error: BaseException) -> WhyscanError:
    """The WhyscanError in the text of an error of Spark, else a new one of one line."""
    text = str(error)
    at = text.find(_MARK)
    if at >= 0:
        carried_text, _ = json.JSONDecoder().raw_decode(text, at + len(_MARK))
        return from_text(json.dumps(carried_text))
    raised = _RAISED.search(text)
    if raised is not None:
        candidate = getattr(errors, raised[1], WhyscanError)
        error_class = (
            candidate
            if isinstance(candidate, type) and issubclass(candidate, WhyscanError)
            else WhyscanError
        )
        return from_text(
            json.dumps({"class": error_class.__name__, "message": raised[2], "hint": raised[3]})
        )
    if (lacking := _without_file_system(text)) is not None:
        return lacking
    died = next((words for words in DIED if words in text), None)
    if died is not None:
        hint = "it may have run out of memory: spark.executor.memoryOverhead gives it more"
        return WhyscanError(f"Spark failed: {died}", hint=hint)
    return WhyscanError(f"Spark failed: {_line(text)}", hint="Spark's own log has the rest")


def _without_file_system(text: str) -> WhyscanError | None:
    """The error about a store that Spark has no client for; None if the text is of another error.

    whyscan reads stores by a client of its own; Spark writes, and needs Hadoop's client.
    """
    if (scheme := _NO_SCHEME.search(text)) is not None:
        message = f"Spark has no file system for {scheme[1]}://"
    elif (client := _NO_CLIENT.search(text)) is not None:
        message = f"Spark has no class {client[1]}"
    else:
        return None
    return errors.StorageError(message, hint=_NEEDS_CLIENT)


def _line(text: str) -> str:
    """One line of the text of an error of Spark.

    It is the message of the last Python traceback, else the last Java cause, else the first line.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "it gave no reason"
    tracebacks = [
        at for at, line in enumerate(lines) if line.startswith("Traceback (most recent call")
    ]
    if tracebacks:
        after = (
            line for line in lines[tracebacks[-1] + 1 :] if not line.startswith(("File ", "^", "~"))
        )
        messages = [
            line for line in after if re.match(r"[\w.]+(Error|Exception|Interrupt)\b", line)
        ]
        if messages:
            return messages[0]
    causes = [line for line in lines if line.startswith(_CAUSED)]
    return _CLASS.sub("", causes[-1].removeprefix(_CAUSED) if causes else lines[0])
