# ruff: noqa: SIM905  a case is a line, words are words
"""Keywords that Spark reads as columns, and operators that Spark refuses."""

import pytest

from whyscan.errors import SyntaxProblem, TypeProblem, WhyscanError
from whyscan.predicate.binding.bind import bind
from whyscan.predicate.syntax.session import Session
from whyscan.tree.nodes import Opaque, columns_of
from whyscan.tree.types import BOOLEAN, DATE, INT, STRING, Field, Schema

# `SELECT keyword FROM sql_keywords()` of Spark 4.1. Its parser reads each as a column in all of
# PLACES (measured), except those of NO_COLUMN.
KEYWORDS = """
add after aggregate all alter always analyze and anti any any_value archive array as asc at atomic
authorization begin between bigint binary binding boolean both bucket buckets by byte cache call
called cascade case cast catalog catalogs change char character check clear cluster clustered
codegen collate collation collection column columns comment commit compact compactions
compensation compute concatenate condition constraint contains continue cost create cross cube
current current_date current_time current_timestamp current_user data database databases date
date_add date_diff dateadd datediff day dayofyear days dbproperties dec decimal declare default
defined definer delay delete delimited desc describe deterministic dfs directories directory
distinct distribute div do double drop else elseif end enforced escape escaped evolution except
exchange exclude execute exists exit explain export extend extended external extract false fetch
fields fileformat filter first float flow following for foreign format formatted found from full
function functions generated geography geometry global grant group grouping handler having hour
hours identifier identity if ignore ilike immediate import in include increment index indexes
inner inpath input inputformat insert int integer intersect interval into invoker is items iterate
join json key keys language last lateral lazy leading leave left level like limit lines list load
local location lock locks logical long loop macro map matched materialized max merge microsecond
microseconds millisecond milliseconds minus minute minutes modifies month months msck name
namespace namespaces nanosecond nanoseconds natural no none norely not null nulls numeric of
offset on only option options or order out outer outputformat over overlaps overlay overwrite
partition partitioned partitions percent pivot placing position preceding primary principals
procedure procedures properties purge quarter query range reads real recordreader recordwriter
recover recursion recursive reduce references refresh rely rename repair repeat repeatable replace
reset respect restrict return returns revoke right role roles rollback rollup row rows schema
schemas second seconds security select semi separated serde serdeproperties session_user set sets
short show single skewed smallint some sort sorted source specific sql sqlexception sqlstate start
statistics stored stratify stream streaming string struct substr substring sync system_time
system_version table tables tablesample target tblproperties terminated then time timediff
timestamp timestamp_ltz timestamp_ntz timestampadd timestampdiff tinyint to touch trailing
transaction transactions transform trim true truncate try_cast type unarchive unbounded uncache
union unique unknown unlock unpivot unset until update use user using value values var varchar
variable variant version view views void watermark week weeks when where while window with within
without x year years zone
""".split()
PLACES = (
    "{} = 1",
    "1 = {}",
    "a = 1 AND {} > 2",
    "t.{} = 1",
    "{} IN (1, 2)",
    "{} IS NULL",
    "NOT ({} BETWEEN 1 AND 2)",
    "abs({}) = 1",
    "NOT {} = 1",
    "a = 1 AND NOT {} IN (1, 2)",
)
NO_COLUMN = set("false not null true".split())
# Spark looks for a column of that name first; whyscan reads a session function.
OF_THE_SESSION = {"current_date", "current_timestamp", "current_user", "session_user"}


def read_as_column(predicate, word):
    expression = (
        bind(predicate, Schema((Field(word, INT), Field("a", INT)))).conjuncts[-1].expression
    )
    return not isinstance(expression, Opaque) and (word,) in {
        c.path for c in columns_of(expression)
    }


@pytest.mark.parametrize("word", sorted(set(KEYWORDS) - NO_COLUMN - OF_THE_SESSION))
def test_a_keyword_where_a_value_stands_is_a_column_as_in_spark(word):
    assert [p for p in PLACES if not read_as_column(p.format(word), word)] == []


PEOPLE = Schema((Field("age", INT), Field("b", BOOLEAN), Field("s", STRING), Field("d", DATE)))

