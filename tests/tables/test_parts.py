"""The parts of a snapshot hold each live file once, and say of it what the whole says."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from support.proof_cases import sampled
from tables.delta.conftest import Lake, bounds
from tables.iceberg import by_hand
from whyscan.errors import CorruptFile, StorageError, UsageError, WhyscanError
from whyscan.pruning.concatenation import concatenate
from whyscan.pruning.mask import as_array, materialise
from whyscan.tables import open_snapshot
from whyscan.tables.delta import checkpoint_outline, local_log_files
from whyscan.tables.delta.local_log_files import LocalCopies
from whyscan.tables.delta.log import LogFile
from whyscan.tables.delta.log_parts import _cut
from whyscan.tables.delta.snapshot import open_delta
from whyscan.tables.parts import parts
from whyscan.tables.storage.disk_cache import Cache
from whyscan.tables.storage.store import Store, joined_ranges
from whyscan.tree import zones
from whyscan.tree.arrow import arrow_type
from whyscan.tree.nodes import Column
from whyscan.tree.types import OtherType, StructType

ZOO = Path(__file__).parents[3] / "shared" / "zoo"
UTC = zones.zone("UTC")
SMALL = 50_000

_roots = {p.parent for mark in ("_delta_log", "metadata") for p in ZOO.rglob(mark)}
tables = sorted(str(root.relative_to(ZOO)) for root in _roots)
skipped = pytest.param("", marks=pytest.mark.skip(reason=f"there is no zoo at {ZOO}"))


def opened(folder):
    return open_snapshot([str(folder)], {}, {})


def columns_of(snapshot):
    fields = snapshot.schema().fields
    plain = [f for f in fields if not isinstance(f.type, OtherType | StructType)]
    return [Column((f.name,), f.type) for f in plain]


def divided(snapshot, files_each):
    """The parts as another process gets them."""
    pickled = [pickle.dumps(part) for part in parts(snapshot, files_each)]
    assert max(map(len, pickled)) < SMALL
    return [pickle.loads(part) for part in pickled]


def joined(arrays):
    return [value for array in arrays for value in array.to_pylist()]


def intervals(containers, count):
    """What containers say, written out so that two ways to say one thing are equal."""
    listed = {}
    for kind, intervals_of_kind in (
        ("partition", containers.partition),
        ("statistics", containers.statistics),
    ):
        for path, interval in intervals_of_kind.items():
            if pa.types.is_null(arrow_type(interval.type)):
                continue
            ends = [
                None if end is None else as_array(end, count, arrow_type(interval.type))
                for end in (interval.lower, interval.upper)
            ]
            masks = (interval.value, interval.null, interval.nan, interval.counted)
            listed[kind, path] = [
                *(pa.nulls(count) if end is None else end for end in ends),
                *(materialise(mask, count) for mask in masks),
            ]
    return {key: [array.to_pylist() for array in arrays] for key, arrays in listed.items()}


def deleted_counts(files):
    return files.deleted.to_pylist() if files.deleted is not None else [0] * files.count


def partitions(files):
    """The values that people are shown; a part has no columns of the specs of other parts."""
    rows = files.partition.to_pylist()
    return [{k: str(v) for k, v in row.items() if v is not None} for row in rows]


def assert_same(snapshot, some):
    """Path by path, number by number, interval by interval."""
    columns = columns_of(snapshot)
    whole, files = snapshot.files(columns, UTC), [p.files(columns, UTC) for p in some]
    assert joined(f.paths for f in files) == whole.paths.to_pylist()
    assert joined(f.bytes for f in files) == whole.bytes.to_pylist()
    assert joined(f.rows for f in files) == whole.rows.to_pylist()
    assert [n for f in files for n in deleted_counts(f)] == deleted_counts(whole)
    assert [shown for f in files for shown in partitions(f)] == partitions(whole)
    filled = [f for f in files if f.count] or files[:1]
    together = concatenate([f.containers for f in filled])
    assert repr(intervals(together, whole.count)) == repr(intervals(whole.containers, whole.count))
    for part in some:
        assert part.schema() == snapshot.schema()
        assert part.specs == snapshot.specs
        assert part.numbered_specs == snapshot.numbered_specs
        assert (part.uri, part.format, part.version) == (
            snapshot.uri,
            snapshot.format,
            snapshot.version,
        )


@pytest.mark.parametrize("name", tables or [skipped])
def test_the_parts_of_every_table_of_the_zoo_are_the_whole(name):
    try:
        snapshot = opened(ZOO / name)
        snapshot.files([], UTC)
    except WhyscanError:
        pytest.skip("broken on purpose")
    assert_same(snapshot, divided(snapshot, 2))


DELETION_VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
ADD = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", pa.map_(pa.string(), pa.string())),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("deletionVector", DELETION_VECTOR),
    ]
)
PROTOCOL = pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])
METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("configuration", pa.map_(pa.string(), pa.string())),
    ]
)
SIDECAR = pa.struct([("path", pa.string()), ("sizeInBytes", pa.int64())])
STATE = {"protocol": PROTOCOL, "metaData": METADATA}


class Churn:
    """A Delta table whose files come, go, come back and lose rows; `live` are its live actions."""

    def __init__(self, folder, seed):
        self.lake = Lake(folder).create({"id": "long", "day": "string"}, ("day",))
        self.random = random.Random(seed)
        self.live = {}
        self.gone = []

    def added(self, path, vector=None):
        number = int(path.rpartition("-")[2])
        stats = bounds("id", number * 10, number * 10 + 9)
        more = {} if vector is None else {"deletionVector": vector}
        return self.lake.add(path, stats, partition={"day": f"d{number % 3}"}, **more)

    def step(self):
        """One commit of a few changes."""
        actions = []
        touched = set()
        for _ in range(self.random.randrange(1, 5)):
            change = self.random.choice(["new", "new", "remove", "return", "vector", "again"])
            if change == "again" and self.live:
                self._add_again(self.random.choice(sorted(self.live)), actions, touched)
            elif change == "new":
                self._put(f"f-{len(self.live) + len(self.gone)}", None, actions, touched)
            elif change == "return" and self.gone:
                self._put(self.random.choice(self.gone), None, actions, touched)
            elif change in ("remove", "vector") and self.live:
                path = self.random.choice(sorted(self.live))
                if path in touched:
                    continue
                before = self.live.pop(path)["add"].get("deletionVector")
                more = {} if before is None else {"deletionVector": before}
                actions.append(self.lake.remove(path, **more))
                touched.add(path)
                if change == "remove":
                    self.gone.append(path)
                else:
                    self._put(path, self._vector(), actions, set())
        self.lake.commit(*actions)

    def _put(self, path, vector, actions, touched):
        if path in touched or path in self.live:
            return
        touched.add(path)
        self.live[path] = self.added(path, vector)
        actions.append(self.live[path])

    def _add_again(self, path, actions, touched):
        """As when statistics are computed anew: nothing is removed for it."""
        if path in touched:
            return
        touched.add(path)
        vector = self.live[path]["add"].get("deletionVector")
        self.live[path] = self.added(path, vector)
        self.live[path]["add"]["size"] += len(touched)
        actions.append(self.live[path])

    def _vector(self):
        name = f"v{self.random.randrange(10**6)}"
        return {
            "storageType": "u",
            "pathOrInlineDv": name,
            "offset": 1,
            "sizeInBytes": 1,
            "cardinality": self.random.randrange(1, 9),
        }

    def rows(self):
        text = (self.lake.log / f"{0:020}.json").read_text().splitlines()
        state = [json.loads(line) for line in text]
        state[1]["metaData"].pop("format")
        for one in state[1]["metaData"], *(a["add"] for a in self.live.values()):
            for key in ("configuration", "partitionValues"):
                if key in one:
                    one[key] = list(dict(one[key]).items())
        return state, list(self.live.values())

    def checkpoint(self, shape):
        """The state as one file, as several, or as a file that names sidecars."""
        state, adds = self.rows()
        version, schema = f"{self.lake.version:020}", pa.schema(STATE | {"add": ADD})
        if shape == "one file":
            self.lake.checkpoint(state + adds, schema)
        elif shape == "small row groups":
            whole = pa.Table.from_pylist(state + adds, schema)
            pq.write_table(whole, self.lake.log / f"{version}.checkpoint.parquet", row_group_size=3)
        elif shape == "multi-part":
            half = len(adds) // 2
            for at, some in enumerate((state, adds[:half], adds[half:]), start=1):
                kind = schema if at > 1 else pa.schema(STATE)
                name = f"{version}.checkpoint.{at:010}.{3:010}.parquet"
                self.lake.checkpoint(some, kind, name)
        else:
            self._with_sidecars(state, adds, version, shape)

    def _with_sidecars(self, state, adds, version, shape):
        named = []
        for at, some in enumerate((adds[::2], adds[1::2])):
            name = f"{at}.parquet"
            self.lake.checkpoint(some, pa.schema({"add": ADD}), f"_sidecars/{name}")
            size = (self.lake.log / "_sidecars" / name).stat().st_size
            named.append({"sidecar": {"path": name, "sizeInBytes": size}})
        name = f"{version}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11"
        if shape == "sidecars":
            schema = pa.schema(STATE | {"sidecar": SIDECAR})
            self.lake.checkpoint(state + named, schema, f"{name}.parquet")
        else:
            about = state[1]["metaData"]
            about["configuration"] = dict(about["configuration"])
            lines = "".join(json.dumps(action) + "\n" for action in state + named)
            (self.lake.log / f"{name}.json").write_text(lines)


SHAPES = ["one file", "small row groups", "multi-part", "sidecars", "sidecars of JSON"]


@pytest.mark.parametrize("shape", [*SHAPES, "none"])
@pytest.mark.parametrize("seed", range(4))
def test_what_commits_hide_is_hidden_in_every_part_of_a_delta_checkpoint(tmp_path, shape, seed):
    churn = Churn(tmp_path / "t", seed)
    for _ in range(12):
        churn.step()
    if shape != "none":
        churn.checkpoint(shape)
    for _ in range(0 if seed == 0 else 8):
        churn.step()
    snapshot = churn.lake.open()
    files = snapshot.files([])
    sizes = dict(zip(files.paths.to_pylist(), files.bytes.to_pylist(), strict=True))
    assert sizes == {path: action["add"]["size"] for path, action in churn.live.items()}
    assert files.count == len(sizes)
    for files_each in (1, 5):
        some = divided(snapshot, files_each)
        assert_same(snapshot, some)
    if shape == "one file":
        assert len(divided(snapshot, 3)) > 2
    if shape == "none":
        assert len(divided(snapshot, 1)) > 10


def test_commits_that_were_compacted_are_a_part_that_later_ones_hide_files_of(tmp_path):
    lake = Lake(tmp_path / "t").create({"id": "long"})
    for _ in range(2):
        lake.commit()
    lines = [lake.remove("f"), lake.add("f"), lake.add("g"), lake.remove("g"), lake.add("h")]
    name = f"{1:020}.{2:020}.compacted.json"
    (lake.log / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    lake.commit(lake.remove("h"), lake.add("i"))
    lake.commit(lake.add("f"))
    snapshot = lake.open()
    some = divided(snapshot, 1)
    assert [part.files([]).paths.to_pylist() for part in some] == [[], ["g"], ["i", "f"]]
    assert_same(snapshot, some)


def test_a_file_that_one_commit_adds_twice_is_in_one_part_once(tmp_path):
    lake = Lake(tmp_path / "t").create({"id": "long"})
    lake.commit(lake.add("f", size=1), lake.add("g", size=2), lake.add("f", size=3))
    lake.commit(lake.add("h", size=4), lake.add("g", size=5), lake.add("g", size=6))
    snapshot = lake.open()
    some = divided(snapshot, 1)
    assert [part.files([]).bytes.to_pylist() for part in some] == [[], [3], [6, 4]]
    assert_same(snapshot, some)


def test_a_corrupt_commit_is_named_where_it_is_read(tmp_path):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(20):
        churn.step()
    some = divided(churn.lake.open(), 1)
    (churn.lake.log / f"{9:020}.json").write_text('{"add": {"path": 1')
    with pytest.raises(CorruptFile, match=f"{9:020}"):
        some[0].files([])
    assert some[-1].files([]).count >= 0


def test_paths_stand_beside_their_own_values_however_many_threads_read_a_checkpoint(tmp_path):
    churn = Churn(tmp_path / "t", 5)
    for _ in range(150):
        churn.step()
    churn.checkpoint("small row groups")
    for _ in range(8):
        churn.step()
    days = {path: dict(a["add"]["partitionValues"])["day"] for path, a in churn.live.items()}

    for _ in range(20):
        whole = churn.lake.open()
        for snapshot in (whole, *divided(whole, 60)):
            files = snapshot.files(columns_of(snapshot), UTC)
            shown = zip(files.paths.to_pylist(), partitions(files), strict=True)
            assert {path: row["day"] for path, row in shown if row["day"] != days[path]} == {}


def test_a_part_of_a_delta_checkpoint_gives_the_files_of_its_rows_alone(tmp_path):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(20):
        churn.step()
    churn.checkpoint("small row groups")
    some = divided(churn.lake.open(), 4)
    assert len(some) > 2
    assert max(part.files([]).count for part in some) <= 4


@pytest.mark.parametrize(
    ("row_groups", "spans"),
    [
        ([100, 100, 100, 2], [(0, 100), (100, 200), (200, 302)]),
        ([40, 40, 40, 40], [(0, 80), (80, 160)]),
        ([10, 300, 20], [(0, 10), (10, 110), (110, 210), (210, 310), (310, 330)]),
        ([0, 250, 0], [(0, 83), (83, 166), (166, 250)]),
        ([], []),
    ],
)
def test_only_a_row_group_that_is_larger_than_a_part_is_decoded_for_two(row_groups, spans):
    assert list(_cut(row_groups, 100)) == spans


def test_a_corrupt_checkpoint_is_named_where_the_part_is_read(tmp_path):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(20):
        churn.step()
    churn.checkpoint("one file")
    some = divided(churn.lake.open(), 4)
    (log,) = churn.lake.log.glob("*.checkpoint.parquet")
    log.write_bytes(log.read_bytes()[:100])
    with pytest.raises(CorruptFile, match=r"checkpoint\.parquet"):
        some[-1].files([])


def in_a_store(folder):
    """The table in an object store of this process."""
    from obstore.store import MemoryStore

    from tables.storage.seaweed import put_folder

    backend = MemoryStore()
    put_folder(backend, folder, "t")
    return Store("memory://t", backend, prefix="t")


def test_a_part_of_a_checkpoint_in_a_store_fetches_its_own_rows_and_the_footer(tmp_path):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(60):
        churn.step()
    churn.checkpoint("small row groups")
    for _ in range(5):
        churn.step()
    snapshot = open_delta(in_a_store(churn.lake.folder))
    some = parts(snapshot, 3)
    whole, files = snapshot.files([]), [part.files([]) for part in some]
    assert len(some) > 5
    assert joined(f.paths for f in files) == whole.paths.to_pylist()
    (checkpoint,) = churn.lake.log.glob("*.checkpoint.parquet")
    footer = pq.read_metadata(checkpoint).serialized_size
    commits = sum(file.size for file in some[-1].log.later)
    most = max(part.traffic().bytes for part in some) - commits
    assert footer < most < footer + (checkpoint.stat().st_size - footer) / 2


@pytest.fixture
def outlined(monkeypatch):
    """Checkpoints of any size in a store are opened in outline, their ends byte by byte."""
    monkeypatch.setattr(local_log_files, "_END", 16)
    monkeypatch.setattr(checkpoint_outline, "joined_ranges", partial(joined_ranges, gap=0))

    def opened_in_outline(folder):
        return open_delta(replace(in_a_store(folder), uri=str(folder)), fetched_whole=0)

    return opened_in_outline


def fetched(snapshot):
    return snapshot.traffic().bytes


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_a_checkpoint_in_a_store_is_opened_and_divided_without_its_files(
    tmp_path, outlined, shape, seed
):
    churn = Churn(tmp_path / "t", seed)
    for _ in range(60):
        churn.step()
    churn.checkpoint(shape)
    for _ in range(seed * 3):
        churn.step()
    local = churn.lake.open()
    snapshot = outlined(churn.lake.folder)
    some = parts(snapshot, 7)
    log = {file.path: file.size for file in snapshot.log.files}
    left = sum(added_bytes(churn.lake.folder / path) for path in log if path.endswith("parquet"))
    assert fetched(snapshot) == sum(log.values()) - left
    assert joined(part.files([]).paths for part in some) == local.files([]).paths.to_pylist()

    assert_same(local, [snapshot])
    assert fetched(snapshot) == sum(log.values())


def added_bytes(file):
    """The bytes of a checkpoint's columns of added files, and of the format's name before them."""
    footer = pq.read_metadata(file)
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    adds = [c.total_compressed_size for c in chunks if c.path_in_schema.startswith("add.")]
    return len(b"PAR1") + sum(adds)


DELTA = [name for name in tables if (ZOO / name / "_delta_log").exists()]


@pytest.mark.parametrize("name", sampled(DELTA) or [skipped])
def test_every_delta_table_of_the_zoo_is_in_outline_what_it_is_on_disk(name, outlined):
    try:
        local = opened(ZOO / name)
        local.files([], UTC)
    except WhyscanError:
        pytest.skip("broken on purpose")
    snapshot = outlined(ZOO / name)
    some = parts(snapshot, 2)
    assert_same(local, some)
    assert_same(local, [snapshot])


@pytest.mark.parametrize("seed", range(60))
def test_a_damaged_checkpoint_in_a_store_tells_what_it_tells_on_disk(tmp_path, outlined, seed):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(20):
        churn.step()
    churn.checkpoint("small row groups")
    chance = random.Random(seed)
    (checkpoint,) = churn.lake.log.glob("*.checkpoint.parquet")
    data = bytearray(checkpoint.read_bytes())
    footer = len(data) - pq.read_metadata(checkpoint).serialized_size - 8
    for _ in range(chance.randrange(1, 4)):
        data[chance.randrange(0 if seed % 2 else footer, len(data))] ^= 1 << chance.randrange(8)
    checkpoint.write_bytes(data if seed % 5 else data[: chance.randrange(1, len(data))])

    def outcome_of(opener):
        try:
            files = opener().files([], UTC)
        except WhyscanError as error:
            return type(error), error.message
        return files.paths.to_pylist(), files.bytes.to_pylist()

    assert outcome_of(lambda: outlined(churn.lake.folder)) == outcome_of(churn.lake.open)


def test_a_checkpoint_that_is_written_again_while_it_is_read_is_no_table(tmp_path, outlined):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(20):
        churn.step()
    churn.checkpoint("one file")
    snapshot = outlined(churn.lake.folder)
    some = parts(snapshot, 10)
    (file,) = snapshot.log.files
    again = (churn.lake.folder / file.path).read_bytes()
    snapshot.store.backend.put(f"t/{file.path}", again)
    for reader in (snapshot, *some):
        with pytest.raises(StorageError, match="was written again"):
            reader.files([])


def test_threads_that_ask_for_files_at_once_get_all_of_them(tmp_path, outlined):
    churn = Churn(tmp_path / "t", 1)
    for _ in range(60):
        churn.step()
    churn.checkpoint("small row groups")
    snapshot = outlined(churn.lake.folder)
    columns = [[column] for column in columns_of(snapshot)]
    with ThreadPoolExecutor(4) as pool:
        files_by_question = list(pool.map(snapshot.files, [[], *columns, []]))
    assert {files.count for files in files_by_question} == {len(churn.live)}
    assert fetched(snapshot) == sum(file.size for file in snapshot.log.files)


def test_a_part_of_a_large_file_that_has_no_cache_is_not_kept_in_pieces(tmp_path, monkeypatch):
    file = LogFile("_delta_log/x.checkpoint.parquet", 100, 0)
    monkeypatch.setattr(local_log_files, "_PIECE", 10)

    def pieces(bound):
        store = replace(in_a_store(tmp_path), cache=Cache(tmp_path / "cache", bound))
        return [piece.length for piece in LocalCopies(store)._pieces(file, 5, 40)]

    assert pieces(400) == [10, 10, 10, 5]
    assert pieces(399) == [35]


@pytest.fixture
def deleted_from(tmp_path):
    """An Iceberg table of three manifests under two specs, a vector and equality deletes."""
    by_day = {"source-id": 1, "field-id": 1000, "name": "p", "transform": "identity"}
    table = by_hand.Lake(tmp_path / "ice", {"p": "int", "x": "int"}, (by_day,), version=3)
    for at in range(3):
        files = [
            table.file(f"{at}-{n}", {"x": (n, n + 5)}, {"x": 0}, 10, {"p": at}) for n in range(4)
        ]
        table.manifest(files, sequence=1)
    vector = table.file(
        "v.puffin",
        rows=3,
        content=1,
        file_format="PUFFIN",
        partition={"p": 1},
        referenced_data_file=f"{table.folder}/data/1-2",
    )
    equality = table.file("e", rows=1, content=2, partition={"p": 2}, equality_ids=[2])
    table.manifest([vector, equality], content=1, sequence=2)
    return table.commit().open()


def test_deletes_apply_in_every_part_of_an_iceberg_table(deleted_from):
    some = divided(deleted_from, 4)
    assert len(some) == 3
    assert_same(deleted_from, some)
    whole = deleted_from.files([])
    hidden = [part.files([]).maybe_deleted.to_pylist() for part in some]
    assert [n for some in hidden for n in some] == whole.maybe_deleted.to_pylist()
    assert None in hidden[2]
    assert sum(deleted_counts(some[1].files([]))) == 3


def test_manifests_of_a_part_are_its_own(deleted_from):
    some = divided(deleted_from, 8)
    assert [part.manifests().count for part in some] == [2, 1]
    assert joined(p.manifests().paths for p in some) == deleted_from.manifests().paths.to_pylist()
    assert joined(p.manifests().files for p in some) == deleted_from.manifests().files.to_pylist()
    last = some[1].files([], UTC, pa.array([0]))
    assert last.manifest.to_pylist() == [0, 0, 0, 0]


@pytest.fixture
def hive(tmp_path):
    for day in ("2024-01-01", "2024-01-02", "__HIVE_DEFAULT_PARTITION__"):
        for at in range(3):
            file = tmp_path / "hive" / f"day={day}" / f"{at}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            more = {"late": [at]} if at == 2 and day.endswith("2") else {}
            pq.write_table(
                pa.table({"x": [at, at + 1]} | {k: v * 2 for k, v in more.items()}), file
            )
    return opened(tmp_path / "hive")


def test_the_parts_of_a_hive_table_are_slices_of_its_listing(hive):
    some = divided(hive, 4)
    assert [part.files([], UTC).count for part in some] == [4, 4, 1]
    assert_same(hive, some)


def test_a_column_that_was_looked_for_is_known_to_every_part(hive):
    assert "late" in hive.schema(["late"]).names()
    assert all(part.schema() == hive.schema() for part in divided(hive, 2))


def test_a_part_carries_only_the_folders_of_its_files(tmp_path):
    for at in range(60):
        file = tmp_path / "t" / f"k={at:060}" / "f.parquet"
        file.parent.mkdir(parents=True)
        pq.write_table(pa.table({"x": [at]}), file)
    whole = opened(tmp_path / "t")
    (one, *_) = parts(whole, 2)
    assert len(pickle.dumps(one)) < len(pickle.dumps(whole)) / 4


def test_row_groups_and_rows_of_a_part_are_those_of_its_files(hive):
    columns = columns_of(hive)
    everything = hive.files(columns, UTC)
    at = pa.array(np.arange(everything.count))
    whole = hive.row_groups(everything, at, columns, None)
    lowers, paths = [], []
    for part in divided(hive, 4):
        files = part.files(columns, UTC)
        mine = pa.array(np.arange(files.count))
        groups = part.row_groups(files, mine, columns, None)
        lowers += groups.containers.statistics[("x",)].lower.to_pylist()
        paths += [file.path for file in part.reading(files, mine, UTC).files]
    assert lowers == whole.containers.statistics[("x",)].lower.to_pylist()
    assert paths == everything.paths.to_pylist()


def test_a_part_opens_in_another_process(tmp_path, hive):
    place = tmp_path / "part.pickle"
    place.write_bytes(pickle.dumps(parts(hive, 4)[1]))
    code = (
        "import pickle, sys; part = pickle.load(open(sys.argv[1], 'rb'));"
        "print(part.files([], None).count)"
    )
    run = [sys.executable, "-c", code, str(place)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "4\n"


def test_a_store_travels_without_what_was_read_of_it(tmp_path):
    from whyscan.tables.storage.connections import connect

    options = {"access_key_id": "a", "secret_access_key": "hush", "region": "x", "cache": "off"}
    connected = connect("s3://bucket", options)
    store = Store("s3://bucket/t", connected.backend, prefix="t", identity=connected.identity)
    store.meter.count("x" * 10_000, 1)
    pickled = pickle.dumps(store.unread_copy())
    there = pickle.loads(pickled)
    assert len(pickled) < 2000
    assert there.backend == connected.backend
    assert "hush" not in repr(there.uri)


def test_a_part_holds_at_least_a_file(hive):
    with pytest.raises(UsageError, match="cannot hold 0 files"):
        parts(hive, 0)


def test_lists_that_count_nothing_are_divided_by_their_bytes(deleted_from):
    listed = deleted_from._list
    none = pa.nulls(len(listed), pa.int32())
    for name in ("added_files_count", "existing_files_count"):
        listed = listed.set_column(listed.column_names.index(name), name, none)
    deleted_from.__dict__["_list"] = listed
    deleted_from.__dict__.pop("_data", None)
    some = divided(deleted_from, 1)
    assert len(some) == 3
    assert joined(p.files([]).paths for p in some) == deleted_from.files([]).paths.to_pylist()
    assert pc.sum(deleted_from.files([]).rows).as_py() == 120
