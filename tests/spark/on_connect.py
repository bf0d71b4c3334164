"""What whyscan does on a server of Spark Connect, as a program: a process has one kind of session.

It writes what it found as JSON. An answer that is an error is its class, its line and its hint.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import whyscan
import whyscan.spark
from whyscan.planning.plan.request import bind_request
from whyscan.spark.planning import explain_parts, plan_parts
from whyscan.terms import PlanTerms


def main(address, folder):
    spark = whyscan.spark.session(address)
    hive = f"{folder}/hive"
    table = whyscan.open(hive)
    questions = {
        "in parts": lambda: parted(spark, table, "x > 30"),
        "as people ask": lambda: table.explain("x > 30", spark=spark).to_dict()["levels"],
        "one process": lambda: table.explain("x > 30").to_dict()["levels"],
        "source": lambda: filtered_two_ways(spark, hive),
        "wrong load": lambda: load(spark, hive, predicate="nope = 1").count(),
        "inventory": lambda: whyscan.spark.inventory(spark, {"t": hive}).count(),
        "written": lambda: written(spark, hive, f"{folder}/inventory"),
        "audit": lambda: audited(spark, f"{folder}/queries.sql", hive),
        "verify": lambda: whyscan.spark.verify(spark, hive, ["x > 30", "country = 'DE'"]).exit_code,
        "workload": lambda: whyscan.spark.workload_frame(spark, f"{folder}/queries.sql").count(),
        "read": lambda: values(whyscan.spark.read(spark, hive, "x > 30 AND soundex(country) > ''")),
        "plan": lambda: values(table.plan("x > 30").to_spark(spark)),
        "no rows": lambda: values(table.plan("x > 3000").to_spark(spark)),
        "reader": lambda: whyscan.spark.reader_of(table.plan("x > 30"), spark).format,
        "frame": lambda: whyscan.spark.explain(spark.range(3)),
        "corrupt": lambda: after(
            lambda: Path(hive, "country=DE", "1.parquet").write_bytes(b"PAR1 and no more PAR1"),
            lambda: parted(spark, table, "x > 31"),
        ),
    }
    outcomes = {name: outcome_of(question) for name, question in questions.items()}
    spark.stop()
    return outcomes


def outcome_of(question):
    try:
        return question()
    except Exception as error:  # noqa: BLE001 - any error is printed
        return [type(error).__name__, str(error), getattr(error, "hint", None)]


def parted(spark, table, predicate):
    bound, options = bind_request(table.snapshot, predicate, None, PlanTerms())
    planned = plan_parts(spark, table.snapshot, bound, options, files_each=2)
    return explain_parts(planned).to_dict()["levels"]


def load(spark, where, **options):
    whyscan.spark.register(spark)
    return spark.read.format("whyscan").options(**options).load(where)


def filtered_two_ways(spark, where):
    frame = load(spark, where, predicate="x < 60")
    three, four = frame.where("x = 30"), frame.where("x = 45")
    joined = three.alias("a").join(four.alias("b"), "country")
    return [values(three.union(four)), joined.count(), frame.count()]


def values(frame):
    return sorted(row.x for row in frame.collect())


def written(spark, where, output):
    whyscan.spark.write_inventory(spark, {"t": where}, output)
    return whyscan.spark.write_inventory(spark, {"t": where}, output).tables[0].state


def audited(spark, workload, where):
    audited = whyscan.spark.audit(spark, workload, {"t": where}).to_dict()
    return {q["sql"]: q["tables"][0]["levels"][0]["kept"] for q in audited["queries"]}


def after(first, then):
    first()
    return then()


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:]), default=repr))