# Spark's parser refuses each (measured).
REFUSED = """
age > > 1
age < < 1
age < > 1
age ! = 1
age < = 1
age > = 1
age = = 1
age < = > 1
age <= > 1
age | | 1
age & & 1
age - > 1
age : : INT > 1
age > > > 1
age < . 5
age = . 5
age &< 1
age &> 1
age ~~ 1
age ~* 'a'
""".strip().splitlines()


@pytest.mark.parametrize("predicate", REFUSED)
def test_an_operator_with_a_blank_in_it_is_a_syntax_error(predicate):
    with pytest.raises(SyntaxProblem):
        bind(predicate, PEOPLE)


ACCEPTED = [
    "age >> 1 = 2",
    "age << 1 = 2",
    "age < .5",
    "s = X'ff00'",
    "s = r'select'",
    "CAST(s AS ARRAY<ARRAY<INT> >) IS NULL",
    "CAST(s AS MAP<DATE, INT>) IS NULL",
]


@pytest.mark.parametrize("predicate", ACCEPTED)
def test_an_operator_without_a_blank_in_it_is_read(predicate):
    assert bind(predicate, PEOPLE).conjuncts


NO_CONDITIONS = """
age
age + 1
age >> 1
age & 1
~age
-age
d
my_udf(age) + 1
year(my_udf(d))
CAST(my_udf(age) AS INT)
EXTRACT(DAY FROM my_udf(d))
INTERVAL '1' DAY
1
(age, 1)
if(b, 1, 2)
coalesce(age, 1)
""".strip().splitlines()
WHERE_CONDITIONS_STAND = (
    "{}",
    "b AND {}",
    "{} OR b",
    "NOT ({})",
    "b AND (b OR NOT ({}))",
    "CASE WHEN {} THEN true ELSE false END",
    "if({}, true, false)",
    "({}) IS TRUE",
)


def refusals(value):
    for place in WHERE_CONDITIONS_STAND:
        try:
            bind(place.format(value), PEOPLE, Session())
        except TypeProblem as problem:
            if "boolean" not in str(problem):
                yield place, str(problem)
        except WhyscanError as problem:
            yield place, str(problem)
        else:
            yield place, "accepted"


@pytest.mark.parametrize("value", NO_CONDITIONS)
def test_what_is_never_boolean_is_refused_wherever_a_condition_stands(value):
    assert list(refusals(value)) == []


def test_what_may_be_boolean_is_not_refused():
    assert isinstance(bind("b AND my_udf(age)", PEOPLE).conjuncts[1].expression, Opaque)


@pytest.mark.parametrize(
    "text",
    [
        "n NOT BETWEEN -4 AND 9",
        "n NOT BETWEEN - 4 AND + 9 AND n NOT BETWEEN -1 AND -n",
        "(n + 1) NOT BETWEEN -4 AND 9",
        "abs(n) NOT BETWEEN -4 AND 9",
        "5 NOT BETWEEN -1 AND n",
        "CASE WHEN n NOT BETWEEN -1 AND 1 THEN n ELSE -n END = 1",
        "n IS NOT DISTINCT FROM -1",
        "n NOT IN (-1, +1)",
        "n BETWEEN -4 AND -2 OR NOT n BETWEEN -4 AND 9",
    ],
)
def test_an_operator_before_a_sign_is_no_column(text):
    schema = Schema((Field("n", INT),))

    predicate = bind(text, schema)

    assert [column.path for column in predicate.columns()] == [("n",)]


@pytest.mark.parametrize(
    "word", ["all", "any", "case", "CASE", "distinct", "exists", "select", "some"]
)
@pytest.mark.parametrize("rest", ["+ 1 > 0", "- 1 = 2 AND {} - -1 < 5", "-1 <> 0"])
def test_a_keyword_before_a_sign_is_a_column_at_the_start_of_a_condition(word, rest):
    predicate = bind(f"{word} {rest.format('`' + word + '`')}", Schema((Field(word, INT),)))

    assert [column.path for column in predicate.columns()] == [(word,)]


def test_a_case_with_an_end_and_a_statement_are_what_they_were():
    schema = Schema((Field("n", INT),))

    assert bind("case -n when -1 then true else false end", schema).columns()
    with pytest.raises(WhyscanError, match="this is a statement"):
        bind("select -1 from t", schema)
