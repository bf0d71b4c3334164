"""What was named as tables of a run becomes a list of them, each under a name of its own."""

from __future__ import annotations

import pickle

import pytest

from whyscan.errors import UsageError
from whyscan.spark.stages.inventory.opening import sources_of
from whyscan.spark.tables import NamedTable, sources


@pytest.fixture
def lake(tmp_path):
    for table in ("eu/orders", "eu/users", "us/orders", "_staging/orders", ".trash/old"):
        folder = tmp_path / table
        folder.mkdir(parents=True)
        (folder / "part-0.parquet").touch()
    return tmp_path


def named(pinned):
    return [(source.name, source.uri) for source in pinned]


def test_a_name_and_a_place_are_one_table(lake):
    assert named(sources([f"orders={lake}/eu/orders"])) == [("orders", f"{lake}/eu/orders")]


def test_a_place_alone_is_called_by_its_last_part(lake):
    assert named(sources([f"{lake}/eu/orders/"])) == [("orders", f"{lake}/eu/orders/")]


def test_a_folder_with_an_equals_sign_is_a_place_where_it_is_there(lake, monkeypatch):
    (lake / "day=1").mkdir()
    monkeypatch.chdir(lake)
    assert named(sources(["day=1"])) == [("day=1", "day=1")]


def test_a_glob_is_one_table_for_each_folder_but_hidden_ones(lake):
    assert named(sources([f"{lake}/eu/*"])) == [
        ("orders", f"{lake}/eu/orders"),
        ("users", f"{lake}/eu/users"),
    ]


def test_folders_of_one_name_are_named_by_more_of_their_paths(lake):
    names = [source.name for source in sources([f"{lake}/*/*"])]
    assert names == ["eu.orders", "users", "us.orders"]


def test_a_glob_of_files_is_one_table(lake):
    glob = f"{lake}/eu/orders/*.parquet"
    assert named(sources([glob])) == [("orders", glob)]


def test_a_glob_without_end_is_refused(lake):
    with pytest.raises(UsageError, match="no end"):
        sources([f"{lake}/**"])


def test_two_tables_of_one_name_are_refused(lake):
    with pytest.raises(UsageError, match="two tables are called 'orders'"):
        sources([f"{lake}/eu/orders", f"{lake}/us/orders"])


@pytest.mark.parametrize("ready", [0, 1, 2])
def test_an_inventory_refuses_them_too_and_leaves_none_of_them_out(lake, ready):
    places = [f"{lake}/eu/orders", f"{lake}/us/*"]
    arguments = [source for place in places[:ready] for source in sources([place])] + places[ready:]
    with pytest.raises(UsageError, match="two tables are called 'orders'"):
        sources_of(arguments, None)


def test_a_table_that_was_named_twice_is_one(lake):
    assert len(sources([f"{lake}/eu/orders", ("orders", f"{lake}/eu/orders")])) == 1


def test_a_catalogs_table_keeps_its_whole_name():
    assert named(sources(["prod.db.events"])) == [("prod.db.events", "prod.db.events")]


def test_a_namespace_is_every_table_of_it(tmp_path, monkeypatch):
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    schemas = pytest.importorskip("pyiceberg.schema")
    uri = f"sqlite:///{tmp_path}/catalog.db"
    made = sql.SqlCatalog("prod", uri=uri, warehouse=str(tmp_path / "warehouse"))
    made.create_namespace("db")
    for name in ("users", "orders.2024"):
        made.create_table(("db", name), schemas.Schema())
    made.close()
    monkeypatch.setenv("PYICEBERG_CATALOG__PROD__URI", uri)
    monkeypatch.setenv("PYICEBERG_CATALOG__PROD__TYPE", "sql")
    assert named(sources(["prod.db.*"])) == [
        ("prod.db.orders.2024", "prod.db.`orders.2024`"),
        ("prod.db.users", "prod.db.users"),
    ]


def test_options_travel_and_are_never_shown():
    (source,) = sources(["s3://lake/users"], {"secret_access_key": "hush"})
    there = pickle.loads(pickle.dumps(source))
    assert there == source
    assert there.options["secret_access_key"] == "hush"
    assert "hush" not in repr(source)
    assert repr(source) == "NamedTable('users', 's3://lake/users')"


def test_a_source_has_no_options_unless_they_are_given():
    assert dict(NamedTable("a", "b").options) == {}
