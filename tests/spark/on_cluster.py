"""What whyscan does on a cluster of several processes, as a program for spark-submit.

It writes what it found as JSON, into a file: the output of a cluster is Spark's.
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


def main(folder, answers):
    spark = whyscan.spark.session()
    hive, inventory = f"{folder}/hive", f"{folder}/inventory"
    table = whyscan.open(hive)
    bound, options = bind_request(table.snapshot, "x > 30", None, PlanTerms())
    planned = plan_parts(spark, table.snapshot, bound, options, files_each=2)
    written = whyscan.spark.write_inventory(spark, {"t": hive}, inventory, depth="row-groups")
    workload = whyscan.spark.workload_frame(spark, [f"{folder}/queries.sql"])
    audit = whyscan.spark.audit(spark, workload, {}, inventory=inventory)
    outcomes = {
        "master": spark.sparkContext.master,
        "whyscan": whyscan.__file__,
        "executors": sorted(executors_of(spark)),
        "in parts": explain_parts(planned).to_dict()["levels"],
        "in one process": table.explain("x > 30").to_dict()["levels"],
        "written": [row.state for row in written.tables],
        "containers": spark.read.parquet(f"{inventory}/containers").count(),
        "audit": {
            q["sql"]: q["tables"][0]["levels"][0]["kept"] for q in audit.to_dict()["queries"]
        },
        "read": sorted(row.x for row in whyscan.spark.read(spark, hive, "x > 30").collect()),
        "sent": sorted(
            row.x
            for row in table.plan("soundex(country) > '' AND x > 30").to_spark(spark).collect()
        ),
    }
    Path(answers).write_text(json.dumps(outcomes), "utf-8")
    spark.stop()


def executors_of(spark):
    """The working folders and import paths of whyscan of the processes that run tasks."""

    def tell(batches):
        from pathlib import Path

        import pyarrow as pa

        import whyscan

        for _ in batches:
            yield pa.record_batch({"place": [f"{Path.cwd()} {whyscan.__file__}"]})

    rows = spark.range(0, 8, 1, 8).mapInArrow(tell, "place string").distinct().collect()
    return [row.place for row in rows]


if __name__ == "__main__":
    main(*sys.argv[1:])
