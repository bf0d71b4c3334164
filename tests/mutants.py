"""Break the law, one rule at a time: the tests must notice each.

`make mutants` copies the source, applies one mutant, runs the properties of the law and the
known counterexamples on the copy, and ends with 1 if any mutant survives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
FIRST_ROWS = tuple(f"tests/planning/test_{name}.py" for name in ("topk", "limit", "answers"))
TESTS = {
    "pruning": ("tests/soundness", "tests/pruning/test_law.py"),
    "planning": FIRST_ROWS,
    "tables": FIRST_ROWS,
}
"""The tests that must notice a mutant, by its stage."""
IGNORED = ("spark",)


@dataclass(frozen=True)
class Mutant:
    """One rule broken: `old` stands exactly once in `file`, below the folder of its `stage`."""

    why: str
    file: str
    old: str
    new: str
    stage: str = "pruning"


MUTANTS = (
    Mutant(
        "bounds that touch no longer overlap",
        "interval.py",
        "overlap = both(may(less_equal, a.lower, b.upper), may(less_equal, b.lower, a.upper))",
        "overlap = both(may(less, a.lower, b.upper), may(less_equal, b.lower, a.upper))",
    ),
    Mutant(
        "points that are not known are not equal",
        "interval.py",
        "overlap = may(equal, a.lower, b.lower)",
        "overlap = surely(equal, a.lower, b.lower)",
    ),
    Mutant(
        "NaN has an order in every dialect",
        "evaluate.py",
        "    if expression.nan_unordered:\n",
        "    if False:\n",
    ),
    Mutant(
        "NaN has an order in every dialect, for conjuncts of one column",
        "domains/satisfying.py",
        "domain is not None and comparison.nan_unordered",
        "False",
    ),
    Mutant(
        "NaN is not greater than a value",
        "interval.py",
        "return either(values, both(a.value, b.nan))",
        "return values",
    ),
    Mutant(
        "NaN is not equal to itself",
        "interval.py",
        "return either(both(a.value, b.value, overlap), both(a.nan, b.nan))",
        "return both(a.value, b.value, overlap)",
    ),
    Mutant(
        "NaN is less than a value",
        "interval.py",
        "return either(values, both(a.present, b.nan))",
        "return either(values, both(a.nan, b.present))",
    ),
    Mutant(
        "a hull forgets that an operand may be NULL",
        "interval.py",
        "null=either(first.null, second.null),\n        nan=either",
        "null=both(first.null, second.null),\n        nan=either",
    ),
    Mutant(
        "the hull is the first operand's lower bound",
        "interval.py",
        "_outer(least, (first, first.lower), (second, second.lower))",
        "first.lower",
    ),
    Mutant(
        "a branch that is not taken still adds its bounds, one that is taken does not",
        "interval.py",
        "    if first.value is False:\n        return b\n",
        "    if first.value is False:\n        return a\n",
    ),
    Mutant(
        "a missing null count is zero",
        "containers.py",
        "null=may(lambda n: pc.greater(n, 0), nulls),",
        "null=surely(lambda n: pc.greater(n, 0), nulls),",
    ),
    Mutant(
        "a unit before 1970 ends where it should",
        "transforms/preimage.py",
        "pc.if_else(pc.less(following, 0), ",
        "pc.if_else(pc.greater(following, 0), ",
    ),
    Mutant(
        "all NULL is still a value",
        "containers.py",
        "value=both(may(pc.less, nulls, rows), ",
        "value=both(may(pc.less_equal, nulls, rows), ",
    ),
    Mutant(
        "bounds that cross are trusted",
        "containers.py",
        "crossed = surely(greater, lower, upper)",
        "crossed: Mask = False",
    ),
    Mutant(
        "more nulls than rows are trusted",
        "containers.py",
        "        surely(pc.greater, nulls, rows),\n",
        "",
    ),
    Mutant(
        "a NaN bound is no evidence of NaN",
        "containers.py",
        "either(statistics.nan, lower_is_nan, upper_is_nan),",
        "statistics.nan,",
    ),
    Mutant(
        "a NaN bound is a bound",
        "containers.py",
        "keep(opposite(upper_is_nan), statistics.upper),",
        "statistics.upper,",
    ),
    Mutant(
        "a container without rows may match",
        "containers.py",
        "return may(lambda rows: pc.greater(rows, 0), self.rows)",
        "return True",
    ),
    Mutant(
        "AND is never NULL",
        "truth.py",
        "        lambda: both(\n"
        "            any_of(a.null for a in operands),\n"
        "            all_of(either(a.true, a.null) for a in operands),\n"
        "        ),\n",
        "        lambda: False,\n",
    ),
    Mutant(
        "OR needs every operand",
        "truth.py",
        "return negation(conjunction([negation(a) for a in operands]))",
        "return conjunction(operands)",
    ),
    Mutant(
        "NOT makes NULL impossible",
        "truth.py",
        "return Truth(lambda: a.false, lambda: a.true, lambda: a.null, lambda: a.raises)",
        "return Truth(lambda: a.false, lambda: a.true, lambda: False, lambda: a.raises)",
    ),
    Mutant(
        "all despite NULL",
        "truth.py",
        "truth.true, opposite(truth.false), opposite(truth.null), opposite(truth.raises)",
        "truth.true, opposite(truth.false), opposite(truth.raises)",
    ),
    Mutant(
        "all despite an error",
        "truth.py",
        "truth.true, opposite(truth.false), opposite(truth.null), opposite(truth.raises)",
        "truth.true, opposite(truth.false), opposite(truth.null)",
    ),
    Mutant(
        "a miss of a list with NULL is FALSE",
        "membership.py",
        "lambda: False if listed.null else miss(),",
        "miss,",
    ),
    Mutant(
        "a miss of a list with NULL is not NULL",
        "membership.py",
        "lambda: either(x.null, miss()) if listed.null else x.null,",
        "lambda: x.null,",
    ),
    Mutant(
        "a list that holds the upper bound misses it",
        "membership.py",
        'return pc.fill_null(search(values, upper, "right"), everything)',
        'return pc.fill_null(search(values, upper, "left"), everything)',
    ),
    Mutant(
        "NaN is in no list",
        "membership.py",
        "return either(values, both(x.nan, listed.nan))",
        "return values",
    ),
    Mutant(
        "any value between two listed ones is listed",
        "membership.py",
        "points = both(surely(pc.equal, lower, upper), surely(lambda n: pc.equal(n, 1), hits))",
        "points = surely(lambda n: pc.greater(n, 0), hits)",
    ),
    Mutant(
        "<=> forgets that two NULLs are equal",
        "comparison.py",
        "lambda: either(may_be_equal(a, b), both(a.null, b.null)),",
        "lambda: may_be_equal(a, b),",
    ),
    Mutant(
        "<=> forgets that NULL differs from a value",
        "comparison.py",
        "both(a.null, b.present),\n            both(a.present, b.null),\n            a.raises,",
        "a.raises,",
    ),
    Mutant(
        "a comparison with NULL is never NULL",
        "comparison.py",
        "lambda: either(a.null, b.null),\n        lambda: either(a.raises, b.raises),",
        "lambda: False,\n        lambda: either(a.raises, b.raises),",
    ),
    Mutant(
        "CASE takes its branches without their conditions",
        "evaluate.py",
        "reached = both(reached, either(tested.false, tested.null))",
        "reached = both(reached, tested.false)",
    ),
    Mutant(
        "a prefix that is the upper bound is beyond it",
        "functions/text/like.py",
        "may(less_equal, text, x.upper),",
        "may(less, text, x.upper),",
    ),
    Mutant(
        "a lower bound longer than the prefix is beyond it",
        "functions/text/like.py",
        "may(lambda end: less_equal(cut(end), text), x.lower),",
        "may(lambda end: less_equal(end, text), x.lower),",
    ),
    Mutant(
        "lower and upper map the ends of the interval",
        "functions/text/letter_case.py",
        "(choose(exact, point, prefix), choose(exact, point, joined(prefix, ABOVE)))",
        "(_mapped(x.lower, kernel), _mapped(x.upper, kernel))",
    ),
    Mutant(
        "clocks are never put back",
        "functions/time/zone_clock.py",
        "falls = [i for i in range(len(points)) if shifts[i + 1] < shifts[i]]",
        "falls: list[int] = []",
    ),
    Mutant(
        "overflow does not raise",
        "functions/rules.py",
        "raises=either(x.raises, both(x.value, escapes)),",
        "raises=x.raises,",
    ),
    Mutant(
        "what is opaque is never TRUE",
        "truth.py",
        "ANY = Truth(lambda: True, lambda: True, lambda: True, lambda: True)",
        "ANY = Truth(lambda: False, lambda: True, lambda: True, lambda: True)",
    ),
    Mutant(
        "a file that only ties with the last row is left out",
        "rows/topk.py",
        "span.first <= place",
        "span.first < place",
        "planning",
    ),
    Mutant(
        "a NaN that may be there has no place in the order",
        "rows/topk.py",
        "        places = extreme(places, np.where(nan, greatest, missing))\n",
        "",
        "planning",
    ),
    Mutant(
        "a NULL that may be there has no place in the order",
        "rows/topk.py",
        "        places = extreme(places, np.where(nulls, nowhere, missing))\n",
        "",
        "planning",
    ),
    Mutant(
        "a greatest value that nobody knows is the least",
        "rows/topk.py",
        "np.where(upper, upper, most + 1)",
        "upper",
        "planning",
    ),
    Mutant(
        "NULLs that were deleted still come first",
        "rows/topk.py",
        "(level.nulls - level.gone).clip",
        "level.nulls.clip",
        "planning",
    ),
    Mutant(
        "values that were deleted still come first",
        "rows/topk.py",
        "(level.rows - level.nulls - level.gone).clip",
        "(level.rows - level.nulls).clip",
        "planning",
    ),
    Mutant(
        "rows that may match stand in for others",
        "plan/matching_rows.py",
        "sure = np.where(verdicts.every, ",
        "sure = np.where(verdicts.kept, ",
        "planning",
    ),
    Mutant(
        "deleted rows stand in for others",
        "plan/matching_rows.py",
        "np.maximum(rows - gone, 0)",
        "np.maximum(rows, 0)",
        "planning",
    ),
    Mutant(
        "a file of which rows are deleted has all that it counts",
        "plan/matching_rows.py",
        "self.every & (self.gone == 0) & ",
        "self.every & ",
        "planning",
    ),
    Mutant(
        "one file too few has enough rows",
        "rows/limit.py",
        "greatest[: enough + 1]",
        "greatest[:enough]",
        "planning",
    ),
    Mutant(
        "row groups of a file with deletes have all their rows",
        "rows/limit.py",
        " & (counts(perhaps_gone(evidence.files), 1) == 0)",
        "",
        "planning",
    ),
    Mutant(
        "the greatest bound of some file is the greatest of all",
        "rows/answers.py",
        "if (beyond & value).any():",
        "if (beyond & ~value).any():",
        "planning",
    ),
    Mutant(
        "a maximum does without NaN",
        "rows/answers.py",
        "if level.nan.any() and (function is Function.MAX or not value.any()):",
        "if level.nan.any() and not value.any():",
        "planning",
    ),
    Mutant(
        "a bound is a value of some row",
        "rows/expression_level.py",
        "(kept_flags(exact.upper) & level.whole[kept]) | attained",
        "level.whole[kept] | attained",
        "planning",
    ),
    Mutant(
        "a partition value is one of a row that is there",
        "rows/expression_level.py",
        "(level.every & (level.sure > 0))[kept]",
        "level.every[kept]",
        "planning",
    ),
    Mutant(
        "texts are recorded in full",
        "parquet/bounds.py",
        "return leaf.encoding is Encoding.BYTES and not isinstance(leaf.type, DecimalType)",
        "return False",
        "tables",
    ),
    Mutant(
        "Delta records moments to the microsecond",
        "delta/statistics.py",
        "case IntegerType() | DateType():\n            return True",
        "case IntegerType() | DateType() | TimestampType():\n            return True",
        "tables",
    ),
)


def path_of(mutant: Mutant, source: Path) -> Path:
    return source / "whyscan" / mutant.stage / mutant.file


def passes(mutant: Mutant | None) -> bool:
    """The tests pass on a copy of the source with this one rule broken, or with none."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            broken = path_of(mutant, copy)
            broken.write_text(broken.read_text().replace(mutant.old, mutant.new))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["-m", " and ".join(f"not {mark}" for mark in IGNORED), *_tests(mutant)]
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WHYSCAN_SOURCE": str(copy),
        }
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    if ran.returncode not in {0, 1}:
        raise SystemExit(f"the tests did not run\n{ran.stdout.decode()[-2000:]}")
    return ran.returncode == 0


def _tests(mutant: Mutant | None) -> tuple[str, ...]:
    if mutant is None:
        return tuple(dict.fromkeys(test for stage in TESTS.values() for test in stage))
    return TESTS[mutant.stage]


def main(words: list[str]) -> int:
    """All mutants, or those whose file or reason holds one of the words."""
    chosen = [
        m for m in MUTANTS if not words or any(w in f"{m.stage}/{m.file} {m.why}" for w in words)
    ]
    survived = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # Tests that fail on the source as it is would kill every mutant and prove nothing.
        whole = pool.submit(passes, None)
        for mutant, passed in zip(chosen, pool.map(passes, chosen), strict=True):
            survived += passed
            print(
                f"{'SURVIVED' if passed else 'killed':8}  {mutant.file:22}  {mutant.why}",
                flush=True,
            )
    if not whole.result():
        print("the tests fail on the source as it is: nothing is proven")
        return 1
    print(f"{len(chosen)} mutants, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
