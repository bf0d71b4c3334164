"""Everything that Spark does with tables in a bucket, in a session that does not know its keys.

As on a cluster: the session and its workers are there before this process has an environment that
opens the bucket. Run as a program, it writes what was found, and all that Spark shows, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from unittest.mock import patch

import pyarrow as pa

import whyscan
import whyscan.spark
from whyscan.planning.plan.request import bind_request
from whyscan.spark.planning import explain_parts, plan_parts
from whyscan.terms import PlanTerms

FRESH = {"cache": "off"}
"""What the driver has read would open the table for workers of the same machine."""


def main(settings_of_run):
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": settings_of_run["events"],
        "spark.eventLog.compress": "false",
        "spark.local.dir": settings_of_run["scratch"],
        "spark.sql.shuffle.partitions": "2",
    }
    spark = whyscan.spark.session("local[2]", settings=settings)
    before = spark.range(2).mapInArrow(names_of_keys, "names string").collect()
    outcomes = {"shown": []}
    for (name, question), keys in zip(
        settings_of_run["questions"].items(), settings_of_run["keys"], strict=True
    ):
        with patch.dict(os.environ, keys):
            outcomes[name] = one_table(
                spark, f"{settings_of_run['lake']}/{name}", question, outcomes["shown"]
            )
    os.environ.update(settings_of_run["keys"][0])
    after = spark.range(2).mapInArrow(names_of_keys, "names string").collect()
    outcomes["known to workers"] = [row.names for row in before + after]
    outcomes["audit"] = audited(spark, settings_of_run)
    outcomes["shown"] += [
        str(spark.sparkContext.getConf().getAll()),
        failing(spark, settings_of_run),
    ]
    outcomes["shown"] += [str(row) for row in spark.sql("SET -v").collect()]
    spark.stop()
    return outcomes


def names_of_keys(batches):
    for _ in batches:
        names = [name for name in os.environ if name.startswith("AWS_")]
        yield pa.record_batch({"names": names})


def one_table(spark, uri, question, shown):
    table = whyscan.open(uri, storage=FRESH)
    bound, options = bind_request(table.snapshot, question, None, PlanTerms())
    parted = plan_parts(spark, table.snapshot, bound, options, files_each=2)
    whyscan.spark.register(spark)
    rows = spark.read.format("whyscan").options(predicate=question, **{"option.cache": "off"})
    frames = {
        "source": rows.load(uri),
        "read": whyscan.spark.read(spark, uri, question, storage=FRESH),
        "inventory": whyscan.spark.inventory(spark, {"t": uri}, storage=FRESH),
    }
    shown += [plan_text(frame) for frame in frames.values()]
    proof = whyscan.spark.verify(spark, table, question, engines=())
    return {
        "levels": table.explain(question).to_dict()["levels"],
        "in parts": explain_parts(parted).to_dict()["levels"],
        "rows": table.plan(question).to_arrow().num_rows,
        "files": table.plan(question).summary.files_total,
        "errors": frames["inventory"].where("error IS NOT NULL").count(),
        "proof": proof.exit_code,
        **{name: frame.count() for name, frame in frames.items()},
    }


def plan_text(frame):
    out = StringIO()
    with redirect_stdout(out):
        frame.explain("extended")
        frame.explain("formatted")
    return out.getvalue() + frame._jdf.queryExecution().logical().treeString()


def audited(spark, settings_of_run):
    tables = {name: f"{settings_of_run['lake']}/{name}" for name in settings_of_run["questions"]}
    audited = whyscan.spark.audit(
        spark, settings_of_run["workload"], tables, storage=FRESH
    ).to_dict()
    return {
        query["tables"][0]["name"]: [level["kept"] for level in query["tables"][0]["levels"]]
        for query in audited["queries"]
    }


def failing(spark, settings_of_run):
    """What is said of a table that is not there."""
    try:
        spark.read.format("whyscan").load(f"{settings_of_run['lake']}/nowhere")
    except Exception as error:  # noqa: BLE001 - whatever it says
        return str(error)
    return "it was opened"


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.stdin.read())), default=str))
