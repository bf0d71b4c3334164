"""From words to a plan: depth, the selection, and names that must be looked for."""

import pytest

from support.lakes import users
from whyscan.errors import UnknownColumn, UsageError
from whyscan.planning.plan.request import bind_request
from whyscan.planning.plan.scan_plan import Depth
from whyscan.terms import PlanTerms
from whyscan.tree.types import INT, Field, Schema


class Sparse:
    """A table of whose columns a first look shows only some."""

    def __init__(self):
        self.requests = []

    def schema(self, named=()):
        self.requests.append(list(named))
        hidden = (Field("late", INT),) if named else ()
        return Schema((Field("early", INT), *hidden))


def test_a_name_that_was_missed_is_looked_for_harder():
    table = Sparse()

    predicate, _ = bind_request(table, "early = 1 AND late = 2", None, PlanTerms())

    assert [c.path for c in predicate.columns()] == [("early",), ("late",)]
    assert table.requests == [[], ["late"]]


def test_a_name_that_is_nowhere_is_unknown():
    with pytest.raises(UnknownColumn, match="never"):
        bind_request(Sparse(), "never = 1", None, PlanTerms())


def test_selected_columns_are_resolved_without_regard_to_case():
    _, options = bind_request(users(), "age > 1", ["AGE", "country"], PlanTerms(depth="files"))

    assert (options.projection, options.depth) == ((("age",), ("country",)), Depth.FILES)


@pytest.mark.parametrize(
    "question", [{"depth": "rows"}, {"dialect": "sparc"}, {"timezone": "Mars/Base"}]
)
def test_words_that_mean_nothing_are_wrong_usage(question):
    with pytest.raises(UsageError):
        bind_request(users(), "age > 1", None, PlanTerms(**question))


def test_a_name_instead_of_a_list_of_names_is_wrong_usage():
    with pytest.raises(UsageError, match="a list of names") as caught:
        bind_request(users(), "age > 1", "age", PlanTerms())

    assert caught.value.hint == "columns=['age']"
