"""A dbt project over the tables of the demo, as `dbt compile` leaves it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"
RECENT = "select id, amount, month from `lake`.`raw`.`months` where month >= 11"
EUROPE = "select id, age, country from `lake`.`raw`.`users` where country in ('DE', 'FR')"
SENIORS = """\
with german_users as (select * from `lake`.`mart`.`german_users`)
select id from german_users where age > 40"""


def model(name: str, code: str | None, materialized: str = "table", **more: Any) -> dict[str, Any]:
    """A node of a manifest; `config` are further settings."""
    settings = {"materialized": materialized, **more.pop("config", {})}
    return {
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "language": "sql",
        "original_file_path": f"models/marts/{name}.sql",
        "fqn": ["shop", "marts", name],
        "relation_name": f"`lake`.`mart`.`{name}`",
        "config": settings,
        "tags": [],
        "depends_on": {"nodes": ["source.shop.raw.users"]},
        "raw_code": code or "",
        "compiled_code": code,
        **more,
    }


def shop() -> list[dict[str, Any]]:
    """A model of each kind that a project has."""
    return [
        model("recent", RECENT, depends_on={"nodes": ["source.shop.raw.months"]}, tags=["nightly"]),
        model(
            "europe",
            EUROPE,
            "incremental",
            config={"incremental_strategy": "merge", "unique_key": ["id", "country"]},
        ),
        model("german_users", "select * from `lake`.`raw`.`users` where country = 'DE'", "view"),
        model("seniors", SENIORS, depends_on={"nodes": ["model.shop.german_users"]}),
        model("guess", "def model(dbt, session): ...", language="python"),
    ]


def write_project(folder: Path, nodes: list[dict[str, Any]], adapter: str = "spark") -> Path:
    """Write a manifest; returns the folder of the project."""
    sources = {
        f"source.shop.raw.{name}": {
            "resource_type": "source",
            "package_name": "shop",
            "name": name,
            "fqn": ["shop", "raw", name],
            "relation_name": f"`lake`.`raw`.`{name}`",
        }
        for name in ("users", "months")
    }
    document = {
        "metadata": {
            "dbt_schema_version": SCHEMA,
            "adapter_type": adapter,
            "project_name": "shop",
        },
        "nodes": {node["unique_id"]: node for node in nodes},
        "sources": sources,
    }
    target = folder / "target"
    target.mkdir(parents=True, exist_ok=True)
    (target / "manifest.json").write_text(json.dumps(document), "utf-8")
    return folder
