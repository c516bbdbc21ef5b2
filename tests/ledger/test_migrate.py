import multiprocessing

import pytest
import sqlalchemy as sa
from alembic import autogenerate
from alembic.runtime import migration

from mangen import errors
from mangen.comic import tables
from mangen.ledger import migrate

#: everything of a schema that alembic does not compare
CATALOG = {
    "checks": """
        select conrelid::regclass::text as tab, conname, pg_get_constraintdef(oid) as def
        from pg_constraint where connamespace = 'public'::regnamespace
            and conrelid::regclass::text <> 'alembic_version' order by 1, 2""",
    "indexes": """
        select tablename, indexname, indexdef from pg_indexes
        where schemaname = 'public' and tablename <> 'alembic_version' order by 1, 2""",
    "storage": """
        select relname, reloptions from pg_class
        where relnamespace = 'public'::regnamespace and reloptions is not null order by 1""",
    "columns": """
        select table_name, column_name, data_type, is_nullable, column_default, is_identity
        from information_schema.columns
        where table_schema = 'public' and table_name <> 'alembic_version' order by 1, 2""",
}


def catalog(engine):
    with engine.connect() as conn:
        return {
            name: [tuple(row) for row in conn.exec_driver_sql(query)]
            for name, query in CATALOG.items()
        }


@pytest.fixture
def engine(empty_database):
    found = sa.create_engine(empty_database)
    yield found
    found.dispose()


def test_migrations_and_tables_give_one_schema(engine, empty_database, ledger_url):
    migrated = sa.create_engine(ledger_url)
    with migrated.connect() as conn:
        context = migration.MigrationContext.configure(
            conn, opts={"compare_server_default": True, "compare_type": True}
        )
        assert autogenerate.compare_metadata(context, tables.metadata) == []
    tables.metadata.create_all(engine)
    by_metadata, by_migration = catalog(engine), catalog(migrated)
    migrated.dispose()
    for part in CATALOG:
        assert by_migration[part] == by_metadata[part], part
    assert len(by_metadata["checks"]) > 40
    assert ("jobs", ["fillfactor=70", "autovacuum_vacuum_scale_factor=0.01"]) in by_metadata[
        "storage"
    ]


def test_upgrade_again_changes_nothing(empty_database):
    assert migrate.current(empty_database) is None
    migrate.upgrade(empty_database)
    migrate.upgrade(empty_database)
    assert migrate.current(empty_database) == migrate.head()


def _upgrade(url, begin, answers):
    begin.wait(30)
    try:
        migrate.upgrade(url)
        answers.put("ok")
    except BaseException as error:  # noqa: BLE001 - told to the parent
        answers.put(repr(error))


def test_processes_may_upgrade_at_once(empty_database):
    spawn = multiprocessing.get_context("spawn")
    begin, answers = spawn.Barrier(3), spawn.Queue()
    workers = [
        spawn.Process(target=_upgrade, args=(empty_database, begin, answers)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    assert [answers.get(timeout=60) for _ in workers] == ["ok"] * 3
    for worker in workers:
        worker.join(60)
    assert migrate.current(empty_database) == migrate.head()


def test_a_database_of_a_newer_version_is_left_alone(engine, empty_database):
    migrate.upgrade(empty_database)
    with engine.begin() as conn:
        conn.exec_driver_sql("update alembic_version set version_num = '9999'")
    with pytest.raises(errors.LedgerError, match="revision 9999, which this mangen does not know"):
        migrate.upgrade(empty_database)


def test_a_downgrade_leaves_an_empty_database(engine, empty_database):
    import alembic.command  # noqa: PLC0415 - nobody else downgrades

    migrate.upgrade(empty_database)
    config = migrate._config()
    with engine.begin() as conn:
        config.attributes["connection"] = conn
        alembic.command.downgrade(config, "base")
    assert sa.inspect(engine).get_table_names() == ["alembic_version"]


def test_missing_migrations_are_named(empty_database, monkeypatch, tmp_path):
    monkeypatch.setattr(migrate, "SCRIPTS", tmp_path)
    with pytest.raises(errors.LedgerError, match="clone the repository whole"):
        migrate.upgrade(empty_database)
