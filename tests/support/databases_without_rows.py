"""Databases of PostgreSQL that keep a service's tables from test to test, but no rows.

PostgreSQL makes and drops the tables of a service in 100 ms, and deletes their rows in 10 ms.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import Connection

from tests.support.databases import Postgres, admin_of, any_empty, drop_everything
from tests.support.service_in_memory import client_of


@contextmanager
def database_without_rows(postgres: Postgres) -> Iterator[str]:
    """Yield the URL of a database without rows. It may have the tables that a service made in an earlier test.

    After a test all is dropped, unless everything in the database is as a service makes it.
    """
    if not postgres.made_by_service:
        postgres.made_by_service.update(_made_by_service(postgres))
    dbname = postgres.without_rows.pop() if postgres.without_rows else any_empty(postgres)
    yield postgres.url_of(dbname)
    with admin_of(postgres, dbname) as admin:
        if _definitions(admin) <= postgres.made_by_service:
            admin.execute(DELETE_ROWS)
            postgres.without_rows.append(dbname)
        else:
            drop_everything(admin)
            postgres.empty.append(dbname)


def _made_by_service(postgres: Postgres) -> set[str]:
    dbname = any_empty(postgres)
    with client_of(postgres.url_of(dbname)):
        pass
    with admin_of(postgres, dbname) as admin:
        made = _definitions(admin)
        admin.execute(DELETE_ROWS)
    postgres.without_rows.append(dbname)
    return made


def _definitions(admin: Connection) -> set[str]:
    """Return the definitions of all that tests and services have made in a database.

    Names of indexes are left out, because a service chooses some of them at random.
    """
    return {definition for (definition,) in admin.execute(DEFINITIONS)}


DEFINITIONS = r"""
    WITH own AS (
        SELECT oid, nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    )
    SELECT format('schema %s', nspname) FROM own
    UNION ALL
    SELECT format('%s %s: %s %s %s', relkind, relname, attname, format_type(atttypid, atttypmod), attnotnull)
    FROM own JOIN pg_class ON relnamespace = own.oid JOIN pg_attribute ON attrelid = pg_class.oid
    WHERE relkind NOT IN ('i', 'I') AND attnum > 0
    UNION ALL
    SELECT regexp_replace(indexdef, 'INDEX \S+ ON', 'INDEX ON') FROM own JOIN pg_indexes ON schemaname = nspname
    UNION ALL
    SELECT format('%s: %s', conrelid::regclass, pg_get_constraintdef(pg_constraint.oid))
    FROM own JOIN pg_constraint ON connamespace = own.oid
    UNION ALL
    SELECT format('%s: %s %s', adrelid::regclass, adnum, pg_get_expr(adbin, adrelid)) FROM pg_attrdef
    UNION ALL
    SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL
    SELECT format('function %s', proname) FROM own JOIN pg_proc ON pronamespace = own.oid
"""
# A projection without a position would make its tables again.
DELETE_ROWS = """
    DO $$
    DECLARE name text;
    BEGIN
        FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
            IF name = 'book_places' THEN
                UPDATE book_places SET position = 0, mark = '';
            ELSE
                EXECUTE format('DELETE FROM %I', name);
            END IF;
        END LOOP;
        FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' LOOP
            EXECUTE format('ALTER SEQUENCE %I RESTART', name);
        END LOOP;
    END $$
"""
