"""Reads a dbt project from its `manifest.json`: the statement that a run of each model executes.

The compiled SQL stands in the manifest (`dbt compile`), else below `target/compiled`. A model
without it is rendered from its own text, which works for models without macros.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.json import decode

from whyscan.errors import UsageError
from whyscan.predicate.syntax.parse import DIALECTS
from whyscan.statements.changes.dbt import Model, ModelSettings, executed, incremental_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LARGEST = 1 << 30
"""How many bytes a manifest may have."""
HINT = "dbt compile writes target/manifest.json"
_NOTHING: Mapping[str, Any] = {}
_READS_NOTHING = {
    "view": "a view reads nothing when it is made",
    "ephemeral": "it is written into the models that use it",
}
_DIALECT_OF_ADAPTER = {"glue": "spark", "sqlserver": "tsql", "fabric": "tsql"}
_FIRST_RUN = (
    "its compiled SQL does not name the table that it fills, though its text does: "
    "dbt compile ran where that table is missing, and left the incremental part out"
)


class DbtNode(Struct, frozen=True):
    """A node or source of a manifest. `relation` is the table's name as dbt writes it into SQL."""

    unique_id: str
    name: str
    package: str
    kind: str
    path: str
    relation: str
    materialized: str
    entry: Mapping[str, Any]
    parents: tuple[str, ...] = ()

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings of the node."""
        settings: Mapping[str, Any] = self.entry.get("config") or _NOTHING
        return settings

    def tags(self) -> tuple[str, ...]:
        """The tags of the node."""
        tags = self.entry.get("tags") or ()
        return tuple(map(str, [tags] if isinstance(tags, str) else tags))

    def raw_text(self) -> str:
        """The text of the model as its author wrote it; empty if the manifest has none."""
        return str(self.entry.get("raw_code") or self.entry.get("raw_sql") or "")

    def fqn(self) -> tuple[str, ...]:
        """The package, the folders and the name, by which dbt selects nodes."""
        return tuple(map(str, self.entry.get("fqn") or (self.package, self.name)))


class Unexplained(Struct, frozen=True):
    """A model without a statement, and why; `failed` is false where it reads nothing by itself."""

    why: str
    failed: bool = False


class DbtProject(Struct, frozen=True):
    """The nodes of one manifest, by their unique ids."""

    manifest: Path
    name: str
    adapter: str
    nodes: Mapping[str, DbtNode]
    by_relation: Mapping[str, str] = field(default_factory=dict)

    @property
    def dialect(self) -> str:
        """The SQL dialect of the adapter; Spark's if there is none of its name."""
        named = _DIALECT_OF_ADAPTER.get(self.adapter, self.adapter)
        return named if named in DIALECTS else "spark"

    def models(self, *, tests: bool = False) -> Iterator[DbtNode]:
        """Yield the models in the order of their names, and with `tests` the data tests."""
        kinds = {"model", "snapshot", "test"} if tests else {"model", "snapshot"}
        yield from sorted(
            (node for node in self.nodes.values() if node.kind in kinds),
            key=lambda node: (node.kind, node.name, node.unique_id),
        )

    def statement(
        self, node: DbtNode, dialect: str, *, full_refresh: bool = False
    ) -> Model | Unexplained:
        """The statement that a run executes, behind the views of the project that it reads."""
        text = self._compiled(node)
        if not text and node.entry.get("language") != "python":
            raw = node.raw_text()
            if raw and reads_nothing(node.entry) is None and not full_refresh:
                return incremental_run(raw, dialect)
        model = statement_of(node.entry, text, dialect, node.relation, full_refresh=full_refresh)
        if isinstance(model, Unexplained):
            return model
        notes = (*model.notes, _FIRST_RUN) if self._is_first_run(node, text) else model.notes
        return Model(self._with_views(node, model.sql), notes, model.replaces_partitions)

    def identity(self, sql: str) -> str:
        """A statement with unique ids instead of tables' names, which differ by target."""
        names = sorted(self.by_relation, key=len, reverse=True)
        if not names:
            return sql
        pattern = re.compile("|".join(map(_relation_pattern, names)))
        return " ".join(pattern.sub(lambda name: self.by_relation[name[0]], sql).split())

    def _compiled(self, node: DbtNode) -> str:
        entry = node.entry
        text = str(entry.get("compiled_code") or entry.get("compiled_sql") or "").strip()
        if text:
            return text
        folder = self.manifest.parent / "compiled" / node.package
        path = folder / node.path
        # A manifest may name any path; only what dbt compiled is read.
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            return ""
        return path.read_text("utf-8", "replace").strip()

    @staticmethod
    def _is_first_run(node: DbtNode, compiled: str) -> bool:
        """Whether the incremental part is missing in the compiled SQL of an incremental model."""
        raw = node.raw_text()
        return (
            node.materialized == "incremental"
            and "is_incremental()" in raw
            and re.search(r"\bthis\b", raw) is not None
            and bool(node.relation)
            and node.relation not in compiled
        )

    def _with_views(self, node: DbtNode, sql: str) -> str:
        """The statement behind a CREATE VIEW for each view that it reads, directly or not.

        A view has a name of its own there: a model may well call a CTE as the view is called.
        """
        views = list(self._views_of(node, {}))
        names = {view.relation: f"view_of_{view.name}" for view in views}
        if not names:
            return sql
        pattern = re.compile("|".join(map(_relation_pattern, sorted(names, key=len, reverse=True))))

        def renamed(text: str) -> str:
            return pattern.sub(lambda match: names[match[0]], text)

        created = (
            f"CREATE VIEW {names[view.relation]} AS {renamed(self._compiled(view)).rstrip(';')};\n"
            for view in views
        )
        return "".join(created) + renamed(sql)

    def _views_of(self, node: DbtNode, seen: dict[str, None]) -> Iterator[DbtNode]:
        """Yield the views that a node reads, each behind those that it reads itself."""
        for parent in node.parents:
            view = self.nodes.get(parent)
            if view is None or parent in seen or view.kind != "model":
                continue
            seen[parent] = None
            if view.materialized in {"view", "ephemeral"}:
                yield from self._views_of(view, seen)
            if view.materialized == "view" and view.relation and self._compiled(view):
                yield view


def statement_of(
    entry: Mapping[str, Any], text: str, dialect: str, target: str, *, full_refresh: bool
) -> Model | Unexplained:
    """The statement of a node with this compiled SQL, or why there is none."""
    reason = reads_nothing(entry)
    if reason is not None:
        return Unexplained(reason)
    if not text:
        kind = entry.get("resource_type") or "node"
        return Unexplained(f"a {kind} has no compiled SQL", failed=kind == "model")
    if entry.get("language") == "python":
        return Unexplained("a model in Python has no SQL")
    config: Mapping[str, Any] = entry.get("config") or _NOTHING
    if config.get("materialized") != "incremental" or full_refresh:
        return Model(text)
    return executed(text, settings_of(config), dialect, target)


def reads_nothing(entry: Mapping[str, Any]) -> str | None:
    """Why a run of a model reads nothing, None if it reads."""
    config: Mapping[str, Any] = entry.get("config") or _NOTHING
    is_model = entry.get("resource_type") == "model"
    return _READS_NOTHING.get(str(config.get("materialized"))) if is_model else None


def settings_of(config: Mapping[str, Any]) -> ModelSettings:
    """The settings of a node, with those that its adapter adds."""
    return ModelSettings({**config, **(config.get("extra") or _NOTHING)})


def read_project(place: str | Path) -> DbtProject:
    """Read a manifest: its path, that of `target`, or that of the project."""
    path = _manifest_of(Path(place))
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST:,} bytes")
        document = decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint=HINT) from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}", hint=HINT) from error
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), dict):
        raise UsageError(f"{path} is no manifest of dbt", hint=HINT)
    metadata = document.get("metadata") or _NOTHING
    try:
        entries = {**(document.get("sources") or {}), **document["nodes"]}
        nodes = {name: _node(name, entry) for name, entry in entries.items()}
        adapter = str(metadata.get("adapter_type") or "")
        project = str(metadata.get("project_name") or path.resolve().parent.parent.name)
    except (AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no manifest of dbt: {error}", hint=HINT) from error
    relations = {node.relation: name for name, node in nodes.items() if node.relation}
    return DbtProject(path, project, adapter, nodes, relations)


def _manifest_of(place: Path) -> Path:
    if not place.is_dir():
        return place
    candidates = (place / "target" / "manifest.json", place / "manifest.json")
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise UsageError(f"there is no manifest.json in {place} or {place / 'target'}", hint=HINT)


def _node(unique_id: str, entry: Mapping[str, Any]) -> DbtNode:
    depends = entry.get("depends_on") or _NOTHING
    name = str(entry.get("name") or unique_id.rpartition(".")[2])
    config = entry.get("config") or _NOTHING
    return DbtNode(
        unique_id=unique_id,
        name=name,
        package=str(entry.get("package_name") or unique_id.partition(".")[2].partition(".")[0]),
        kind=str(entry.get("resource_type") or unique_id.partition(".")[0]),
        path=str(entry.get("original_file_path") or entry.get("path") or ""),
        relation=str(entry.get("relation_name") or ""),
        materialized=str(config.get("materialized") or ""),
        entry=entry,
        parents=tuple(map(str, depends.get("nodes") or ())),
    )


def _relation_pattern(name: str) -> str:
    """The name where no longer name contains it: `db.t` is not in `db.t2`, nor in `my.db.t`."""
    return rf"(?<![\w.`\"]){re.escape(name)}(?![\w`\"])"
